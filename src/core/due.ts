/** What should be so and is not? The only place that chooses what comes next: jobs to start, ends to declare. */
import { affordable, isExhausted } from "./budget.ts";
import type { Fact } from "./event.ts";
import { closeRun, isDrained, isOver, settlePlanners, wantsFinalCheck } from "./finish.ts";
import type { Job } from "./job.ts";
import { nextMembers } from "./landing-queue.ts";
import { backoffMs, type Policy } from "./policy.ts";
import { sweepDelayMs } from "./repair.ts";
import { ScopeTable } from "./scope-table.ts";
import { isKnownRed, isProposed, LANE, type RunState, taskOf } from "./state.ts";
import { isRepair, parentId, type Task, type TaskId } from "./task.ts";

/** `facts` hold now, until there are none; then nothing changes before `deadline` unless something arrives. */
export type Due = { readonly facts: readonly Fact[]; readonly deadline: number | undefined };

export function due(state: RunState, policy: Policy, now: number): Due {
  if (!state.request || state.closed) return { facts: [], deadline: undefined };
  const ends = settlePlanners(state, policy);
  if (ends.length > 0) return { facts: ends, deadline: now };
  const closing = closeRun(state, policy);
  if (closing.length > 0) return { facts: closing, deadline: undefined };

  const start = (job: Job): Fact => ({ type: "job.started", job, until: now + policy.leaseMs[job.kind] });
  const facts = [
    ...checkJobs(state, policy, now).map(start),
    ...landJobs(state, policy, now).map(start),
    ...agentJobs(state, policy, start),
  ];
  return { facts, deadline: nextDeadline(state, policy, now) };
}

function nextDeadline(state: RunState, policy: Policy, now: number): number | undefined {
  const times = [state.deadlines.next(), state.landing.retryAt, sweepAt(state, policy)];
  const ahead = times.filter((at) => at !== undefined && at > now) as number[];
  const first = state.deadlines.next();
  // A lease or a wait that is over already is due at once; the other two are looked at by every call.
  if (first !== undefined && first <= now) return now;
  return ahead.length === 0 ? undefined : Math.min(...ahead);
}

function checkJobs(state: RunState, policy: Policy, now: number): readonly Job[] {
  if (state.count.check > 0 || state.cancelling !== undefined) return [];
  const at = sweepAt(state, policy);
  return at !== undefined && at <= now ? [{ kind: "check", turn: state.turns.check + 1 }] : [];
}

/** When the target must be looked at next; undefined if there is no reason to. */
function sweepAt(state: RunState, policy: Policy): number | undefined {
  const { target, repair, cancelling } = state;
  const { checkedAt, checkErrors, greensInARow } = target;
  if (cancelling !== undefined) return undefined;
  if (checkErrors > 0) {
    const few = checkErrors < policy.sweep.maxErrorsInARow;
    return checkedAt + (few ? backoffMs(policy.retry, checkErrors, "check") : policy.sweep.greenMs);
  }
  if (isUrgent(state, policy)) return checkedAt;
  const green = target.health === "green";
  // Nothing can be mended while the run is paused: looking again would only burn the gate.
  if (state.paused && target.checkedTip === target.tip) return undefined;
  const canChange = target.checkedTip !== target.tip || (!green && !repair.givenUp && !state.spent.exhausted);
  return canChange ? checkedAt + sweepDelayMs({ green, greensInARow }, policy.sweep) : undefined;
}

/** Somebody waits for the answer. */
function isUrgent(state: RunState, policy: Policy): boolean {
  const { target, landing } = state;
  if (target.health === "unknown" || target.health === "suspect") return true;
  if (landing.phase.is === "base" || target.baseMoved) return true;
  const news = target.checkedTip !== target.tip;
  // What a lost landing did is found out by the next one, and at the end, when there is none, by a look.
  const ending = state.count.land === 0 && (isOver(state) || isDrained(state));
  return (
    (news && target.health === "red") || (ending && (news || target.unsure) && wantsFinalCheck(state, policy))
  );
}

/** One at a time: each candidate is built on the target that the one before it left. */
function landJobs(state: RunState, policy: Policy, now: number): readonly Job[] {
  const { landing, count, turns } = state;
  if (count.land > 0 || now < landing.retryAt || state.cancelling !== undefined) return [];
  const members = mayLand(state, policy) ? nextMembers(state, policy) : [];
  return members.length === 0 ? [] : [{ kind: "land", turn: turns.land + 1, members }];
}

/**
 * Nothing lands before the target is known; on a red one only what may, see `nextMembers`. What a red target
 * fails must be known as it stands, or a failure that was healed could come back unseen. Where it cannot be
 * checked, a candidate that is green is proof enough.
 */
function mayLand(state: RunState, policy: Policy): boolean {
  const { target, landing } = state;
  if (landing.phase.is === "base") return false;
  if (target.health === "green" || isKnownRed(state)) return true;
  return target.checkErrors >= policy.sweep.maxErrorsInARow;
}

/** Plan and work jobs, most urgent first, as many as capacity and budget allow. */
function agentJobs(state: RunState, policy: Policy, start: (job: Job) => Fact): readonly Fact[] {
  if (state.paused || state.cancelling !== undefined || state.spent.exhausted) return [];
  const wanted = state.dag.peek(LANE.plan) ?? state.dag.peek(LANE.work);
  if (wanted === undefined) return [];
  if (isExhausted(state, policy)) {
    const { tokens, microdollars } = state.spent;
    return [{ type: "budget.exhausted", spent: { tokens, microdollars } }];
  }
  const { capacity } = policy;
  const room = { plan: capacity.plan - state.count.plan, work: capacity.work - state.count.work };
  const taken = new ScopeTable(); // What this pass has given away, or promised, and the state does not show yet.
  const facts: Fact[] = [];
  let left = affordable(state, policy);
  const awaited = isProposed(state);
  for (const { kind, task } of inOrder(state, room)) {
    // Fixes come first in every queue, and are no part of the plan.
    if (left <= 0 || (awaited && !isRepair(task))) break;
    const scope = policy.overlap === "serialise" && takesFiles(task, kind) ? task.spec.scope : [];
    const rival = taken.blocker(scope, task.order) as TaskId | undefined;
    const held = rival ? parked(task, rival) : scope.length > 0 ? heldBack(state, task, kind) : undefined;
    if (rival || held) {
      taken.claim(task.id, scope, task.order);
      if (held) facts.push(held);
      continue;
    }
    taken.hold(task.id, scope, task.order);
    left -= 1;
    room[kind] -= 1;
    facts.push(start(jobFor(kind, task)));
  }
  return facts;
}

const jobFor = (kind: "plan" | "work", { id, tries }: Task): Job =>
  kind === "plan"
    ? { kind, task: id, turn: tries.turns + 1 }
    : { kind, task: id, attempt: tries.attempts + 1 };

/**
 * Behind a sibling that got the files in this pass, or comes before it. Who holds its files already must not wait
 * for one that waits for them: the next pass sees to it, and to those of other planners.
 */
const parked = (task: Task, behind: TaskId): Fact | undefined =>
  isFirst(task) && !isRepair(task) && parentId(task.id) === parentId(behind)
    ? { type: "task.held-back", task: task.id, behind, until: "settled" }
    : undefined;

/** It was never dispatched, so it holds no files yet. */
const isFirst = ({ tries }: Task) => tries.attempts === 0 && tries.turns === 0;

/** Ready tasks of both kinds, most urgent first, each kind for as long as there is room for it. */
function* inOrder(state: RunState, room: { readonly plan: number; readonly work: number }) {
  const plans = state.dag.ready(LANE.plan);
  const works = state.dag.ready(LANE.work);
  const next = (ready: Iterator<string>, free: number) => {
    const id = free > 0 ? ready.next().value : undefined;
    return id === undefined ? undefined : taskOf(state, id as TaskId);
  };
  let plan = next(plans, room.plan);
  let work = next(works, room.work);
  while (plan || work) {
    if (plan && (!work || plan.order < work.order)) {
      yield { kind: "plan", task: plan } as const;
      plan = next(plans, room.plan);
    } else if (work) {
      yield { kind: "work", task: work } as const;
      work = next(works, room.work);
    }
  }
}

/**
 * The root's planner writes nothing, and one that is asked again has its files already, with its children at work
 * on them.
 */
const takesFiles = ({ id, spec, tries }: Task, kind: "plan" | "work") =>
  spec.delivers === "change" && (kind === "work" || (parentId(id) !== undefined && tries.turns === 0));

/**
 * Who has the files? A sibling that was dispatched and is not settled; and, whoever it is, someone at work on
 * them now. A task that was dispatched before holds its files already, and a fix does not wait for those who
 * cannot land before it.
 */
function heldBack(state: RunState, task: Task, kind: "plan" | "work"): Fact | undefined {
  const { id, order, spec } = task;
  const above = parentId(id);
  if (isFirst(task) && !isRepair(task) && above !== undefined) {
    const behind = state.planners.get(above)?.held.blocker(spec.scope, order, id);
    if (behind !== undefined)
      return { type: "task.held-back", task: id, behind: behind as TaskId, until: "settled" };
  }
  if (kind === "plan") return undefined;
  const behind = state.atWork.blocker(spec.scope, order, id);
  return behind === undefined
    ? undefined
    : { type: "task.held-back", task: id, behind: behind as TaskId, until: "idle" };
}
