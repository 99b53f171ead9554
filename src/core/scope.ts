/** Which files may a task touch, and do two tasks meet? A path that ends in "/" is a folder. */

export type Scope = readonly string[];

/** The whole repository. */
export const EVERYTHING = "./";

/** `outer` is `inner`, or a folder above it. A folder written without its slash still covers what is in it. */
export function covers(outer: string, inner: string): boolean {
  if (outer === EVERYTHING) return true;
  const folder = outer.endsWith("/") ? outer : `${outer}/`;
  return inner === outer || inner.startsWith(folder) || `${inner}/` === folder;
}

export const overlaps = (a: Scope, b: Scope) => a.some((x) => b.some((y) => covers(x, y) || covers(y, x)));

export const contains = (outer: Scope, path: string) => outer.some((x) => covers(x, path));

export const isWithin = (inner: Scope, outer: Scope) => inner.every((path) => contains(outer, path));

/** A folder counts as four files: nobody knows how many it will be. */
export const FOLDER_WEIGHT = 4;
export const weight = (scope: Scope) =>
  scope.reduce((sum, path) => sum + (path.endsWith("/") ? FOLDER_WEIGHT : 1), 0);

/** How many folders of the first two levels are touched. */
export const modules = (scope: Scope) =>
  new Set(scope.map((path) => path.split("/").slice(0, -1).slice(0, 2).join("/"))).size;

const MAX_PATH_CHARS = 1024;
/** Control, zero-width and direction-changing characters: a path that looks like another path. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: naming them is the purpose.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/u;

/**
 * A path as a model wrote it, made plain; or what is wrong with it. Only paths inside the repository pass:
 * relative, no "..", nothing in ".git", nothing that git could read as an option or a pattern.
 */
export function readPath(written: string): { readonly path: string } | { readonly problem: string } {
  const shown = JSON.stringify(written.length > 80 ? `${written.slice(0, 80)}…` : written);
  const refuse = (why: string) => ({ problem: `path ${shown} ${why}` });
  if (written.length > MAX_PATH_CHARS) return refuse(`is longer than ${MAX_PATH_CHARS} characters`);
  if (HIDDEN.test(written)) return refuse("holds invisible or control characters");
  const text = written.trim().replace(/\/\*\*?$/, "/");
  if (text === "") return refuse("is empty");
  if (text === "." || text === EVERYTHING) return { path: EVERYTHING };
  if (/^[/\\~]|^[a-zA-Z]:/.test(text)) return refuse("is not relative to the repository");
  if (text.includes("\\")) return refuse('uses "\\"; write "/" between folders');
  if (/[*?]/.test(text)) return refuse('holds a pattern; name files, or a folder ending in "/"');
  const folder = text.endsWith("/");
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.length === 0) return refuse("names nothing");
  if (parts.includes("..")) return refuse("leaves the repository");
  if (parts.some((part) => part.toLowerCase() === ".git")) return refuse("reaches into .git");
  if (/^[-:]/.test(parts[0]!)) return refuse(`starts with "${parts[0]![0]}"`);
  return { path: parts.join("/") + (folder ? "/" : "") };
}
