/** Is this a file of the repository? By its extension or its folder; what leads out of the repository is none. */
import type { Lexicon } from "./lexicon.ts";

/** From the top of the repository, without "./", line numbers and backslashes; undefined: it is no file name. */
export function fileOf(name: string, { has }: Lexicon): string | undefined {
  if (!/[./\\]/.test(name)) return isBare(name, has) ? name : undefined;
  if (name.length < 2 || name.length > MAX_PATH_CHARS || !/^[\w@.+~$()[\]\\/:#-]+$/u.test(name))
    return undefined;
  const path = withoutPlace(name.replaceAll("\\", "/")).replace(/^(?:\.\/)+/, "");
  if (path === "" || path.startsWith("/") || path.startsWith("~") || /:|^@|^#/.test(path)) return undefined;
  const parts = path.split("/");
  if (parts.includes("..") || parts.slice(0, -1).includes("")) return undefined;
  const last = parts.at(-1)!;
  if (parts.length === 1) return isFileName(last, has) ? path : undefined;
  if (last === "" || isFileName(last, has)) return path;
  const isShouted = path === path.toUpperCase();
  return has.folders.has(parts[0]!.toLowerCase()) || (parts.length > 2 && !isShouted) ? path : undefined;
}

const MAX_PATH_CHARS = 300;

/** "a.ts:10:5", "a.ts#L10" and "a.ts(10,5)" are a.ts. */
const withoutPlace = (path: string) => path.replace(/(?::\d{1,9}){1,2}$|#L\d[\dL-]{0,20}$|\(\d{1,9}\)$/, "");

/** "README", but not "the readme": as a word it is what the file is about. */
const isBare = (name: string, has: Lexicon["has"]) =>
  /^[A-Z]/.test(name) && has.bareFiles.has(name.toLowerCase());

function isFileName(name: string, has: Lexicon["has"]): boolean {
  const lower = name.toLowerCase();
  if (has.notFiles.has(lower)) return false;
  if (isBare(name, has)) return true;
  const dot = name.lastIndexOf(".");
  if (dot === 0) return /^\.[a-z][\w-]+$/.test(name) && !/^\.(?:net)$/.test(lower);
  return dot > 0 && has.extensions.has(lower.slice(dot + 1)) && /\w/.test(name.slice(0, dot));
}
