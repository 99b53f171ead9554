/** Decides what follows from a land job: landed, refused, a step of the bisection, or a place in the train. */

import { type Failure, failure } from "../failure.ts";
import type {
  Conflict,
  Ended,
  FailedCandidate,
  FoundLanding,
  LandJob,
  Member,
  Moved,
  Outcome,
} from "../job.ts";
import type { Fact } from "../log/event.ts";
import { isKnownRed, landsOnRed, type RunState, runningJobOf, taskOf } from "../log/state.ts";
import { isFlaky } from "../log/target-health.ts";
import { isSettled, type TaskId } from "../task.ts";
import { attemptFailed, failTask, type Now, skipsAfter, withoutRepeats } from "./consequences.ts";
import { afterRedAndGreen, neverDecided } from "./doubtful-gate.ts";
import { gateRed } from "./gate-red.ts";
import {
  afterBase,
  afterGreen,
  afterMove,
  afterRed,
  backToQueue,
  keepPhase,
  leave,
  membersOf,
  type Phase,
  pointedAt,
  type Turn,
  without,
  withoutMembers,
} from "./landing.ts";
import { backoffMs } from "./policy.ts";
import { isBaseKnown, isMoving, moverOf } from "./train.ts";

export function decideLand(now: Now, job: LandJob, ended: Ended): readonly Fact[] {
  const { state } = now;
  const outcome = accounted(state, job, ended.outcome);
  const failed = (why: Failure) => landFailed(now, job, { why, free: ended.free });
  const { turn } = job;
  if (job.on && (outcome.is === "landed" || outcome.is === "moved"))
    return failed(failure("repository", `a candidate that was only gated answered "${outcome.is}"`));
  switch (outcome.is) {
    case "landed":
      return landed(now, job, outcome);
    case "gated": {
      const { is: _, ...passed } = outcome;
      return job.on
        ? [{ type: "candidate.passed", turn, passed }]
        : failed(failure("repository", "a landing gated its candidate and did not move the target"));
    }
    case "red":
    case "unmergeable":
      return job.on ? [{ type: "candidate.failed", turn, failed: outcome }] : judged(now, outcome);
    case "gone":
      return gone(now, job, outcome.members);
    case "moved":
      return outcome.tip === state.target.tip
        ? failed(failure("repository", `the target is still at ${outcome.tip}`))
        : moved(now, job, outcome);
    case "failed":
      return failed(outcome.failure);
    default:
      return failed(failure("repository", `a landing answered "${outcome.is}"`));
  }
}

/**
 * Keeps only what a landing says about its own members, because others can write to the repository. A member that the
 * answer does not mention is queued again; an answer that mentions none is an error, because it could repeat for ever.
 */
function accounted(state: RunState, job: LandJob, outcome: Outcome): Outcome {
  const own = new Set(job.members.map((m) => m.task));
  if (outcome.is === "gone" && !outcome.members.some((m) => own.has(m.task))) return SILENT;
  if (!("conflicts" in outcome)) return outcome;
  const conflicts = outcome.conflicts.filter((c) => own.has(c.task));
  const members = outcome.is === "unmergeable" ? [] : outcome.members.filter((m) => own.has(m.task));
  const silent = without(without(job.members, members), conflictMembers(state, conflicts));
  const speaks = members.length > 0 || (outcome.is === "unmergeable" && conflicts.length > 0);
  if (!speaks) return SILENT;
  const postponed = silent.map(({ task }) => ({ task, files: [], against: "batch" }) as const);
  const all = [...conflicts, ...postponed];
  return outcome.is === "unmergeable"
    ? { ...outcome, conflicts: all }
    : { ...outcome, members, conflicts: all };
}

const SILENT: Outcome = {
  is: "failed",
  failure: failure("repository", "a landing returned no result for its tasks"),
};

/** A candidate cannot land as it is. `drop`: its turn, if it was gated ahead of its turn. */
export const judged = (now: Now, outcome: FailedCandidate, drop: readonly number[] = []): readonly Fact[] =>
  outcome.is === "red"
    ? red(now, outcome, drop)
    : turned(now, { turn: keepPhase(now.state.landing.phase), conflicts: outcome.conflicts, drop });

/** The candidate leaves the train, and its members queue again, except those that the phase keeps. */
const leavingTrain = ({ landing: { phase } }: RunState, job: LandJob) => ({
  drop: job.moves === undefined ? (job.on ? [job.turn] : []) : [job.moves],
  back: without(job.members, membersOf(phase)),
  isAhead: job.on !== undefined,
});

/** The commits of these members are gone through no fault of the tasks, which are done again. Nothing was gated. */
function gone(now: Now, job: LandJob, members: readonly Member[]): readonly Fact[] {
  const { phase: before } = now.state.landing;
  const lost = job.members.filter(({ task }) => members.some((m) => m.task === task));
  const { phase, requeue } = leave(before, lost);
  const { back, ...rest } = leavingTrain(now.state, job);
  return withoutRepeats([
    ...lost.flatMap((m) => refuse(now, m, { failure: GONE, charge: "lost" })),
    ...turned(now, { turn: { phase, requeue: [...requeue, ...without(back, lost)], refuse: [] }, ...rest }),
  ]);
}

const GONE = failure(
  "repository",
  "what it had handed in is not in the repository any more: its commit or parts of it were removed",
  "let no `git gc --prune=now` or `git prune` run in the repository meanwhile",
);

function landed(now: Now, job: LandJob, outcome: Outcome & { readonly is: "landed" }): readonly Fact[] {
  const { landing, train } = now.state;
  const { is: _, conflicts, ...shown } = outcome;
  const { flaky, facts } = afterRedAndGreen(now.state);
  const of = train.length === 0 ? {} : { turn: job.moves ?? job.turn };
  return [
    { type: "batch.landed", ...shown, flaky, ...of },
    ...facts,
    ...turned(now, {
      turn: afterGreen(landing.phase, shown.members, now.policy.landing.gates),
      conflicts,
      landed: job.moves,
    }),
  ];
}

function red(now: Now, outcome: Outcome & { readonly is: "red" }, drop: readonly number[]): readonly Fact[] {
  const { state, policy } = now;
  const { members, failures, conflicts, leftovers, files = [] } = outcome;
  const named = pointedAt(members, files, ({ task }) => changedBy(state, task));
  const rest = withoutMembers(state.landing.phase, conflictMembers(state, conflicts));
  const targetIsRed = isKnownRed(state);
  // The gate may have failed only because of the set-up; or the target was green when this began, and is red now.
  const isVoid =
    state.setup.failure !== undefined || (targetIsRed && (rest.is === "bisect" || !isForRed(state, members)));
  const { gates } = policy.landing;
  const known = { targetIsRed, isFlaky: (name: string) => isFlaky(state, name), named, gates };
  const turn = isVoid
    ? backToQueue(rest.is === "open" ? members : membersOf(rest))
    : pastBase(now, rest, afterRed(rest, { members, failures, leftovers }, known));
  const detail = (outcome.detail ?? "").slice(-policy.brief.maxSummaryChars); // A tool says last what is wrong.
  const { stale } = outcome;
  const why = gateRed(`breaks the gate: ${failures.slice(0, 10).join(", ")}`, { detail, stale });
  return turned(now, { turn, conflicts, why, detail, stale, drop, isVerdict: true });
}

/**
 * If the base was checked while the red candidate was gated again, it need not be checked once more. Other failures of
 * a part of a bisection are new: the base must pass after that part was red.
 */
function pastBase({ state, policy: { landing } }: Now, before: Phase, turn: Turn): Turn {
  const { phase } = turn;
  const isPart = before.is === "bisect" && !before.isEarly;
  if (phase.is !== "base" || phase.onRed || isPart || !isBaseKnown(state, landing)) return turn;
  const next = afterBase(phase, [], { toHeal: [], gates: landing.gates });
  return { ...next, requeue: [...turn.requeue, ...next.requeue] };
}

function changedBy(state: RunState, id: TaskId): readonly string[] {
  const { state: now } = taskOf(state, id);
  return now.is === "landing" ? now.handoff.filesChanged : [];
}

function moved(now: Now, job: LandJob, to: Moved): readonly Fact[] {
  const { state, at, policy } = now;
  const found = unknown(state, to).flatMap((l) => l.members);
  const { phase, errors: before } = state.landing;
  const { drop, back } = leavingTrain(state, job);
  const turn = afterMove(phase, found);
  const requeue = [...turn.requeue, ...without(back, found)];
  const facts = targetMoved(state, to);
  // If others move the target again and again, wait longer each time.
  const errors = facts.some((f) => f.type === "target.moved") ? before + 1 : 0;
  const retryAt = errors > 1 ? at + backoffMs(policy.retry, errors, "moved") : at;
  return [...facts, ...turned(now, { turn: { ...turn, requeue }, errors, retryAt, drop })];
}

/** A lost job or another program has moved the target, perhaps back. Landings are found by their proofs. */
export function targetMoved(state: RunState, to: Moved): readonly Fact[] {
  const found = unknown(state, to);
  const ours = found.at(-1)?.commit === to.tip;
  return [
    ...lostLandings(state, to),
    ...found.flatMap((landing) => foundLanding(state, landing)),
    ...(ours ? [] : [{ type: "target.moved", tip: to.tip } as const]),
  ];
}

/** The landings among the lost commits by which a task counts as done. */
function lostLandings(state: RunState, { lost = [] }: Moved): readonly Fact[] {
  const gone = new Set(lost.filter((commit) => state.tips.has(commit) && !state.lost.has(commit)));
  if (gone.size === 0) return [];
  const members = new Map<string, Member[]>();
  for (const { id, state: end, tries } of state.tasks.values()) {
    if (end.is !== "done" || end.commit === undefined || !gone.has(end.commit)) continue;
    const of = members.get(end.commit) ?? [];
    members.set(end.commit, of);
    of.push({ task: id, attempt: tries.attempts });
  }
  return [...members].map(([commit, of]) => ({ type: "landing.lost", commit, members: of }));
}

/** Others can write proofs into the repository: a task that does not exist was not landed by this run. */
export const unknown = (state: RunState, { landings }: Moved): readonly FoundLanding[] =>
  landings
    .filter((l) => !state.tips.has(l.commit) || state.lost.has(l.commit))
    .map((l) => ({ ...l, members: l.members.filter((m) => state.tasks.has(m.task)) }));

/** An attempt that was thought lost is in the target, so a newer attempt of the same task is aborted. */
function foundLanding(state: RunState, { commit, members }: FoundLanding): readonly Fact[] {
  const aborted = members.flatMap(({ task }): Fact[] => {
    const job = runningJobOf(state, taskOf(state, task));
    return job ? [{ type: "job.ended", job, how: "aborted" }] : [];
  });
  return [...aborted, { type: "batch.landed", members, commit, proof: "found", flaky: [] }];
}

/** The repository or the machine failed, not the tasks: the landing is retried, but not for ever. */
function landFailed(
  now: Now,
  job: LandJob,
  { why, free }: { readonly why: Failure; readonly free: boolean },
): readonly Fact[] {
  const { state, at, policy } = now;
  const { phase, errors: before } = state.landing;
  // One outage ends all jobs that gate ahead: it counts once, by the job that may move the target.
  const errors = free || job.on ? before : before + 1;
  const { back, ...rest } = leavingTrain(state, job);
  if (errors >= policy.landing.maxErrorsInARow) {
    const over = failure("repository", `could not be landed: ${why.message}`, why.next);
    return withoutRepeats([
      ...job.members.flatMap((m) => failTask(state, m.task, over)),
      ...turned(now, { turn: keepPhase(withoutMembers(phase, job.members)), ...rest }),
    ]);
  }
  const retryAt = free ? at : at + backoffMs(policy.retry, Math.max(errors, 1), "land");
  // If only the engine was restarted, a candidate that has passed its gate can still land.
  const isKept = free && job.moves !== undefined;
  const turn = { phase, requeue: isKept ? [] : back, refuse: [] };
  return turned(now, {
    ...{ turn, errors, retryAt },
    ...(free ? {} : { problem: why }),
    ...(isKept ? {} : rest),
  });
}

/** A person says `resume`: what kept the run from landing may have been fixed, so the landing is retried at once. */
export function landingSeenTo({ state, at }: Now): readonly Fact[] {
  const { landing } = state;
  const { problem, ...rest } = landing;
  if (landing.retryAt <= at || isMoving(state)) return [];
  return [
    { type: "landing.turned", ...rest, retryAt: at, requeue: [], ...(problem && { failure: problem }) },
  ];
}

type Step = {
  readonly turn: Turn;
  readonly conflicts?: readonly Conflict[];
  /** Why the members of `turn.refuse` are refused. */
  readonly why?: Failure;
  readonly errors?: number;
  readonly retryAt?: number;
  /** The gate's output of this run. */
  readonly detail?: string;
  /** The dependencies installed for that gate run were not those that the tree asks for. */
  readonly stale?: string | undefined;
  /** Why the landing failed, if that is no task's fault. */
  readonly problem?: Failure;
  /** The job only gated: what is landing meanwhile goes on. */
  readonly isAhead?: boolean;
  /** The turns of candidates that leave the train. */
  readonly drop?: readonly number[] | undefined;
  /** The turn of the train's candidate that has landed. */
  readonly landed?: number | undefined;
  /** A gate gave a result: neither the members that queue again nor the target were found guilty. */
  readonly isVerdict?: boolean;
};

/**
 * The facts of one step. A conflict with the target is refused; one with the rest of the batch only queues again,
 * because the rest may not land. A task to be cancelled that did not land is cancelled now.
 */
export function turned(now: Now, step: Step): readonly Fact[] {
  const { state } = now;
  const { maxUndecided } = now.policy.landing;
  const { conflicts = [], errors = 0, retryAt = 0, problem, drop = [] } = step;
  // The candidate that is landing now is judged by its own result.
  const turn = isKnownRed(state) && !step.isAhead ? calledOff(state, step.turn) : step.turn;
  const clashes = conflicts.filter((c) => c.against === "target");
  const postponed = conflictMembers(
    state,
    conflicts.filter((c) => c.against === "batch"),
  );
  // The members of candidates built on this one queue again when those are discarded.
  const others = state.train.flatMap((one) => ([...drop, step.landed].includes(one.turn) ? [] : one.members));
  const back = without([...turn.requeue, ...postponed], others).filter(
    (m) => !isSettled(taskOf(state, m.task)),
  );
  const landingNow = step.isAhead ? (moverOf(state)?.members ?? []) : [];
  const stopped = without([...back, ...membersOf(turn.phase)], landingNow).filter(
    (m) => taskOf(state, m.task).cancelling,
  );
  const left = afterConflicts(turn.phase, conflictMembers(state, conflicts));
  const { phase, requeue } = leave(left.phase, stopped);
  const queued = without([...back, ...left.requeue, ...requeue], stopped);
  const isOpen = turn.phase.is === "open" && turn.refuse.length === 0;
  const doubted = step.isVerdict && isOpen ? without(queued, postponed) : [];
  const over = doubted.filter(({ task }) => (state.undecided.get(task) ?? 0) + 1 >= maxUndecided);
  const undecided = without(doubted, over).map((m) => m.task);
  const detail = phase.is === "open" ? undefined : (step.detail ?? state.landing.detail);
  const stale =
    phase.is === "open" ? undefined : step.detail === undefined ? state.landing.stale : step.stale;
  return withoutRepeats([
    ...turn.refuse.flatMap((m) => refuse(now, m, { failure: step.why!, charge: "refused" })),
    ...clashes.flatMap((c) =>
      refuse(now, memberOf(state, c), { failure: conflictFailure(c), charge: "refused" }),
    ),
    ...stopped.flatMap((m) => cancelled(state, m)),
    ...over.flatMap((m) => neverDecided(now, m)),
    {
      type: "landing.turned",
      phase,
      errors,
      retryAt,
      ...(detail ? { detail } : {}),
      ...(stale === undefined ? {} : { stale }),
      requeue: without(queued, over).map((m) => m.task),
      ...(problem && { failure: problem }),
      ...(drop.length > 0 && { drop }),
      ...(undecided.length > 0 && { undecided }),
    },
  ]);
}

/** A conflict may have removed the guilty member of an early bisection, so the last one left queues again. */
function afterConflicts(phase: Phase, gone: readonly Member[]): Turn {
  const rest = withoutMembers(phase, gone);
  const isLast = phase.is === "bisect" && rest.is === "base" && rest.members.length === 1;
  return isLast ? backToQueue(rest.members) : keepPhase(rest);
}

/** On a red target a bisection ends, because it compares with a green one, and ordinary tasks wait. */
function calledOff(state: RunState, turn: Turn): Turn {
  const { phase, requeue } = turn;
  if (phase.is === "open" || (phase.is !== "bisect" && isForRed(state, phase.members))) return turn;
  return { ...backToQueue([...requeue, ...membersOf(phase)]), refuse: turn.refuse };
}

/** On a red target one task at a time is judged, and only a task that may land there. */
export const isForRed = (state: RunState, members: readonly Member[]) =>
  members.length === 1 && members.every((m) => landsOnRed(state, taskOf(state, m.task)));

function refuse(
  now: Now,
  member: Member,
  why: { readonly failure: Failure; readonly charge: "refused" | "lost" },
): readonly Fact[] {
  const task = taskOf(now.state, member.task);
  if (isSettled(task)) return [];
  if (task.cancelling) return cancelled(now.state, member);
  const made = task.state.is === "landing" ? { handoff: task.state.handoff } : {};
  return attemptFailed(now, member, { ...why, ...made });
}

export const cancelled = (state: RunState, { task }: Member): readonly Fact[] => [
  { type: "task.cancelled", task, reason: "asked for while it was landing" },
  ...skipsAfter(state, task),
];

const conflictFailure = ({ files }: Conflict) =>
  failure(
    "conflict",
    `conflicts with the target in ${files.slice(0, 10).join(", ")}`,
    "make the change again on the current target",
  );

const conflictMembers = (state: RunState, conflicts: readonly Conflict[]): readonly Member[] =>
  conflicts.map((c) => memberOf(state, c));

function memberOf(state: RunState, { task: id }: Conflict): Member {
  const task = taskOf(state, id);
  return { task: id, attempt: task.state.is === "landing" ? task.state.attempt : task.tries.attempts };
}
