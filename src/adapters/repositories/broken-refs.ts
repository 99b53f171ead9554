/** Which refs of a run lead to what is not there any more? They are removed, and named: every git would stumble over them. */
import { type Failed, hasFailed } from "../../ports/repository.ts";
import { git } from "../git/git.ts";
import { wholeness } from "../git/whole.ts";
import { heldBy, proofsOf, refOf, wrongNames } from "./names.ts";
import { broken } from "./store.ts";

export type RunRefs = {
  readonly gitDir: string;
  readonly run: string;
  /** What the run's branches begin with, such as "skein/r1/". */
  readonly branches: string;
  readonly target: string;
  readonly base: string;
};

/**
 * An attempt whose branch is gone is made again when it is to land. What was salvaged stays: some of it may be there. So
 * does the target: see `restoreTarget`.
 */
export async function removeBrokenRefs(
  refs: RunRefs,
  signal: AbortSignal,
): Promise<readonly string[] | Failed> {
  const { gitDir, run, branches, target, base } = refs;
  const wrong = wrongNames({ runs: [run], branches: [target], commits: [base] });
  if (wrong) return wrong;
  const prefixes = [refOf(branches), `${heldBy(run)}/`, proofsOf(run)];
  const call = { folder: gitDir, environment: { GIT_DIR: gitDir } };
  const args = ["for-each-ref", "--format=%(objectname) %(refname)", ...prefixes];
  const listed = await git({ ...call, args }, signal);
  if (!listed.ok) return { failure: listed.failure };
  const all = listed.out
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Ref => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)])
    .filter(([, ref]) => ref !== refOf(target));
  const torn = await tornOf(all, refs, signal);
  if (hasFailed(torn)) return torn;
  if (torn.length === 0) return [];
  const gone = torn.map(([, ref]) => ref);
  const input = gone.map((ref) => `delete ${ref}\n`).join("");
  const removed = await git({ ...call, args: ["update-ref", "--stdin"], input });
  return removed.ok ? gone : { failure: removed.failure };
}

type Ref = readonly [id: string, ref: string];

/** All at once first, because as a rule all are whole. */
async function tornOf(
  all: readonly Ref[],
  { gitDir, base }: RunRefs,
  signal: AbortSignal,
): Promise<readonly Ref[] | Failed> {
  const torn: Ref[] = [];
  const start = await wholeness({ folder: gitDir, commits: [base], known: [base] }, signal);
  if (hasFailed(start)) return start;
  if (start.is === "missing") {
    return broken(
      `the commit that the run started from cannot be read: ${start.what}`,
      "bring it back from a backup or another clone (git fetch), and resume",
    );
  }
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const part = all.slice(at, at + AT_ONCE);
    for (const one of [part, ...part.map((ref) => [ref])]) {
      const question = { folder: gitDir, commits: one.map(([id]) => id), known: [base] };
      const whole = await wholeness(question, signal);
      if (hasFailed(whole)) return whole;
      if (one === part && whole.is === "whole") break;
      if (one !== part && whole.is === "missing") torn.push(one[0]!);
    }
  }
  return torn;
}

/** As many names as fit into a command line. */
const AT_ONCE = 500;
