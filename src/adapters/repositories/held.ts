/** Keeps what a run needs from `git gc` by refs, and checks that it is complete before it counts. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Member } from "../../core/job.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Wanted } from "../../ports/repository.ts";
import { changeRefs, listRefs } from "../git/refs.ts";
import { notLoose, WHOLE, type Whole, wholeness } from "../git/whole.ts";
import { heldBy, keptBy, refOf, wrongNames } from "./names.ts";
import { broken, moveRefs, readCommit, type Store } from "./store.ts";

/** Makes a ref hold a commit, in place of what this name held before. */
export async function hold(
  store: Store,
  { run, name, commit }: { readonly run: string; readonly name: string; readonly commit: string },
): Promise<Failed | undefined> {
  const held = await moveRefs(store, [`update ${heldBy(run)}/${name} ${commit}`]);
  return held.ok ? undefined : { failure: held.failure };
}

/** Holds the commit that a run starts from, because an amended or rebased branch may leave it. */
export async function holdBase(folder: string, run: string, base: string): Promise<Failed | undefined> {
  const wrong = wrongNames({ runs: [run], commits: [base] });
  if (wrong) return wrong;
  return changeRefs({ folder }, [`update ${heldBy(run)}/base ${base}`]);
}

/**
 * Drops all refs that held something for a run, or one of them by name. Branches, proofs and salvage refs stay,
 * and so does the ref that holds the tip if the target was deleted.
 */
export async function letGo(
  folder: string,
  run: string,
  { name = "", target }: { readonly name?: string; readonly target?: string } = {},
): Promise<Failed | undefined> {
  const wanted = [`${heldBy(run)}/${name}`, ...(target === undefined ? [] : [refOf(target)])];
  const listed = await listRefs({ folder, patterns: wanted, fields: ["refname"] });
  if (hasFailed(listed)) return listed;
  const refs = new Set(listed.map(([ref = ""]) => ref));
  const isDeleted = target !== undefined && !refs.delete(refOf(target));
  if (isDeleted) refs.delete(`${heldBy(run)}/target`);
  return changeRefs(
    { folder },
    [...refs].map((ref) => `delete ${ref}`),
  );
}

/** What to try if objects keep disappearing. */
export const PRUNED = "let no `git gc --prune=now` or `git prune` run in the repository meanwhile";

/** Whether commits and everything that they need exist; `known` commits are taken to be complete. */
export const isWhole = (
  store: Store,
  commits: readonly string[],
  known: readonly string[],
  signal: AbortSignal,
): Promise<Whole | Failed> =>
  wholeness({ folder: store.gitDir, commits, known, find: (ids) => areThere(store, ids) }, signal);

/**
 * Whether these objects exist. A reader older than the current packs still sees objects in packs that were
 * removed, so it is renewed.
 */
export async function areThere(store: Store, ids: readonly string[]): Promise<Whole | Failed> {
  const unseen = await notLoose(store.objects, ids);
  if (unseen.length === 0) return WHOLE;
  const { mtimeMs } = await stat(join(store.objects, "pack")).catch(() => ({ mtimeMs: 0 })); // There are no packs.
  if (store.packs.seenAt !== mtimeMs) store.reader.renew();
  store.packs.seenAt = mtimeMs;
  const reads = await Promise.all(unseen.map((id) => store.reader.info(id)));
  const at = reads.findIndex(({ is }) => is !== "found");
  const read = reads[at];
  if (read === undefined) return WHOLE;
  return read.is === "failed" ? broken(read.why) : { is: "missing", what: `${unseen[at]} is missing` };
}

/**
 * The members whose work is no longer complete; none if the commit that they should land on is gone as well. Their
 * refs are removed if they still lead there, because every git command would fail on them.
 */
export async function goneOf(
  store: Store,
  { run, onto, members }: Wanted,
  signal: AbortSignal,
): Promise<readonly Member[] | Failed> {
  const tip = await readCommit(store, onto);
  if (tip === undefined || hasFailed(tip)) return tip ?? [];
  const gone: Member[] = [];
  for (const { task, attempt, branch, commit } of members) {
    const whole = await isWhole(store, [commit ?? refOf(branch)], [onto], signal);
    if (hasFailed(whole)) return whole;
    if (whole.is === "whole") continue;
    gone.push({ task, attempt });
    for (const ref of [refOf(branch), keptBy(heldBy(run), branch)])
      if (commit) await store.refs.move([`delete ${ref} ${commit}`]);
  }
  return gone;
}
