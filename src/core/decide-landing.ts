/** What follows from a land job? Landed, refused with the reason, or a step of the hunt for the culprit. */
import { attemptFailed, failTask, skipsAfter, withoutRepeats } from "./consequences.ts";
import type { Fact } from "./event.ts";
import { type Failure, failure } from "./failure.ts";
import { isOwn } from "./gate.ts";
import type { Conflict, Ended, FoundLanding, Job, Member, Moved, Outcome } from "./job.ts";
import {
  afterGreen,
  afterMove,
  afterRed,
  leave,
  membersOf,
  OPEN,
  pointedAt,
  type Turn,
  without,
  withoutMembers,
} from "./landing.ts";
import { backoffMs, type Rules } from "./policy.ts";
import {
  isFlaky,
  isKnownRed,
  type Landing,
  landsOnRed,
  type RunState,
  runningJobOf,
  taskOf,
} from "./state.ts";
import { isSettled, type TaskId } from "./task.ts";

type LandJob = Job & { readonly kind: "land" };

export function decideLand(state: RunState, job: LandJob, ended: Ended, rules: Rules): readonly Fact[] {
  const outcome = accounted(state, job, ended.outcome);
  const failed = (why: Failure) => landFailed(state, job, { why, free: ended.free }, rules);
  switch (outcome.is) {
    case "landed":
      return landed(state, outcome, rules);
    case "red":
      return red(state, outcome, rules);
    case "unmergeable":
      return turned(state, { turn: stay(state), conflicts: outcome.conflicts }, rules);
    case "gone":
      return gone(state, job, outcome.members, rules);
    case "moved":
      return outcome.tip === state.target.tip
        ? failed(failure("repository", `the target is still at ${outcome.tip}`))
        : moved(state, job, outcome, rules);
    case "failed":
      return failed(outcome.failure);
    default:
      return failed(failure("repository", `a landing answered "${outcome.is}"`));
  }
}

/**
 * What a landing says, about the members it had and the tasks there are: the repository can be written by others.
 * Whom it does not speak of is queued again; one that speaks of nobody is an error, or it would go on for ever.
 */
function accounted(state: RunState, job: LandJob, outcome: Outcome): Outcome {
  const own = new Set(job.members.map((m) => m.task));
  if (outcome.is === "gone" && !outcome.members.some((m) => own.has(m.task))) return SILENT;
  if (outcome.is !== "landed" && outcome.is !== "red" && outcome.is !== "unmergeable") return outcome;
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
  failure: failure("repository", "a landing said nothing of its tasks"),
};

/** What they had handed in is gone, by no fault of theirs: it is made again. Whoever was with them was not gated. */
function gone(state: RunState, job: LandJob, members: readonly Member[], rules: Rules): readonly Fact[] {
  const lost = job.members.filter(({ task }) => members.some((m) => m.task === task));
  const { phase, requeue } = leave(state.landing.phase, lost);
  const back = state.landing.phase.is === "open" ? without(job.members, lost) : requeue;
  return withoutRepeats([
    ...lost.flatMap((m) => refuse(state, m, GONE, rules, "lost")),
    ...turned(state, { turn: { phase, requeue: back, refuse: [] }, conflicts: [] }, rules),
  ]);
}

const GONE = failure(
  "repository",
  "what it had handed in is not in the repository any more: its commit or parts of it were removed",
  "let no `git gc --prune=now` or `git prune` run in the repository meanwhile",
);

function landed(
  state: RunState,
  outcome: Outcome & { readonly is: "landed" },
  rules: Rules,
): readonly Fact[] {
  const { phase } = state.landing;
  const { commit, members, proof, conflicts } = outcome;
  const flaky = phase.is === "again" ? phase.failures.filter(isOwn) : []; // Red, and then green on the same tree.
  return [
    { type: "batch.landed", members, commit, proof, flaky },
    ...turned(state, { turn: afterGreen(phase, members), conflicts }, rules),
  ];
}

function red(state: RunState, outcome: Outcome & { readonly is: "red" }, rules: Rules): readonly Fact[] {
  const { phase } = state.landing;
  const { members, failures, conflicts, files = [] } = outcome;
  const named = pointedAt(members, files, ({ task }) => changedBy(state, task));
  const rest = withoutMembers(phase, conflictMembers(state, conflicts));
  const targetIsRed = isKnownRed(state);
  // Begun when the target was green: by now nobody can tell whose failures these are.
  const isStill = state.setup.failure !== undefined; // The gate may have been red for that alone.
  const isVoid = isStill || (targetIsRed && (rest.is === "hunt" || !isForRed(state, members)));
  const turn = isVoid
    ? { phase: OPEN, requeue: rest.is === "open" ? members : membersOf(rest), refuse: [] }
    : afterRed(rest, members, failures, { targetIsRed, isFlaky: (name) => isFlaky(state, name), named });
  const detail = end(outcome.detail ?? "", rules);
  const why = gateRed(`the gate is red with it: ${failures.slice(0, 10).join(", ")}`, detail);
  return turned(state, { turn, conflicts, why, detail }, rules);
}

function changedBy(state: RunState, id: TaskId): readonly string[] {
  const { state: now } = taskOf(state, id);
  return now.is === "landing" ? now.handoff.filesChanged : [];
}

/** A tool says last what is wrong. */
const end = (text: string, { policy }: Rules) => text.slice(-policy.brief.maxSummaryChars);

/** What the gate wrote goes along, so that the next attempt need not guess. */
export const gateRed = (message: string, detail: string | undefined): Failure => ({
  ...failure("gate-red", message, "make the gate pass on the current target"),
  ...(detail ? { detail } : {}),
});

function moved(state: RunState, job: LandJob, to: Moved, rules: Rules): readonly Fact[] {
  const found = unknown(state, to).flatMap((l) => l.members);
  const { phase } = state.landing;
  const turn =
    phase.is === "open"
      ? { phase, requeue: without(job.members, found), refuse: [] }
      : afterMove(phase, found);
  const facts = targetMoved(state, to);
  // Somebody who moves it again and again is given room, longer each time.
  const errors = facts.some((f) => f.type === "target.moved") ? state.landing.errors + 1 : 0;
  const retryAt = errors > 1 ? rules.at + backoffMs(rules.policy.retry, errors, "moved") : rules.at;
  return [...facts, ...turned(state, { turn, conflicts: [], errors, retryAt }, rules)];
}

/**
 * A lost job had moved the target, or somebody else did, perhaps back to where it was. What landed is found by
 * its proof.
 */
export function targetMoved(state: RunState, to: Moved): readonly Fact[] {
  const found = unknown(state, to);
  const ours = found.at(-1)?.commit === to.tip;
  return [
    ...lostLandings(state, to),
    ...found.flatMap((landing) => foundLanding(state, landing)),
    ...(ours ? [] : [{ type: "target.moved", tip: to.tip } as const]),
  ];
}

/** Of what is gone, the landings by which a task is done. */
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

/** Proofs in the repository can be written by others: a task that does not exist was not landed by us. */
export const unknown = (state: RunState, { landings }: Moved): readonly FoundLanding[] =>
  landings
    .filter((l) => !state.tips.has(l.commit) || state.lost.has(l.commit))
    .map((l) => ({ ...l, members: l.members.filter((m) => state.tasks.has(m.task)) }));

/** An attempt that was thought lost is in the target: a newer one of the same task is not needed any more. */
function foundLanding(state: RunState, { commit, members }: FoundLanding): readonly Fact[] {
  const aborted = members.flatMap(({ task }): Fact[] => {
    const job = runningJobOf(state, taskOf(state, task));
    return job ? [{ type: "job.ended", job, how: "aborted" }] : [];
  });
  return [...aborted, { type: "batch.landed", members, commit, proof: "found", flaky: [] }];
}

/** The repository or the machine, not the tasks: tried again, but not for ever. */
function landFailed(
  state: RunState,
  job: LandJob,
  { why, free }: { readonly why: Failure; readonly free: boolean },
  rules: Rules,
): readonly Fact[] {
  const errors = free ? state.landing.errors : state.landing.errors + 1;
  if (errors >= rules.policy.landing.maxErrorsInARow) {
    const phase = withoutMembers(state.landing.phase, job.members);
    return withoutRepeats([
      ...job.members.flatMap((m) =>
        failTask(state, m.task, failure("repository", `could not be landed: ${why.message}`, why.next)),
      ),
      ...turned(state, { turn: { phase, requeue: [], refuse: [] }, conflicts: [] }, rules),
    ]);
  }
  const retryAt = free ? rules.at : rules.at + backoffMs(rules.policy.retry, errors, "land");
  const back = state.landing.phase.is === "open" ? job.members : [];
  const problem = free ? {} : { problem: why };
  const turn = { ...stay(state), requeue: back };
  return turned(state, { turn, conflicts: [], errors, retryAt, ...problem }, rules);
}

/** A person says that the run should go on: what kept it from landing may have been put right. */
export function landingSeenTo({ landing, count }: RunState, at: number): readonly Fact[] {
  const { problem, ...rest } = landing;
  if (landing.retryAt <= at || count.land > 0) return [];
  const failed = problem ? { failure: problem } : {};
  return [{ type: "landing.turned", ...rest, retryAt: at, requeue: [], ...failed }];
}

type Step = {
  readonly turn: Turn;
  readonly conflicts: readonly Conflict[];
  /** Why `turn.refuse` is refused. */
  readonly why?: Failure;
  readonly errors?: number;
  readonly retryAt?: number;
  /** What the gate wrote just now. */
  readonly detail?: string;
  /** Why nothing came of it, where that is nobody's fault. */
  readonly problem?: Failure;
};

/**
 * The facts of one step. A conflict with the target is refused; one with the rest of the batch is only queued
 * again, because the rest may not land. Who was to be cancelled and did not land, is cancelled now.
 */
export function turned(state: RunState, step: Step, rules: Rules): readonly Fact[] {
  const { conflicts } = step;
  const turn = isKnownRed(state) ? calledOff(state, step.turn) : step.turn;
  const conflicting = conflictMembers(state, conflicts);
  const clashes = conflicts.filter((c) => c.against === "target");
  const postponed = conflictMembers(
    state,
    conflicts.filter((c) => c.against === "batch"),
  );
  const back = [...turn.requeue, ...postponed].filter((m) => !isSettled(taskOf(state, m.task)));
  const stopped = [...back, ...membersOf(turn.phase)].filter((m) => taskOf(state, m.task).cancelling);
  const rest = leave(withoutMembers(turn.phase, conflicting), stopped);
  const detail = rest.phase.is === "open" ? undefined : (step.detail ?? state.landing.detail);
  const landing: Landing = {
    phase: rest.phase,
    errors: step.errors ?? 0,
    retryAt: step.retryAt ?? 0,
    ...(detail ? { detail } : {}),
  };
  const requeue = without([...back, ...rest.requeue], stopped);
  const problem = step.problem ? { failure: step.problem } : {};
  return withoutRepeats([
    ...turn.refuse.flatMap((m) => refuse(state, m, step.why!, rules)),
    ...clashes.flatMap((c) => refuse(state, memberOf(state, c), conflictOf(c), rules)),
    ...stopped.flatMap((m) => cancelled(state, m)),
    { type: "landing.turned", ...landing, requeue: requeue.map((m) => m.task), ...problem },
  ]);
}

/** A hunt compares with a green target, and ordinary tasks wait for one. */
function calledOff(state: RunState, turn: Turn): Turn {
  const { phase, requeue } = turn;
  if (phase.is === "open" || (phase.is !== "hunt" && isForRed(state, phase.members))) return turn;
  return { ...turn, phase: OPEN, requeue: [...requeue, ...membersOf(phase)] };
}

/** What is judged on a red target: one task alone, and one that may land there. */
export const isForRed = (state: RunState, members: readonly Member[]) =>
  members.length === 1 && members.every((m) => landsOnRed(state, taskOf(state, m.task)));

function refuse(
  state: RunState,
  { task: id, attempt }: Member,
  why: Failure,
  rules: Rules,
  charge: "refused" | "lost" = "refused",
): readonly Fact[] {
  const task = taskOf(state, id);
  if (isSettled(task)) return [];
  if (task.cancelling) return cancelled(state, { task: id, attempt });
  const made = task.state.is === "landing" ? { handoff: task.state.handoff } : {};
  return attemptFailed(state, task, attempt, { failure: why, charge, ...made }, rules);
}

const cancelled = (state: RunState, { task }: Member): readonly Fact[] => [
  { type: "task.cancelled", task, reason: "asked for while it was landing" },
  ...skipsAfter(state, task),
];

const conflictOf = ({ files }: Conflict) =>
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

const stay = (state: RunState): Turn => ({ phase: state.landing.phase, requeue: [], refuse: [] });
