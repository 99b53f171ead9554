/** Finds the built files of the page in dist/web, in a checkout and in a package. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

const TYPES: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "main.js": "text/javascript; charset=utf-8",
  "style.css": "text/css; charset=utf-8",
};

export type Page = {
  readonly asset: (
    name: string,
  ) => { readonly body: Uint8Array<ArrayBuffer>; readonly type: string } | undefined;
};

/** Undefined if the page was not built. */
export function findPage(from = import.meta.dirname): Page | undefined {
  const folder = [path.join(from, "../../../dist/web"), path.join(from, "web")].find((at) =>
    existsSync(path.join(at, "main.js")),
  );
  if (folder === undefined) return undefined;
  const asset: Page["asset"] = (name) => {
    const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
    return type === undefined
      ? undefined
      : { body: new Uint8Array(readFileSync(path.join(folder, name))), type };
  };
  return { asset };
}
