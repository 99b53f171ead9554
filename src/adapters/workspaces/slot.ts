/** Makes and cleans a slot, the place of one workspace, which has two git folders: Skein's and the worker's. */
import { copyFile, lstat, mkdir, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Failed } from "../../core/result.ts";
import { readShort } from "../files/read-bounded.ts";
import { writeSynced } from "../files/write-whole.ts";
import { type GitAnswer, git } from "../git/git.ts";
import { bootId } from "../programs/process-table.ts";
import { isFolder, isReachedInside, removeAll } from "./folders.ts";
import type { Source } from "./source.ts";
import { guarded, removeSpecials } from "./special-files.ts";

export type Slot = {
  readonly name: string;
  readonly folder: string;
  /** The work tree, with the worker's own git folder in it. */
  readonly tree: string;
  /**
   * The git folder that Skein itself uses, with the index of the start commit. Skein's calls never read the
   * worker's settings, hooks, filters, index or locks, so a worker cannot break them.
   */
  readonly git: string;
  readonly temporary: string;
  readonly holder: string;
  /** Holds the commit that is checked out; HEAD moves when work is kept. */
  readonly start: string;
  /** Lists what copies and set-up brought into a slot that keeps its ignored files, when it was made. */
  readonly brought: string;
  /** Exists once the slot is complete; names the repository and the boot of the machine. */
  readonly made: string;
};

export function slotAt(folder: string, name: string): Slot {
  const at = join(folder, name);
  return {
    name,
    folder: at,
    tree: join(at, "tree"),
    git: join(at, "git"),
    temporary: join(at, "tmp"),
    holder: join(at, "holder.json"),
    start: join(at, "start.txt"),
    brought: join(at, "brought.txt"),
    made: join(at, "slot.json"),
  };
}

export type SlotCall = {
  readonly args: readonly string[];
  readonly input?: string;
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** As in `GitCall`. */
  readonly maxBytes?: number;
  readonly cut?: boolean;
  /** Called for pipes and devices that were removed because git waited for them. */
  readonly onSpecial?: (path: string) => void;
};

/** Writes new objects straight into the user's repository. */
export const gitInSlot = (slot: Slot, source: Source, call: SlotCall, signal: AbortSignal) =>
  gitBeside(
    slot,
    source,
    { ...call, environment: { GIT_OBJECT_DIRECTORY: source.objects, ...call.environment } },
    signal,
  );

/** Like `gitInSlot`, but sees the worker's commits, and writes new objects into the slot. */
export function gitBeside(
  slot: Slot,
  source: Source,
  call: SlotCall,
  signal: AbortSignal,
): Promise<GitAnswer> {
  const { onSpecial, ...rest } = call;
  const places = { GIT_DIR: slot.git, GIT_WORK_TREE: slot.tree };
  const environment = { ...source.environment, ...places, ...call.environment };
  return guarded(
    {
      tree: slot.tree,
      run: (stop) => git({ folder: slot.tree, ...rest, environment }, stop),
      again: () => unlock(slot),
      ...(onSpecial && { onSpecial }),
    },
    signal,
  );
}

type Wish = {
  readonly commit: string;
  /** Whether ignored files of the last holder stay. */
  readonly keepsIgnored: boolean;
  /** Paths that Skein itself puts there; git must not see them. */
  readonly hidden: readonly string[];
  readonly replaced: readonly string[];
  /** Ignored folders that stay although other ignored files do not. */
  readonly kept: readonly string[];
  /**
   * Called for a slot that is made anew, before its commit is checked out. The checkout corrects whatever it
   * leaves there.
   */
  readonly fill?: () => Promise<void>;
  /** Patterns of what is checked out; the rest stays in the index, marked as left out. For slots that are made anew. */
  readonly cut?: string;
};

/**
 * Cleans a slot, by two git processes if it was used before. A slot that cannot be cleaned, or was never completed
 * (see `markMade`), is made anew.
 */
export async function clean(
  slot: Slot,
  source: Source,
  wish: Wish,
  signal: AbortSignal,
): Promise<{ readonly isFresh: boolean } | Failed> {
  if (await isMade(slot, source)) {
    const failed = await checkOut(slot, source, wish, signal);
    if (failed === undefined) return { isFresh: false };
    if (signal.aborted) return failed;
  }
  await removeAll(slot.folder);
  await mkdir(slot.tree, { recursive: true, mode: 0o700 });
  const failed = await checkOut(slot, source, { ...wish, isNew: true }, signal);
  if (failed) {
    await removeAll(slot.folder); // A partial checkout may have filled the disk.
    return failed;
  }
  return { isFresh: true };
}

/** Marks the slot as complete, so that one whose making was interrupted is not reused. */
export const markMade = (slot: Slot, source: Source): Promise<void> => writeFile(slot.made, makingOf(source));

const isMade = async (slot: Slot, source: Source): Promise<boolean> =>
  (await readShort(slot.made)) === makingOf(source) && (await isFolder(slot.tree));

/** The mark's text. Nothing in a slot is synced, so after a reboot files may be missing. */
const makingOf = (source: Source): string => `${source.objects}\n${bootId()}`;

async function checkOut(
  slot: Slot,
  source: Source,
  wish: Wish & { readonly isNew?: true },
  signal: AbortSignal,
): Promise<Failed | undefined> {
  await wipe(slot);
  await mkdir(slot.temporary, { mode: 0o700 });
  const settings = {
    commit: wish.commit,
    hidden: wish.hidden,
    alternates: [workerObjects(slot), source.objects],
    cut: wish.cut,
  };
  // Synced, because work in the slot can be kept once the holder's record is on the disk, even after a power cut.
  await writeGitFolder(slot.git, source, { ...settings, write: writeSynced });
  await rm(slot.start, { recursive: true, force: true });
  await writeSynced(slot.start, wish.commit);
  for (const path of wish.replaced) {
    if (await isReachedInside(slot.tree, path)) await removeAll(join(slot.tree, path));
  }
  if (wish.isNew && wish.cut === undefined) await wish.fill?.();
  const run = (...args: string[]) => gitInSlot(slot, source, { args }, signal);
  const read = await run("read-tree", "--reset", "-u", wish.commit);
  if (!read.ok) return { failure: read.failure };
  const kept = wish.kept.map((path) => `--exclude=/${escaped(path)}`);
  const cleaned = await run("clean", "-q", wish.keepsIgnored ? "-ffd" : "-ffdx", ...kept);
  if (!cleaned.ok) return { failure: cleaned.failure };
  await removeSpecials(slot.tree, wish.keepsIgnored); // Git skips pipes and sockets that the last holder left.
  await writeGitFolder(join(slot.tree, ".git"), source, { ...settings, alternates: [source.objects] });
  await copyIndex(slot, join(slot.tree, ".git", "index"));
  return undefined;
}

/**
 * Copies the index with the time of the original, less a microsecond. Git compares whole seconds, and trusts its
 * record of a file that is older than the index: a copy that looks newer would hide a change of the same size
 * within a second.
 */
export async function copyIndex(slot: Slot, to: string): Promise<void> {
  const from = join(slot.git, "index");
  const found = await lstat(from, { bigint: true });
  if (!found.isFile()) throw new Error(`${from} is no file any more`); // Reading a pipe would never end.
  const { mtimeNs } = found;
  await copyFile(from, to);
  const seconds = Number(mtimeNs / 1_000n - 1n) / 1e6;
  await utimes(to, seconds, seconds);
}

/** Removes everything of a holder except its files, which the next checkout replaces. */
export async function wipe(slot: Slot): Promise<void> {
  // A link in the place of a folder leads outside.
  for (const folder of [slot.tree, slot.git]) if (!(await isFolder(folder))) await removeAll(folder);
  const ours = await readdir(slot.git, { withFileTypes: true }).catch(() => []);
  await Promise.all([
    removeAll(join(slot.tree, ".git")),
    removeAll(slot.temporary),
    ...ours
      .filter((entry) => entry.name !== "index" || !entry.isFile())
      .map(({ name }) => removeAll(join(slot.git, name))),
  ]);
}

/** The objects of the worker's own commits. */
export const workerObjects = (slot: Slot) => join(slot.tree, ".git", "objects");

/** Written without git: it is seven small files, and `git clone --shared` would be one more process (13 ms). */
async function writeGitFolder(
  folder: string,
  source: Source,
  {
    commit,
    hidden,
    alternates,
    cut,
    write = writeFile,
  }: {
    commit: string;
    hidden: readonly string[];
    alternates: readonly string[];
    cut: string | undefined;
    write?: (file: string, text: string) => Promise<void>;
  },
): Promise<void> {
  for (const path of ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"]) {
    await mkdir(join(folder, path), { recursive: true });
  }
  const copied = (name: string) => readFile(join(source.git, name), "utf8").catch(() => "");
  const [exclude, attributes, shallow] = await Promise.all(
    ["info/exclude", "info/attributes", "shallow"].map(copied),
  );
  const files: readonly (readonly [string, string])[] = [
    ["HEAD", `${commit}\n`],
    ["config", configOf(source) + (cut === undefined ? "" : "[core]\n\tsparsecheckout = true\n")],
    ["objects/info/alternates", alternatesOf(...alternates)],
    ["info/exclude", `${exclude}\n${hidden.map((path) => `/${escaped(path)}\n`).join("")}`],
    ...(attributes ? [["info/attributes", attributes] as const] : []),
    ...(shallow ? [["shallow", shallow] as const] : []),
    ...(cut === undefined ? [] : [[CUT_FILE, cut] as const]),
  ];
  await Promise.all(files.map(([name, text]) => write(join(folder, name), text)));
}

/** Settings that would do harm here if the user's own configuration had them. */
const FIXED: readonly (readonly [string, string])[] = [
  ["core.bare", "false"],
  ["core.logallrefupdates", "false"],
  ["core.safecrlf", "false"],
  ["core.splitindex", "false"],
  ["core.untrackedcache", "false"],
  ["core.commitgraph", "false"],
  ["submodule.recurse", "false"],
  ["commit.gpgsign", "false"],
  ["tag.gpgsign", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["lfs.skipdownloaderrors", "true"],
];

function configOf(source: Source): string {
  const isPlain = source.format === "sha1";
  const entries = [
    ["core.repositoryformatversion", isPlain ? "0" : "1"],
    ...(isPlain ? [] : [["extensions.objectformat", source.format]]),
    ...source.settings,
    ...FIXED,
    ["lfs.storage", join(source.git, "lfs")],
  ] as const;
  return entries
    .map(([key = "", value = ""]) => {
      const dot = key.indexOf(".");
      return `[${key.slice(0, dot)}]\n\t${key.slice(dot + 1)} = ${quoted(value, true)}\n`;
    })
    .join("");
}

/** A value in quotes, as git reads it. A path that begins with "/" needs quotes only for line ends. */
function quoted(text: string, always = false): string {
  if (!always && !text.includes("\n")) return text;
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}

export const alternatesOf = (...folders: readonly string[]): string =>
  folders.map((path) => `${quoted(path)}\n`).join("");

export const CUT_FILE = "info/sparse-checkout";

export const escaped = (path: string) => path.replace(/[\\*?[\]!# ]/g, "\\$&");

/** Removes locks of a killed engine. Only one job has the slot, so no living process holds them. */
export async function unlock(slot: Slot): Promise<void> {
  const locks = (await readdir(slot.git)).filter((name) => name.endsWith(".lock"));
  await Promise.all(locks.map((name) => rm(join(slot.git, name), { force: true })));
}
