/** Resolves a path and lists the links on the way: those in a hidden folder must be made again. */
import { lstatSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join, sep } from "node:path";

export type Way = {
  /** The path without links. */
  readonly path: string;
  readonly links: readonly Link[];
};

/** `at` is a real path except for its last part; `to` is the target as written. */
type Link = { readonly at: string; readonly to: string };

/** Undefined if the path does not exist. */
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

/** Linux's limit: more is a loop. */
const MAX_LINKS = 40;

const partsOf = (path: string) => path.split(sep).filter((part) => part !== "" && part !== ".");

/** The target as written; "" if it is no link; undefined if it does not exist or may not be read. */
function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : "";
  } catch {
    return undefined;
  }
}
