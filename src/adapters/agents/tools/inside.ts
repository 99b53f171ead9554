/** Which file does a model mean, and is it inside the workspace? Links are followed first, and nothing is opened. */
import { realpathSync } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";

/** Taken once, before anything could be put in the folder's place. */
export type Root = { readonly given: string; readonly real: string };

export const rootOf = (folder: string): Root => ({ given: resolve(folder), real: realOr(folder) });

/** Not there: then nothing is inside of it, and each tool says so. */
function realOr(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return resolve(folder);
  }
}

/** `path` is real, but for the parts at its end that are not there yet; `name` is the same from the root on. */
export type Inside = { readonly path: string; readonly name: string };

export type Refused = { readonly refused: string };

export const isRefused = (result: object): result is Refused => "refused" in result;

/**
 * What is outside is not looked at, and a link that leads there is refused in the same words whether something is
 * there or not. Between this and the use of the path it may change: see `openInside`.
 */
export async function inside(root: Root, asked: string): Promise<Inside | Refused> {
  if (asked.includes("\0")) return { refused: "a path cannot hold a zero byte" };
  const name = nameWithin(root, asked);
  if (name === undefined) return { refused: `${quoted(asked)} is outside of the workspace` };
  if ((await realpath(root.real).catch(() => "")) !== root.real) {
    return { refused: "the workspace is not where it was: its folder was removed or replaced" };
  }
  let at = root.real;
  const parts = name.split(sep).filter((part) => part !== "");
  for (const [index, part] of parts.entries()) {
    const next = join(at, part);
    const found = await lstat(next).catch(() => undefined);
    if (found === undefined) return named(root, join(next, ...parts.slice(index + 1)));
    if (found.isSymbolicLink()) {
      const target = await realpath(next).catch(() => undefined);
      if (target === undefined || !isWithin(root.real, target)) {
        return { refused: `${quoted(asked)} is a link out of the workspace, or to nothing` };
      }
      at = target;
    } else at = next;
  }
  return named(root, at);
}

const named = (root: Root, path: string): Inside => ({ path, name: relative(root.real, path) || "." });

function nameWithin(root: Root, asked: string): string | undefined {
  if (!isAbsolute(asked)) return within(root.real, resolve(root.real, asked));
  return within(root.real, resolve(asked)) ?? within(root.given, resolve(asked));
}

const within = (folder: string, path: string) =>
  isWithin(folder, path) ? relative(folder, path) : undefined;

/** The folder itself counts. Both without links and without "..". */
export const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Git folders: what git does there is git's, and a hook or a setting written there would be run by it. */
export const isOfGit = (name: string): boolean =>
  name.split(sep).some((part) => /^(?:\.git|git~1)[ .]*$/i.test(part));

/** As the model wrote it, on one line. */
export const quoted = (text: string): string => JSON.stringify(text.slice(0, MAX_SHOWN_CHARS));

const MAX_SHOWN_CHARS = 300;
