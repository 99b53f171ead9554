/** What should be so and is not? The only place that chooses what comes next: jobs to start, ends to declare. */
import { affordable, isExhausted } from "./budget.ts";
import type { Fact } from "./event.ts";
import { closeRun, isDrained, isOver, settlePlanners, wantsFinalCheck } from "./finish.ts";
import type { Job, Member } from "./job.ts";
import { prescribed } from "./landing.ts";
import { backoffMs, type Policy } from "./policy.ts";
import { sweepDelayMs } from "./repair.ts";
import { ScopeTable } from "./scope-table.ts";
import { isKnownRed, LANE, landsOnRed, type RunState, taskOf } from "./state.ts";
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
  const canChange = target.checkedTip !== target.tip || (!green && !repair.givenUp && !state.spent.exhausted);
  return canChange ? checkedAt + sweepDelayMs({ green, greensInARow }, policy.sweep) : undefined;
}

/** Somebody waits for the answer. */
function isUrgent(state: RunState, policy: Policy): boolean {
  const { target, landing } = state;
  if (target.health === "unknown" || target.health === "suspect") return true;
  if (landing.phase.is === "base" || target.baseMoved) return true;
  const news = target.checkedTip !== target.tip;
  const ending = isOver(state) || isDrained(state);
  return news && (target.health === "red" || (ending && wantsFinalCheck(state, policy)));
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

/** By priority, then age. On a red target a fix alone; once repair was given up, anyone, one by one. */
function nextMembers(state: RunState, policy: Policy): readonly Member[] {
  const { landing, dag } = state;
  const next = prescribed(landing.phase);
  if (next) return next;
  const red = isKnownRed(state);
  const max =
    red || policy.landing.strategy !== "merge-commit" ? 1 : Math.min(landing.batch, policy.landing.maxBatch);
  const members: Member[] = [];
  for (const id of dag.ready(LANE.land)) {
    const task = taskOf(state, id as TaskId);
    if (members.length >= max || (red && !landsOnRed(state, task))) break;
    if (task.state.is === "landing") members.push({ task: task.id, attempt: task.state.attempt });
  }
  return members;
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
  const pass: Pass = { taken: new ScopeTable(), left: affordable(state, policy) };
  return [
    ...pick(state, policy, pass, { lane: LANE.plan, room: policy.capacity.plan - state.count.plan }, (task) =>
      start({ kind: "plan", task: task.id, turn: task.tries.turns + 1 }),
    ),
    ...pick(state, policy, pass, { lane: LANE.work, room: policy.capacity.work - state.count.work }, (task) =>
      start({ kind: "work", task: task.id, attempt: task.tries.attempts + 1 }),
    ),
  ];
}

/** What this pass has given away and the state does not show yet. */
type Pass = { readonly taken: ScopeTable; left: number };

function pick(
  state: RunState,
  policy: Policy,
  pass: Pass,
  { lane, room }: { readonly lane: number; readonly room: number },
  start: (task: Task) => Fact,
): readonly Fact[] {
  const facts: Fact[] = [];
  let free = room;
  if (free <= 0 || pass.left <= 0) return facts;
  for (const id of state.dag.ready(lane)) {
    if (free <= 0 || pass.left <= 0) break;
    const task = taskOf(state, id as TaskId);
    const scope = holdsFiles(task) && policy.overlap === "serialise" ? task.spec.scope : [];
    if (pass.taken.blocker(scope, task.order) !== undefined) continue; // The next pass sees who took it.
    const held = scope.length > 0 ? heldBack(state, task, lane) : undefined;
    if (held) {
      facts.push(held);
      continue;
    }
    pass.taken.hold(id, scope, task.order);
    pass.left -= 1;
    free -= 1;
    facts.push(start(task));
  }
  return facts;
}

const holdsFiles = (task: Task) => task.spec.delivers === "change" && parentId(task.id) !== undefined;

/**
 * Who has the files? A sibling that was dispatched and is not settled; and, whoever it is, someone at work on
 * them now. A task that was dispatched before holds its files already, and a fix does not wait for those who
 * cannot land before it.
 */
function heldBack(state: RunState, task: Task, lane: number): Fact | undefined {
  const { id, order, spec, tries } = task;
  const first = tries.attempts === 0 && tries.turns === 0;
  if (first && !isRepair(task)) {
    const behind = state.planners.get(parentId(id)!)?.held.blocker(spec.scope, order, id);
    if (behind !== undefined)
      return { type: "task.held-back", task: id, behind: behind as TaskId, until: "settled" };
  }
  if (lane !== LANE.work) return undefined;
  const behind = state.atWork.blocker(spec.scope, order, id);
  return behind === undefined
    ? undefined
    : { type: "task.held-back", task: id, behind: behind as TaskId, until: "idle" };
}
