/** What a land job is told: the target, the members of the candidate, what it is built on, what its gate must show. */

import type { Accept, TestsRan } from "./gate.ts";
import { flaggedIn } from "./handoff.ts";
import { type JobId, jobId, type LandJob, type Member, type PassedCandidate } from "./job.ts";
import { isKnownRed, type RunState, taskOf } from "./log/state.ts";
import { membersAfter } from "./rules/landing-queue.ts";
import type { Policy } from "./rules/policy.ts";
import type { Task, TaskId, TaskSpec } from "./task.ts";

export type LandBrief = {
  readonly kind: "land";
  readonly run: string;
  readonly turn: number;
  /** The branch that the job moves. */
  readonly target: string;
  readonly onto: string;
  readonly strategy: Policy["landing"]["strategy"];
  readonly members: readonly LandMember[];
  readonly accept: Accept;
  /** A candidate that changes what the gate runs is gated by its own commands. Whether it may was decided before. */
  readonly ownRules?: true;
  /** The members likely to land next: their candidate can be prepared while the gate runs. */
  readonly next?: readonly LandMember[];
  /** Whether the gate was probed, in words, for the proof. */
  readonly probe?: string;
  /**
   * In ms: the date of the candidate's commits, so that candidates built on it get the same commit ids. Default: now.
   */
  readonly madeAt?: number;
  /** A failure decides something, so the gate runs in a fresh workspace. */
  readonly isFresh?: true;
  /**
   * This job only gates. Its candidate is built on these candidates, each on the one before it, the first on `onto`.
   */
  readonly above?: readonly BuiltOn[];
  /** How many tests the gate ran on the target, for runners that say so. */
  readonly ran?: readonly TestsRan[];
  /** This job only moves the target: this candidate has passed its gate. */
  readonly passed?: PassedCandidate;
};

/** A candidate that is assumed to land. */
export type BuiltOn = { readonly members: readonly LandMember[]; readonly madeAt: number };

export type LandMember = {
  readonly task: TaskId;
  readonly attempt: number;
  readonly branch: string;
  /** The commit that was judged; absent in runs of an older Skein. */
  readonly commit?: string;
  readonly spec: TaskSpec;
  /** What its changes to tests and marks are, for the proof: a person may want to know. */
  readonly flags?: readonly string[];
  /** These flags, or other concerns of the handoff, are about tests. */
  readonly tellsOfTests?: true;
};

export function landBrief(state: RunState, job: LandJob, policy: Policy): LandBrief {
  const { run } = state.request!;
  const { branchPrefix: prefix, landing } = policy;
  const membersOf = (members: readonly Member[]) => members.map((one) => landMember(state, one, prefix));
  const passed = state.train.find(({ turn }) => turn === job.moves)?.result;
  return {
    kind: "land",
    run,
    turn: job.turn,
    target: targetBranchOf(run, prefix),
    onto: state.target.tip,
    strategy: landing.strategy,
    members: membersOf(job.members),
    accept: acceptFor(
      state,
      job.members.map((m) => taskOf(state, m.task)),
    ),
    ...(policy.gateChanges === "flag" ? {} : { ownRules: true }),
    ...(state.target.ran.length > 0 && { ran: state.target.ran }),
    next: membersOf(membersAfter(state, policy)),
    ...probeOf(state, policy),
    ...(isDecisive(state, job) && { isFresh: true }),
    ...(landing.gates > 1 && { madeAt: state.running.get(jobId(job))!.since }),
    ...(job.on && {
      above: builtOn(state, job.on).map(({ members, since }) => ({
        members: membersOf(members),
        madeAt: since,
      })),
    }),
    ...(passed && !("is" in passed) && { passed }),
  };
}

/**
 * The gate runs in a fresh workspace if its result decides something: after a first failure in a used workspace, and in
 * a bisection once one task is left or a part has failed for another reason. Earlier parts of a bisection only choose
 * which tasks are gated next, so a used workspace will do.
 */
function isDecisive({ landing: { phase } }: RunState, { on, moves, members }: LandJob): boolean {
  if (on || moves !== undefined) return false;
  return phase.is === "again" || (phase.is === "bisect" && (phase.reds > 0 || members.length === 1));
}

/** The candidates with these turns: in the train, or of the job that may move the target. */
const builtOn = ({ train, running }: RunState, turns: readonly number[]) =>
  turns.map((turn) => {
    const found = train.find((one) => one.turn === turn);
    if (found) return found;
    const { job, since } = running.get(`land#${turn}` as JobId)!;
    return { members: (job as LandJob).members, since };
  });

function probeOf({ setup: { probed } }: RunState, policy: Policy): Pick<LandBrief, "probe"> {
  if (!policy.probe) return { probe: "off" };
  if (!probed) return {}; // No gate was found when the probe was due.
  return { probe: probed.is === "not-probed" ? `not probed: ${probed.why}` : probed.is };
}

function landMember(state: RunState, { task, attempt }: Member, prefix: string): LandMember {
  const { spec, state: now } = taskOf(state, task);
  const branch = branchOf({ prefix, run: state.request!.run, task, attempt, slug: spec.slug });
  const { commit, concerns = [], tellsOfTests } = now.is === "landing" ? now.handoff : {};
  const flags = flaggedIn({ concerns });
  return {
    ...{ task, attempt, branch, spec },
    ...(commit === undefined ? {} : { commit }),
    ...(flags.length > 0 && { flags }),
    ...(tellsOfTests && { tellsOfTests }),
  };
}

function acceptFor(state: RunState, members: readonly Task[]): Accept {
  if (!isKnownRed(state)) return { is: "green" };
  return {
    is: "no-worse",
    baseline: state.target.report,
    mustHeal: members.flatMap((task) => task.spec.repairs ?? []),
  };
}

/** `skein/<run>/task/<task>.<attempt>-<slug>`: no two attempts share a branch. */
export const branchOf = (of: {
  readonly prefix: string;
  readonly run: string;
  readonly task: TaskId;
  readonly attempt: number;
  readonly slug: string;
}) => `${of.prefix}${of.run}/task/${of.task}.${of.attempt}-${of.slug}`;

export const targetBranchOf = (run: string, prefix: string) => `${prefix}${run}/target`;
