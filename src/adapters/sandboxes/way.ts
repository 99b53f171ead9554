/** Where does a path lead, and through which links? Those in a hidden folder are gone, and have to be made again. */
import { lstatSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join, sep } from "node:path";

export type Way = {
  /** Without links. */
  readonly path: string;
  readonly links: readonly Link[];
};

/** `at` is a real path but for its last part; `to` is what the link says. */
export type Link = { readonly at: string; readonly to: string };

/** Undefined if nothing is there. */
export function wayTo(name: string): Way | undefined {
  const links: Link[] = [];
  let path = "/";
  let parts = isAbsolute(name) ? partsOf(name) : [];
  while (parts.length > 0) {
    const [part = "", ...rest] = parts;
    parts = rest;
    if (part === "..") path = dirname(path);
    else {
      const at = join(path, part);
      const to = linkAt(at);
      if (to === undefined || links.length > MAX_LINKS) return undefined;
      if (to === "") path = at;
      else {
        links.push({ at, to });
        parts = [...partsOf(to), ...parts];
        if (isAbsolute(to)) path = "/";
      }
    }
  }
  return isAbsolute(name) ? { path, links } : undefined;
}

/** More is a ring, as Linux has it. */
const MAX_LINKS = 40;

const partsOf = (path: string) => path.split(sep).filter((part) => part !== "" && part !== ".");

/** What the link says; "" if it is none; undefined if nothing is there, or it may not be seen. */
function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : "";
  } catch {
    return undefined;
  }
}
