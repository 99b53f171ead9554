/** Repairs a run's refs after a power cut or a `git prune`: restores the target, removes broken refs. */
import { type Failed, hasFailed } from "../../core/result.ts";
import { git, inGitDir } from "../git/git.ts";
import { changeRefs, listRefs, syncRefs } from "../git/refs.ts";
import { wholeness } from "../git/whole.ts";
import { heldBy, isCommit, proofsOf, refOf, wrongNames } from "./names.ts";
import { broken } from "./store.ts";

type LoggedTarget = {
  readonly gitDir: string;
  readonly branch: string;
  /** The commit that the run began from; everything up to it is the user's. */
  readonly base: string;
  /** Where the log has seen the target, the newest last. */
  readonly tips: readonly string[];
  /** The file of its ref was empty, so the ref's present value cannot be trusted. */
  readonly isEmptied: boolean;
};

type RestoredTarget = { readonly is: "there" } | { readonly is: "restored"; readonly at: string };

/**
 * Puts the target back to where the log has it. A target that is elsewhere and complete stays: a person moved it,
 * and the engine decides what follows.
 */
export async function restoreTarget(
  target: LoggedTarget,
  signal: AbortSignal,
): Promise<RestoredTarget | Failed> {
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
  const moved = await git({ ...inGitDir(gitDir), args }, signal);
  if (!moved.ok) return moved;
  await syncRefs(gitDir, [refOf(branch)]);
  return { is: "restored", at: tip };
}

/** The id in the ref, even if that commit is missing. */
async function refAt(gitDir: string, branch: string, signal: AbortSignal): Promise<string | undefined> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", refOf(branch)];
  const answer = await git({ ...inGitDir(gitDir), args }, signal);
  const id = answer.ok ? answer.out.trim() : "";
  return isCommit(id) ? id : undefined;
}

/** Whether every commit, folder and file exists that the run has added. */
async function isWhole(
  { gitDir, base }: Pick<LoggedTarget, "gitDir" | "base">,
  commit: string,
  signal: AbortSignal,
): Promise<boolean | Failed> {
  const whole = await wholeness({ folder: gitDir, commits: [commit], known: [base] }, signal);
  return hasFailed(whole) ? whole : whole.is === "whole";
}

async function lost(target: LoggedTarget, tip: string, signal: AbortSignal): Promise<Failed> {
  const what = `the target ${target.branch} is lost: the log has it at ${tip}, of which parts are missing in the repository`;
  const back = "restore that commit from a backup or another clone";
  for (const older of target.tips.slice(0, -1).toReversed().slice(0, MAX_OLDER)) {
    const isThere = await isWhole(target, older, signal);
    if (typeof isThere !== "boolean") return isThere;
    if (isThere)
      return broken(what, `${back}; or begin anew on the last complete one: skein run --base ${older}`);
  }
  return broken(what, `${back}; or start a new run`);
}

/** Limited, because each check walks through everything that the run has added. */
const MAX_OLDER = 100;

type RunRefs = {
  readonly gitDir: string;
  readonly run: string;
  /** The prefix of the run's branches, such as "skein/r1/". */
  readonly branches: string;
  readonly target: string;
  readonly base: string;
};

/**
 * Removes and names the refs of a run whose objects are missing, because every later git command would fail on
 * them. An attempt without its branch is made again when it is to land. Salvage refs stay, because they may still
 * have a part of their work; so does the target (see `restoreTarget`).
 */
export async function removeBrokenRefs(
  refs: RunRefs,
  signal: AbortSignal,
): Promise<readonly string[] | Failed> {
  const { gitDir, run, branches, target, base } = refs;
  const wrong = wrongNames({ runs: [run], branches: [target], commits: [base] });
  if (wrong) return wrong;
  const patterns = [refOf(branches), `${heldBy(run)}/`, proofsOf(run)];
  const listed = await listRefs({ ...inGitDir(gitDir), patterns, fields: ["objectname", "refname"] }, signal);
  if (hasFailed(listed)) return listed;
  const start = await wholeness({ folder: gitDir, commits: [base], known: [base] }, signal);
  if (hasFailed(start)) return start;
  if (start.is === "missing") {
    return broken(
      `the commit that the run started from cannot be read: ${start.what}`,
      "restore it from a backup or another clone (git fetch)",
    );
  }
  const gone: string[] = [];
  const others = listed.filter(([, ref]) => ref !== refOf(target));
  for (let at = 0; at < others.length; at += AT_ONCE) {
    const part = others.slice(at, at + AT_ONCE);
    const ids = part.map(([id = ""]) => id);
    const all = await wholeness({ folder: gitDir, commits: ids, known: [base] }, signal);
    if (hasFailed(all)) return all;
    if (all.is === "whole") continue; // Usually all are complete, and one question is enough.
    for (const [id = "", ref = ""] of part) {
      const isThere = await isWhole(refs, id, signal);
      if (typeof isThere !== "boolean") return isThere;
      if (!isThere) gone.push(ref);
    }
  }
  const lines = gone.map((ref) => `delete ${ref}`);
  return (await changeRefs(inGitDir(gitDir), lines)) ?? gone;
}

/** As many names as fit into a command line. */
const AT_ONCE = 500;
