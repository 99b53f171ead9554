/** Which file does an agent mean, and may it change it? One of the workspace, or of the scratchpad beside it. */
import { basename, isAbsolute, join, resolve } from "node:path";
import type { Scratchpad } from "../../../ports/agent.ts";
import {
  type Inside,
  inside,
  isOfGit,
  isRefused,
  isWithin,
  quoted,
  type Refused,
  type Root,
  rootOf,
} from "./inside.ts";

export type Reach = {
  readonly root: Root;
  readonly pad?: Pad;
  /** It changes nothing but its output file: its role only reads. */
  readonly readsOnly?: boolean;
};

/** `output`: the real path of the one file there that may be changed. */
export type Pad = { readonly root: Root; readonly output?: string };

/** `root`: what it is inside of. */
export type Reached = { readonly root: Root; readonly file: Inside };

export function padOf(scratchpad: Scratchpad | undefined): { readonly pad?: Pad } {
  if (scratchpad === undefined) return {};
  const root = rootOf(scratchpad.folder);
  const { file } = scratchpad;
  return { pad: file === undefined ? { root } : { root, output: join(root.real, basename(file)) } };
}

/** To look at. Links are followed first, and must not lead out of where they are. */
export async function readable({ root, pad }: Reach, asked: string): Promise<Reached | Refused> {
  const within = pad && isInPad(pad, asked) ? pad.root : root;
  const file = await inside(within, asked);
  return isRefused(file) ? file : { root: within, file };
}

export async function writable(reach: Reach, asked: string): Promise<Reached | Refused> {
  const found = await readable(reach, asked);
  if (isRefused(found)) return found;
  const { output } = reach.pad ?? {};
  if (output !== undefined && found.file.path === output) return found;
  if (found.root === reach.pad?.root)
    return { refused: `${quoted(asked)} is not yours: read it, and change nothing` };
  if (reach.readsOnly)
    return { refused: `${quoted(asked)} is not yours: this role changes its output file alone` };
  if (!isOfGit(found.file.name)) return found;
  return { refused: `${quoted(asked)} belongs to git: use git commands, settings and hooks are not yours` };
}

/** By its name alone: what it leads to is seen when it is looked at. */
const isInPad = ({ root }: Pad, asked: string): boolean =>
  isAbsolute(asked) && [root.given, root.real].some((folder) => isWithin(folder, resolve(asked)));
