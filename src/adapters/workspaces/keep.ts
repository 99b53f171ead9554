/** Keeps a worker's work as commits in the user's repository, whatever state the worker left it in. */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../../core/failure.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { Keepsake, Kept } from "../../ports/workspaces.ts";
import { isRefSafe } from "../../text/slug.ts";
import { readShort } from "../files/read-bounded.ts";
import { writeWhole } from "../files/write-whole.ts";
import { git } from "../git/git.ts";
import { syncRefs } from "../git/refs.ts";
import { UNCONFIGURED } from "../git/settings.ts";
import type { Shelf } from "../git/shelf.ts";
import { wholeness } from "../git/whole.ts";
import { inTheWay } from "../repositories/checkouts.ts";
import { keptBy } from "../repositories/names.ts";
import { type ChangedFiles, changedFiles, commitFiles, SPECIAL } from "./changed-files.ts";
import { markLeftOut } from "./cut-tree.ts";
import { isFolder, isReachedInside } from "./folders.ts";
import {
  alternatesOf,
  copyIndex,
  gitBeside,
  gitInSlot,
  type Slot,
  type SlotCall,
  unlock,
  workerObjects,
} from "./slot.ts";
import type { Source } from "./source.ts";
import { isPlainObjectFolder } from "./special-files.ts";
import { tooLargeTree } from "./tree-size.ts";

export type Work = {
  readonly slot: Slot;
  readonly source: Source;
  /** The commit where the worker began. */
  readonly commit: string;
  readonly maxFileBytes: number;
  readonly pause?: Pause;
  /** Prefix of refs that also hold kept branches, because people may delete branches. */
  readonly holds?: string;
  /** Keeps second names of objects that a `git prune` may still remove. */
  readonly shelf?: Shelf;
};

export type Pause = (ms: number, signal: AbortSignal) => Promise<unknown>;

/** Long enough for another git to release a lock, or a full disk to get room. The engine handles longer faults. */
const WAITS_MS = [100, 400, 1_500];

/**
 * Keeps the work under a ref. An invalid name is refused at once. After a fault of the machine it tries again,
 * because all the work still exists.
 */
export async function keepWork(work: Work, as: Keepsake, signal: AbortSignal): Promise<Kept | Failed> {
  const wrong = refusal(as.ref) ?? (await inTheWay(work.source.git, as.ref));
  if (wrong) return wrong;
  const { pause = quietly } = work;
  for (const [number, waitMs] of WAITS_MS.entries()) {
    const kept = await keepOnce({ ...work, isBeside: number > 0, isLast: false }, as, signal).catch(asFailed);
    if (!hasFailed(kept) || kept.failure.kind === "agent-failed" || signal.aborted) return kept;
    await pause(waitMs, signal);
  }
  return keepOnce({ ...work, isBeside: true, isLast: true }, as, signal).catch(asFailed);
}

const quietly: Pause = (ms, signal) => wait(ms, undefined, { signal }).catch(() => {}); // Aborted: the last try tells.

const asFailed = (thrown: unknown): Failed => failedWith("repository", messageOf(thrown));

/** The refs that will hold the work: a salvage ref is enough by itself; a branch is held by another ref as well. */
const refsFor = ({ holds }: Pick<Work, "holds">, { ref }: Keepsake): readonly string[] =>
  holds === undefined || !ref.startsWith("refs/heads/") ? [ref] : [ref, keptBy(holds, ref)];

/** `isBeside`: objects are written into the slot, out of reach of the user's `git prune`, and fetched from there. */
type Try = Work & { readonly isBeside: boolean; readonly isLast: boolean };

/**
 * Tries once. The user's `git prune` may remove parts of the work before a ref holds them; then the refs are
 * removed.
 */
async function keepOnce(work: Try, as: Keepsake, signal: AbortSignal): Promise<Kept | Failed> {
  const kept = await keepEither(work, as, signal);
  if (hasFailed(kept) || kept.commit === undefined) return kept;
  const { source, commit } = work;
  const whole = await wholeness({ folder: source.git, commits: [kept.commit], known: [commit] }, signal);
  if (hasFailed(whole)) return whole;
  if (whole.is === "whole") {
    await work.shelf?.keep(whole.ids);
    return kept;
  }
  await source.refs.move(refsFor(work, as).map((ref) => `delete ${ref}`));
  return torn();
}

const torn = (): Failed =>
  failedWith(
    "repository",
    "what was made does not stay in the repository: parts of it are removed at once",
    "let no `git gc --prune=now` or `git prune` run there meanwhile",
  );

/**
 * Git processes without commits of the worker: ls-files, add, commit; only ls-files if nothing changed. With
 * commits: rev-list, read-tree, ls-files and fetch, and add and commit for uncommitted changes.
 */
async function keepEither(work: Try, as: Keepsake, signal: AbortSignal): Promise<Kept | Failed> {
  if (!(await isThere(work.slot.tree))) return removed();
  for (const folder of [work.slot.tree, work.slot.git])
    if (!(await isFolder(folder))) return noFolder(folder);
  await unlock(work.slot);
  await setHead(work.slot, work.commit); // An engine that was killed while it kept work may have moved it.
  const history = await historyOf(work, signal);
  if (history && "unkept" in history) return filesInstead(work, history.unkept, as, signal);
  if (history) {
    const kept = await keepHistory(work, history, as, signal);
    if (!hasFailed(kept) || signal.aborted || !work.isLast) return kept;
    return filesInstead(work, kept.failure.message, as, signal);
  }
  return keepFiles(work, as, signal);
}

async function filesInstead(
  work: Try,
  why: string,
  as: Keepsake,
  signal: AbortSignal,
): Promise<Kept | Failed> {
  const files = await keepFiles(work, as, signal);
  if (hasFailed(files)) return files;
  return { ...files, left: [`its own commits, only their files: ${why}`, ...files.left] };
}

function refusal(ref: string): Failed | undefined {
  const name = /^refs\/(?:heads|skein\/salvage)\/(.+)$/s.exec(ref)?.[1];
  if (name !== undefined && isRefSafe(name)) return undefined;
  return failedWith(
    "repository",
    `work cannot be kept as ${JSON.stringify(ref)}: not a name that Skein uses`,
  );
}

/** The failure if the work tree is gone. It is not taken for a change, which would delete every file. */
const removed = (): Failed =>
  failedWith(
    "agent-failed",
    "the worker removed the folder that it worked in: nothing of it can be kept",
    "tell the agent to delete files, not the folder",
  );

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

const noFolder = (path: string): Failed =>
  failedWith("repository", `${path} is no folder any more: nothing in it can be kept`);

/** Makes one commit with the present files on the start commit. Also used if a worker rewrote or lost its history. */
async function keepFiles(work: Try, as: Keepsake, signal: AbortSignal): Promise<Kept | Failed> {
  const { slot, source, isBeside } = work;
  await copyIndex(slot, indexOf(slot));
  const special: string[] = [];
  const call = (one: SlotCall) =>
    isBeside
      ? gitBeside(slot, source, withIndex(slot, one, special), signal)
      : gitInSlot(slot, source, withIndex(slot, one, special), signal);
  const files = await changedFiles(slot, call, work.maxFileBytes);
  if (hasFailed(files)) return files;
  if (files.count === 0) return { commit: undefined, left: leftOf(files, special) };
  await setHead(slot, work.commit);
  const made = await commitFiles(slot, call, without(files, special), as.message);
  if (hasFailed(made)) return made;
  const left = leftOf(files, special);
  if (made.commit === undefined) return { commit: undefined, left };
  const wrong = isBeside ? await bringOver(work, as, signal) : await pointAt(work, as, made.commit);
  return wrong ?? { commit: made.commit, left };
}

/** Adds another ref to work that was kept for good before. */
export const keepAlso = async (
  work: Pick<Work, "source" | "holds">,
  as: Keepsake,
  commit: string,
): Promise<Failed | undefined> =>
  refusal(as.ref) ?? (await inTheWay(work.source.git, as.ref)) ?? pointAt(work, as, commit);

async function pointAt(
  work: Pick<Work, "source" | "holds">,
  as: Keepsake,
  commit: string,
): Promise<Failed | undefined> {
  const { source } = work;
  const refs = refsFor(work, as);
  const moved = await source.refs.move(refs.map((ref) => `update ${ref} ${commit}`));
  if (!moved.ok) return { failure: moved.failure };
  await syncRefs(source.git, refs);
  return undefined;
}

async function bringOver(work: Work, as: Keepsake, signal: AbortSignal): Promise<Failed | undefined> {
  const { source, slot } = work;
  const refs = refsFor(work, as);
  const fetched = await git(
    {
      folder: source.git,
      args: ["fetch", ...QUIETLY, "--", slot.git, ...refs.map((ref) => `+HEAD:${ref}`)],
      // The user's settings could name a program for the other side of a fetch; the slot's settings are enough.
      environment: {
        ...UNCONFIGURED,
        GIT_CONFIG_GLOBAL: join(slot.git, "config"),
        GIT_DIR: source.git,
        GIT_ALLOW_PROTOCOL: "file",
      },
    },
    signal,
  );
  if (!fetched.ok) return { failure: fetched.failure };
  await syncRefs(source.git, refs);
  return undefined;
}

type History = { readonly head: string; readonly tree: string; readonly startTree: string };

/** The worker's own commits, if they descend from where it began and hold no file that is too large. */
async function historyOf(
  work: Work,
  signal: AbortSignal,
): Promise<History | { readonly unkept: string } | undefined> {
  const head = await headOf(join(work.slot.tree, ".git"));
  if (head === undefined || head === work.commit) return undefined;
  const { slot, source } = work;
  if (!(await isPlainObjectFolder(workerObjects(slot), alternatesOf(source.objects)))) return undefined;
  const limit = ["--objects", `--filter=blob:limit=${work.maxFileBytes + 1}`, "--filter-print-omitted"];
  const args = ["rev-list", "--boundary", "--format=%T", ...limit, `${work.commit}..${head}`];
  const listed = await gitBeside(slot, source, { args }, signal);
  if (!listed.ok) return undefined; // Its objects are missing or broken: only its files are left.
  if (/^~/m.test(listed.out)) return undefined; // A file in it is too large.
  const trees = new Map(
    [...listed.out.matchAll(/^commit (-?[0-9a-f]+)\n([0-9a-f]+)$/gm)].map(([, id = "", tree = ""]) => [
      id,
      tree,
    ]),
  );
  const tree = trees.get(head);
  const startTree = trees.get(`-${work.commit}`); // On the boundary only if the head descends from it.
  if (tree === undefined || startTree === undefined) return undefined;
  if (tree === startTree) return { head, tree, startTree };
  const list = (args: readonly string[], maxBytes: number) =>
    gitBeside(slot, source, { args, maxBytes, cut: true }, signal);
  const unkept = await tooLargeTree(list, head);
  if (unkept !== undefined && typeof unkept !== "string") return undefined;
  return unkept === undefined ? { head, tree, startTree } : { unkept };
}

/** Reads the HEAD without git, which would obey the worker's settings. */
async function headOf(folder: string): Promise<string | undefined> {
  if (!(await isFolder(folder))) return undefined;
  const read = async (name: string) =>
    (await isReachedInside(folder, name)) ? (await readShort(join(folder, name), MAX_REFS_BYTES)).trim() : "";
  const head = await read("HEAD");
  if (ID.test(head)) return head;
  const ref = /^ref: (refs\/.+)$/.exec(head)?.[1];
  if (ref === undefined || !isRefSafe(ref)) return undefined;
  const loose = await read(ref);
  if (ID.test(loose)) return loose;
  const packed = (await read("packed-refs")).split("\n").find((line) => line.endsWith(` ${ref}`));
  const id = packed?.slice(0, packed.indexOf(" "));
  return id !== undefined && ID.test(id) ? id : undefined;
}

/** Room for the packed refs of a large repository. */
const MAX_REFS_BYTES = 16_000_000;

const ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

async function keepHistory(
  work: Work,
  { head, tree, startTree }: History,
  as: Keepsake,
  signal: AbortSignal,
): Promise<Kept | Failed> {
  const { slot, source } = work;
  await copyIndex(slot, indexOf(slot));
  const special: string[] = [];
  const call = (one: SlotCall) => gitBeside(slot, source, withIndex(slot, one, special), signal);
  const read = await call({ args: ["read-tree", "--reset", head] });
  const unmarked = read.ok ? await markLeftOut(slot, call) : { failure: read.failure };
  if (unmarked) return unmarked;
  const files = await changedFiles(slot, call, work.maxFileBytes);
  if (hasFailed(files)) return files;
  await setHead(slot, head);
  const made =
    files.count === 0
      ? { commit: undefined }
      : await commitFiles(slot, call, without(files, special), as.message);
  if (hasFailed(made)) return made;
  const left = leftOf(files, special);
  if (made.commit === undefined && tree === startTree) return { commit: undefined, left };
  return (await bringOver(work, as, signal)) ?? { commit: made.commit ?? head, left };
}

/** Options of a fetch that changes nothing in the user's repository but these refs and their objects. */
const QUIETLY = [
  ...["--quiet", "--atomic", "--no-tags", "--no-prune", "--no-write-fetch-head", "--no-write-commit-graph"],
  ...["--no-auto-maintenance", "--no-recurse-submodules", "--refmap="],
];

/** A file that was replaced by a pipe or device counts as unchanged, not as deleted. */
const without = (files: ChangedFiles, special: readonly string[]): ChangedFiles => ({
  ...files,
  barred: [...files.barred, ...special],
});

const leftOf = ({ left }: ChangedFiles, special: readonly string[]): readonly string[] => [
  ...new Set([...left, ...special.map((path) => `${JSON.stringify(path)} ${SPECIAL}`)]),
];

/** By a rename: with half a HEAD, git would not recognise the folder, and nothing could be kept. */
const setHead = (slot: Slot, commit: string): Promise<void> =>
  writeWhole(join(slot.git, "HEAD"), `${commit}\n`);

/** A copy of the index of the start commit, so that work can be kept repeatedly. */
const indexOf = (slot: Slot): string => join(slot.git, "index.keep");

const withIndex = (slot: Slot, call: SlotCall, special: string[]): SlotCall => ({
  ...call,
  onSpecial: (path) => special.push(path),
  environment: { GIT_INDEX_FILE: indexOf(slot), ...call.environment },
});
