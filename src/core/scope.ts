/** Compares scopes: the files that tasks may touch, and whether they overlap. A path that ends in "/" is a folder. */
import { quoted } from "../text/lines.ts";

export type Scope = readonly string[];

/** The whole repository. */
export const EVERYTHING = "./";

/** True if `outer` is `inner`, or a folder above it. A folder written without its slash still covers what is in it. */
function covers(outer: string, inner: string): boolean {
  if (outer === EVERYTHING) return true;
  const folder = outer.endsWith("/") ? outer : `${outer}/`;
  return inner === outer || inner.startsWith(folder) || `${inner}/` === folder;
}

export const overlaps = (a: Scope, b: Scope) => a.some((x) => b.some((y) => covers(x, y) || covers(y, x)));

export const contains = (outer: Scope, path: string) => outer.some((x) => covers(x, path));

/** `contains` for many paths: each call costs the depth of its path, however large the scope is. */
export function containing(outer: Scope): (path: string) => boolean {
  if (outer.includes(EVERYTHING)) return () => true;
  const named = new Set(outer.map(withoutSlash));
  return (path) => {
    for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1)) {
      if (named.has(path.slice(0, slash))) return true;
    }
    return named.has(path);
  };
}

const withoutSlash = (path: string) => (path.endsWith("/") ? path.slice(0, -1) : path);

/** A folder counts as four files, because it is not known how many it will hold. */
const FOLDER_WEIGHT = 4;
export const weight = (scope: Scope) =>
  scope.reduce((sum, path) => sum + (path.endsWith("/") ? FOLDER_WEIGHT : 1), 0);

/** How many folders of the first two levels are touched. */
export const modules = (scope: Scope) =>
  new Set(scope.map((path) => path.split("/").slice(0, -1).slice(0, 2).join("/"))).size;

const MAX_PATH_CHARS = 1024;
/** Deeper than people nest folders; it bounds the cost of each call of `containing`. */
const MAX_PATH_PARTS = 64;
/**
 * Control, zero-width and direction-changing characters, half characters: with them a path can look like another path.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
/**
 * Names that some file systems take for ".git": other case, trailing dots or spaces, its short name, a stream of it.
 */
const GIT_FOLDER = /^(?:\.git|git~\d+)[. ]*(?::.*)?$/i;

/**
 * Normalises a path that a model wrote, or says what is wrong with it. Only paths inside the repository pass: relative,
 * no "..", nothing in ".git", nothing that git could read as an option or a pattern.
 */
export function readPath(written: string): { readonly path: string } | { readonly problem: string } {
  const refuse = (why: string) => ({ problem: `path ${quoted(written)} ${why}` });
  if (written.length > MAX_PATH_CHARS) return refuse(`is longer than ${MAX_PATH_CHARS} characters`);
  if (HIDDEN.test(written)) return refuse("contains invisible or control characters");
  const text = written.trim().replace(/\/\*\*?$/, "/");
  if (text === "") return refuse("is empty");
  if (text === "." || text === EVERYTHING) return { path: EVERYTHING };
  if (/^[/\\]/.test(text)) return refuse("is not relative to the repository");
  if (text.includes("\\")) return refuse('uses "\\"; write "/" between folders');
  if (/[*?]/.test(text)) return refuse('is a pattern; name files, or a folder ending in "/"');
  const folder = text.endsWith("/");
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.length === 0) return refuse("names nothing");
  if (parts.includes("..")) return refuse("leaves the repository");
  if (parts.length > MAX_PATH_PARTS) return refuse(`is deeper than ${MAX_PATH_PARTS} folders`);
  if (parts.some((part) => GIT_FOLDER.test(part))) return refuse("reaches into .git");
  if (parts.some((part) => part !== part.trim()))
    return refuse("has a name that starts or ends with a space");
  if (/^~|^[a-zA-Z]:/.test(parts[0]!)) return refuse("is not relative to the repository");
  if (/^[-:]/.test(parts[0]!)) return refuse(`starts with "${parts[0]![0]}"`);
  return { path: parts.join("/") + (folder ? "/" : "") };
}
