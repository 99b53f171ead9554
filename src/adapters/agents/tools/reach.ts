/** Resolves the paths that an agent names: inside its workspace or the scratchpad, with links followed first. */
import { realpathSync } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { basename, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Scratchpad } from "../../../ports/agent.ts";

/** A folder's path as given, and its real path, resolved once before anything could take the folder's place. */
export type Root = { readonly given: string; readonly real: string };

export function rootOf(folder: string): Root {
  const given = resolve(folder);
  try {
    return { given, real: realpathSync(folder) };
  } catch {
    return { given, real: given }; // The folder is missing: nothing is inside it, and each tool says so.
  }
}

export type ToolReach = {
  readonly root: Root;
  readonly pad?: Pad;
  /** Whether the role only reads, so that only the output file may be changed. */
  readonly readsOnly?: boolean;
};

/** The scratchpad. `output`: the real path of the one file there that may be changed. */
type Pad = { readonly root: Root; readonly output?: string };

export function padOf(scratchpad: Scratchpad | undefined): { readonly pad?: Pad } {
  if (scratchpad === undefined) return {};
  const root = rootOf(scratchpad.folder);
  const { file } = scratchpad;
  return { pad: file === undefined ? { root } : { root, output: join(root.real, basename(file)) } };
}

/** `path` is real, except for parts at its end that do not exist yet; `name` is the same path, relative to the root. */
export type Inside = { readonly path: string; readonly name: string };

export type Reached = { readonly root: Root; readonly file: Inside };

type OutOfReach = { readonly refused: string };

export const isRefused = (result: object): result is OutOfReach => "refused" in result;

/** Resolves a path for reading. A link must not lead out of the folder that it is in. */
export async function readable({ root, pad }: ToolReach, asked: string): Promise<Reached | OutOfReach> {
  const within = pad && isInPad(pad, asked) ? pad.root : root;
  const file = await inside(within, asked);
  return isRefused(file) ? file : { root: within, file };
}

export async function writable(reach: ToolReach, asked: string): Promise<Reached | OutOfReach> {
  const found = await readable(reach, asked);
  if (isRefused(found)) return found;
  const { output } = reach.pad ?? {};
  if (output !== undefined && found.file.path === output) return found;
  const refuse = (why: string) => ({ refused: `${quoted(asked)} ${why}` });
  if (found.root === reach.pad?.root) return refuse("is not yours: read it, and change nothing");
  if (reach.readsOnly) return refuse("is not yours: this role changes only its output file");
  if (isOfGit(found.file.name))
    return refuse("belongs to git: use git commands, settings and hooks are not yours");
  return found;
}

/** Decides by the path's name only; links are checked afterwards. */
const isInPad = ({ root }: Pad, asked: string): boolean =>
  isAbsolute(asked) && [root.given, root.real].some((folder) => isWithin(folder, resolve(asked)));

/**
 * Resolves a path inside a folder. Paths outside are not looked up, and a link that leads outside gets the same
 * refusal whether its target exists or not. The path may change between this check and its use: see
 * `open-inside.ts`.
 */
export async function inside(root: Root, asked: string): Promise<Inside | OutOfReach> {
  if (asked.includes("\0")) return { refused: "a path cannot contain a zero byte" };
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

function nameWithin({ real, given }: Root, asked: string): string | undefined {
  const path = resolve(real, asked);
  if (isWithin(real, path)) return relative(real, path);
  return isAbsolute(asked) && isWithin(given, path) ? relative(given, path) : undefined;
}

/** Whether the path is the folder or inside it. Both paths must be without links and without "..". */
export const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Git runs hooks and settings that are written into its folders. */
export const isOfGit = (name: string): boolean =>
  name.split(sep).some((part) => /^(?:\.git|git~1)[ .]*$/i.test(part));

export const quoted = (text: string): string => JSON.stringify(text.slice(0, MAX_SHOWN_CHARS));

const MAX_SHOWN_CHARS = 300;
