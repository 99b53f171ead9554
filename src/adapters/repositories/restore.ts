/** Is the target there, with all that it needs? If not, it is put back to where the log has it. */
import { type Failed, hasFailed } from "../../ports/repository.ts";
import { git } from "../git/git.ts";
import { syncRefs } from "../git/sync-refs.ts";
import { wholeness } from "../git/whole.ts";
import { isCommit, refOf, wrongNames } from "./names.ts";
import { broken } from "./store.ts";

export type Target = {
  readonly gitDir: string;
  readonly branch: string;
  /** Where the run began: everything up to it is the user's. */
  readonly base: string;
  /** Where the log has seen the target, the newest last. */
  readonly tips: readonly string[];
  /** What its ref says is not to be believed: it was empty. */
  readonly isEmptied: boolean;
};

export type Restored = { readonly is: "there" } | { readonly is: "restored"; readonly at: string };

/** A target that is elsewhere, and whole, stays there: somebody moved it, and the engine says what follows. */
export async function restoreTarget(target: Target, signal: AbortSignal): Promise<Restored | Failed> {
  const { gitDir, branch, base, tips, isEmptied } = target;
  const tip = tips.at(-1) ?? base;
  const wrong = wrongNames({ commits: [base, ...tips], branches: [branch] });
  if (wrong) return wrong;
  const isThere = await isWhole(target, tip, signal);
  if (isThere !== true) return isThere || lost(target, tip, signal);
  const at = await refAt(gitDir, branch, signal);
  const isRight = !isEmptied && at !== undefined && (at === tip || (await isWhole(target, at, signal)));
  if (isRight) return isRight === true ? { is: "there" } : isRight;
  const args = ["update-ref", "--no-deref", "-m", "skein: restored", refOf(branch), tip, at ?? ""];
  const moved = await git({ folder: gitDir, args }, signal);
  if (!moved.ok) return { failure: moved.failure };
  await syncRefs(gitDir, [refOf(branch)]);
  return { is: "restored", at: tip };
}

/** What a ref says, whether or not that is there. */
async function refAt(gitDir: string, branch: string, signal: AbortSignal): Promise<string | undefined> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", refOf(branch)];
  const answer = await git({ folder: gitDir, args }, signal);
  const id = answer.ok ? answer.out.trim() : "";
  return isCommit(id) ? id : undefined;
}

/** Whether every commit, folder and file is there that the run has brought. */
async function isWhole(
  { gitDir, base }: Target,
  commit: string,
  signal: AbortSignal,
): Promise<boolean | Failed> {
  const whole = await wholeness({ folder: gitDir, commits: [commit], known: [base] }, signal);
  return hasFailed(whole) ? whole : whole.is === "whole";
}

async function lost(target: Target, tip: string, signal: AbortSignal): Promise<Failed> {
  const what = `the target ${target.branch} is lost: the log has it at ${tip}, which is not in the repository as a whole`;
  const back = "bring that commit back from a backup or another clone, and resume";
  for (const older of target.tips.slice(0, -1).toReversed().slice(0, MAX_OLDER)) {
    const isThere = await isWhole(target, older, signal);
    if (typeof isThere !== "boolean" && hasFailed(isThere)) return isThere;
    if (isThere)
      return broken(what, `${back}; or begin anew on the last that is whole: skein run --base ${older}`);
  }
  return broken(what, `${back}; or start a new run`);
}

/** Each is a walk through what the run has brought. */
const MAX_OLDER = 100;
