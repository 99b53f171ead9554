/** What may a land job know? The target, whose candidate it is, what it is built on, and what its gate must show. */

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
  /** The branch that moves. */
  readonly target: string;
  readonly onto: string;
  readonly strategy: Policy["landing"]["strategy"];
  readonly members: readonly LandMember[];
  readonly accept: Accept;
  /** A candidate that changes what the gate runs is gated by its own commands: that it may was judged before. */
  readonly ownRules?: true;
  /** Who is likely to land after them: what their candidate needs can be made ready while the gate runs. */
  readonly next?: readonly LandMember[];
  /** Whether the gate was probed, in words, for the proof. */
  readonly probe?: string;
  /** In ms: the date of its commits, so that whoever builds on it gets the same ones; without it, now. */
  readonly madeAt?: number;
  /** A failure decides something: its gate runs in a workspace that is made anew. */
  readonly isFresh?: true;
  /** It only gates: its candidate is built on these, each on the one before it, the first on `onto`. */
  readonly above?: readonly BuiltOn[];
  /** The tests that the gate ran on the target, where runners tell their number. */
  readonly ran?: readonly TestsRan[];
  /** It only moves the target: this candidate has passed. */
  readonly passed?: PassedCandidate;
};

/** A candidate that is assumed to land. */
export type BuiltOn = { readonly members: readonly LandMember[]; readonly madeAt: number };

export type LandMember = {
  readonly task: TaskId;
  readonly attempt: number;
  readonly branch: string;
  /** What was judged; unknown in runs of an older Skein. */
  readonly commit?: string;
  readonly spec: TaskSpec;
  /** What it does to tests and marks that a person may want to know, for the proof. */
  readonly flags?: readonly string[];
  /** These flags, or others of that handoff, are about tests. */
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
 * A first failure leads to another run, which is this one. Of a bisection, the parts only choose who is looked at next:
 * their workspaces may be used, until one task is left or a part has failed for another reason.
 */
function isDecisive({ landing: { phase } }: RunState, { on, moves, members }: LandJob): boolean {
  if (on || moves !== undefined) return false;
  return phase.is === "again" || (phase.is === "bisect" && (phase.reds > 0 || members.length === 1));
}

/** The candidates of these turns: in the train, or of the job that may move the target. */
const builtOn = ({ train, running }: RunState, turns: readonly number[]) =>
  turns.map((turn) => {
    const found = train.find((one) => one.turn === turn);
    if (found) return found;
    const { job, since } = running.get(`land#${turn}` as JobId)!;
    return { members: (job as LandJob).members, since };
  });

function probeOf({ setup: { probed } }: RunState, policy: Policy): Pick<LandBrief, "probe"> {
  if (!policy.probe) return { probe: "off" };
  if (!probed) return {}; // There was no gate when it was asked.
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
