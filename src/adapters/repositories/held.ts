/** What must no `git gc` of the user's take? What a run still needs is held by refs, and looked at before it counts. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Member } from "../../core/job.ts";
import { type Failed, hasFailed, type Wanted } from "../../ports/repository.ts";
import { git } from "../git/git.ts";
import { notLoose, WHOLE, type Whole, wholeness } from "../git/whole.ts";
import { heldBy, keptBy, refOf, wrongNames } from "./names.ts";
import { broken, moveRefs, readCommit, type Store } from "./store.ts";

/** Under a name of the run's own; what was held by that name before is let go. */
export async function hold(
  store: Store,
  { run, name, commit }: { readonly run: string; readonly name: string; readonly commit: string },
): Promise<Failed | undefined> {
  const held = await moveRefs(store, [`update ${heldBy(run)}/${name} ${commit}`]);
  return held.ok ? undefined : { failure: held.failure };
}

/** The commit that a run starts from, which the user may leave by an amended or rebased branch. */
export async function holdBase(folder: string, run: string, base: string): Promise<Failed | undefined> {
  const wrong = wrongNames({ runs: [run], commits: [base] });
  if (wrong) return wrong;
  const held = await git({ folder, args: ["update-ref", `${heldBy(run)}/base`, base] });
  return held.ok ? undefined : { failure: held.failure };
}

/**
 * Lets go of all that a run held, or of one name. Its branches, its proofs and what was salvaged stay; and so does what
 * holds the tip, if somebody has deleted the target.
 */
export async function letGo(
  folder: string,
  run: string,
  { name = "", target }: { readonly name?: string; readonly target?: string } = {},
): Promise<Failed | undefined> {
  const args = ["for-each-ref", "--format=delete %(refname)", `${heldBy(run)}/${name}`];
  const listed = await git({ folder, args });
  if (!listed.ok) return { failure: listed.failure };
  const isThere = target === undefined || (await git({ folder, args: [...EXISTS, refOf(target)] })).ok;
  const lines = listed.out.split("\n").filter((line) => isThere || line !== `delete ${heldBy(run)}/target`);
  const input = lines.join("\n");
  if (input === "") return undefined;
  const gone = await git({ folder, args: ["update-ref", "--stdin"], input });
  return gone.ok ? undefined : { failure: gone.failure };
}

const EXISTS = ["show-ref", "--verify", "--quiet"];

/** What to try where objects of ours keep disappearing. */
export const PRUNED =
  "let no `git gc --prune=now` or `git prune` run in the repository meanwhile, and resume";

/** Whether commits and all that they need are there; `known` and all that it needs is. */
export const isWhole = (
  store: Store,
  commits: readonly string[],
  known: readonly string[],
  signal: AbortSignal,
): Promise<Whole | Failed> =>
  wholeness({ folder: store.gitDir, commits, known, find: (ids) => areThere(store, ids) }, signal);

/** A reader that is as old as the packs that are there sees no object in a pack that was removed. */
export async function areThere(store: Store, ids: readonly string[]): Promise<Whole | Failed> {
  const unseen = await notLoose(store.objects, ids);
  if (unseen.length === 0) return WHOLE;
  const { mtimeMs } = await stat(join(store.objects, "pack")).catch(() => ({ mtimeMs: 0 })); // There are none.
  if (store.packs.seenAt !== mtimeMs) store.reader.renew();
  store.packs.seenAt = mtimeMs;
  const reads = await Promise.all(unseen.map((id) => store.reader.info(id)));
  const at = reads.findIndex(({ is }) => is !== "found");
  const read = reads[at];
  if (read === undefined) return WHOLE;
  return read.is === "failed" ? broken(read.why) : { is: "missing", what: `${unseen[at]} is missing` };
}

/**
 * The members whose work is not all there any more; none if the commit that they are to land on is gone as well. Their
 * refs are removed, unless they lead elsewhere by now: every git would stumble over them.
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
