/** Removes the branches of a closed run's attempts: landed work is in the target, other work is kept as salvage. */
import path from "node:path";
import { type Failed, hasFailed } from "../../core/result.ts";
import { fieldsIn, git } from "../git/git.ts";
import { changeRefs, listRefs, syncRefs } from "../git/refs.ts";
import { heldBy, isCommit, refOf, wrongNames } from "./names.ts";

type ClosedRun = {
  readonly top: string;
  readonly gitDir: string;
  readonly run: string;
  /** The run's target, by its short name; the branches of attempts are beside it. */
  readonly target: string;
  /** Commits that attempts handed in and that the target has, perhaps as other commits. */
  readonly landed: readonly string[];
};

/**
 * Recognises a branch of the run by the ref that holds the same commit while the run is open, so it must be called
 * before those refs are removed. A branch that has moved, or is checked out, stays. Calling it again does what is
 * left to do.
 */
export async function retireBranches(closed: ClosedRun, signal?: AbortSignal): Promise<Failed | undefined> {
  const { top, gitDir, run, target } = closed;
  const wrong = wrongNames({ runs: [run], branches: [target] });
  if (wrong) return wrong;
  const kept = await keptOf(closed, signal);
  if (hasFailed(kept) || kept.length === 0) return hasFailed(kept) ? kept : undefined;
  const unlanded = await unlandedOf(closed, kept, signal);
  if (hasFailed(unlanded)) return unlanded;
  const salvage = await refsIn(top, `refs/skein/salvage/${run}/`, signal);
  if (hasFailed(salvage)) return salvage;
  const isRemoved = ({ commit, branch }: Kept) => branch?.commit === commit && !branch.isCheckedOut;
  // A branch that stays at its commit needs no salvage.
  const lost = kept.filter(
    (one) => unlanded.has(one.commit) && (isRemoved(one) || one.branch?.commit !== one.commit),
  );
  const saved = lost.flatMap(({ name, commit }) => {
    const ref = salvageRef(run, name, commit, salvage);
    return ref === undefined ? [] : [{ ref, commit }];
  });
  const failed = await changeRefs(
    { folder: top },
    saved.map(({ ref, commit }) => `create ${ref} ${commit}`),
    signal,
  );
  if (failed) return failed;
  await syncRefs(
    gitDir,
    saved.map(({ ref }) => ref),
  );
  return changeRefs(
    { folder: top },
    kept.filter(isRemoved).map(({ name, commit }) => `delete ${branchRef(target, name)} ${commit}`),
    signal,
  );
}

/** The commit that was handed in under this name, and where its branch is now; undefined if a person removed it. */
type Kept = {
  readonly name: string;
  readonly commit: string;
  readonly branch: { readonly commit: string; readonly isCheckedOut: boolean } | undefined;
};

const branchRef = (target: string, name: string) => `${refOf(path.posix.dirname(target))}/task/${name}`;

async function keptOf(
  { top, run, target }: ClosedRun,
  signal: AbortSignal | undefined,
): Promise<readonly Kept[] | Failed> {
  const start = `${heldBy(run)}/kept/`;
  const held = await refsIn(top, start, signal);
  if (hasFailed(held) || held.size === 0) return hasFailed(held) ? held : [];
  const fields = ["refname", "objectname", "worktreepath"];
  const branches = await listRefs({ folder: top, patterns: [branchRef(target, "")], fields }, signal);
  if (hasFailed(branches)) return branches;
  const byRef = new Map(
    branches.map(([ref = "", commit = "", at = ""]) => [ref, { commit, isCheckedOut: at !== "" }] as const),
  );
  return [...held].map(([ref, commit]) => {
    const name = ref.slice(start.length);
    return { name, commit, branch: byRef.get(branchRef(target, name)) };
  });
}

async function refsIn(
  folder: string,
  start: string,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, string> | Failed> {
  const listed = await listRefs({ folder, patterns: [start], fields: ["refname", "objectname"] }, signal);
  return hasFailed(listed) ? listed : new Map(listed.map(([ref = "", commit = ""]) => [ref, commit]));
}

/** The commits that neither the target contains, nor an attempt that landed. */
async function unlandedOf(
  { top, target, landed }: ClosedRun,
  kept: readonly Kept[],
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string> | Failed> {
  const tip = await refsIn(top, refOf(target), signal); // Empty if a person deleted the target.
  if (hasFailed(tip)) return tip;
  const wanted = kept.map(({ commit }) => commit);
  const others = [...tip.values(), ...landed.filter(isCommit)].map((commit) => `^${commit}`);
  const input = [...wanted, ...others].map((line) => `${line}\n`).join("");
  const args = ["rev-list", "--ignore-missing", "--stdin"];
  const listed = await git({ folder: top, args, input }, signal);
  if (!listed.ok) return listed;
  const found = new Set(fieldsIn(listed.out, "\n"));
  return new Set(wanted.filter((commit) => found.has(commit)));
}

/**
 * The salvage ref for a commit; undefined if it is kept already. The name of another commit's entry is not taken
 * from it.
 */
function salvageRef(
  run: string,
  name: string,
  commit: string,
  taken: ReadonlyMap<string, string>,
): string | undefined {
  const [, attempt = name] = /^([\w.]+\.\d+)-/.exec(name) ?? [];
  const refs = [attempt, name].map((one) => `refs/skein/salvage/${run}/${one}`);
  if (refs.some((ref) => taken.get(ref) === commit)) return undefined;
  return refs.find((ref) => !taken.has(ref));
}
