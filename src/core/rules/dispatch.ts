/** Decides which planners and workers start now: the most urgent first, as capacity, budgets and accounts allow. */

import type { Job } from "../job.ts";
import type { Fact } from "../log/event.ts";
import { ScopeTable } from "../log/scope-table.ts";
import { isProposed, LANE, type RunState, taskOf } from "../log/state.ts";
import { isRepair, parentId, ROOT, type Task, type TaskId, type TaskSpec, topId } from "../task.ts";
import { affordable, isExhausted, isForLanding, lacking, overBudget, runningIn } from "./budget.ts";
import { chainTop } from "./chain.ts";
import { budgetSpent, withoutRepeats } from "./consequences.ts";
import { accountsOf, nextAccount } from "./governor.ts";
import { filesOf, isLoose } from "./held-files.ts";
import type { Policy } from "./policy.ts";

type Kind = "plan" | "work";
type Room = { plan: number; work: number };
type Candidate = { readonly kind: Kind; readonly task: Task };

export function agentJobs(
  state: RunState,
  policy: Policy,
  start: (job: Job) => Fact,
  { mayWork }: { readonly mayWork: boolean },
): readonly Fact[] {
  if (state.paused || state.cancelling !== undefined) return [];
  const exhausted = exhaustion(state, policy);
  if (exhausted) return [exhausted];
  const left = { work: affordable(state, policy, false), landing: affordable(state, policy, true) };
  const mayCall = openAccounts(state, policy);
  const room = roomIn(state, policy, mayCall);
  if (!mayWork) room.work = 0;
  const taken = new ScopeTable(); // What this pass gave or promised, and the state does not show yet.
  const running = policy.budget.subtree ? runningIn(state) : new Map<TaskId, number>();
  const facts: Fact[] = [];
  const over: Fact[] = [];
  const awaited = isProposed(state);
  for (const { kind, task } of left.work > 0 ? inOrder(state, room) : forLanding(state, room)) {
    const isLanding = isForLanding(task);
    // Fixes come first in every queue, and are not part of the plan.
    if (
      (isLanding ? left.landing : left.work) <= 0 ||
      (awaited && !isRepair(taskOf(state, chainTop(state, task))))
    )
      break;
    const top = topId(task.id) ?? ROOT;
    const inSubtree = running.get(top) ?? 0;
    const lacks = lacking(state, policy, task, inSubtree);
    // Running jobs of the subtree may give back part of their reserve.
    if (lacks === "task" || (lacks && inSubtree === 0))
      over.push(...budgetSpent(state, task, overBudget(lacks, state, task.id)));
    if (lacks || !mayCall(kind, task.spec)) continue;
    const scope = policy.overlap === "serialise" && takesFiles(task, kind) ? filesOf(task) : [];
    const rival = taken.blocker(scope, task.order) as TaskId | undefined;
    const held = rival ? parked(task, rival) : scope.length > 0 ? heldBack(state, task, kind) : undefined;
    if (rival || held) {
      taken.claim(task.id, scope, task.order);
      if (held) facts.push(held);
      continue;
    }
    taken.hold(task.id, scope, task.order);
    left.work -= 1;
    left.landing -= 1;
    room[kind] -= 1;
    running.set(top, inSubtree + 1);
    facts.push(start(jobFor(kind, task)));
  }
  return over.length > 0 ? withoutRepeats(over) : facts; // The next pass handles tasks that wait for failed ones.
}

/** A ready task cannot be paid for, and no running job could give its reserve back. */
function exhaustion(state: RunState, policy: Policy): Fact | undefined {
  if (state.spent.exhausted || !isExhausted(state, policy, false)) return undefined;
  const isLast = isExhausted(state, policy, true);
  const isWanted =
    state.dag.peek(LANE.plan) !== undefined ||
    state.dag.ready(LANE.work).some((id) => isLast || !isForLanding(taskOf(state, id as TaskId)));
  if (!isWanted) return undefined;
  const { tokens, microdollars } = state.spent;
  return { type: "budget.exhausted", spent: { tokens, microdollars } };
}

/** Whether one of a job's accounts can be called now; looked up once for each list of accounts. */
function openAccounts(
  state: RunState,
  policy: Policy,
): (kind: Kind, spec: Pick<TaskSpec, "agent">) => boolean {
  if (state.accounts.size === 0) return () => true;
  const known = new Map<readonly string[], boolean>();
  return (kind, spec) => {
    const chain = accountsOf(policy, kind, spec);
    const isOpen = known.get(chain) ?? nextAccount(state, chain).is === "free";
    known.set(chain, isOpen);
    return isOpen;
  };
}

/** If no specialist has accounts of its own, no task is searched for a kind whose account cannot be called. */
function roomIn(
  state: RunState,
  { capacity, accounts }: Policy,
  mayCall: ReturnType<typeof openAccounts>,
): Room {
  const isAlone = Object.keys(accounts.byAgent).length === 0;
  const roomFor = (kind: Kind) => (isAlone && !mayCall(kind, {}) ? 0 : capacity[kind] - state.count[kind]);
  return { plan: roomFor("plan"), work: roomFor("work") };
}

/** Fixes, and tasks that were refused a landing: there are few, so they need no lane of their own. */
function* forLanding(state: RunState, room: Room): Generator<Candidate, void> {
  const ids = [...new Set([...state.repair.pending, ...state.owed])];
  const tasks = ids.map((id) => underWayFor(state, id)).sort((a, b) => a.order - b.order);
  for (const task of tasks) {
    const isReady = state.dag.status(task.id) === "ready" && task.state.is !== "landing";
    if (room.work > 0 && isReady) yield { kind: "work", task };
  }
}

/** The task itself, or the subtask that it waits for. */
function underWayFor(state: RunState, id: TaskId): Task {
  const task = taskOf(state, id);
  const { state: now } = task;
  const isBelow = now.is === "waiting" && "subtask" in now.for && now.answering === undefined;
  return isBelow ? underWayFor(state, now.for.subtask) : task;
}

const jobFor = (kind: Kind, { id, tries }: Task): Job =>
  kind === "plan"
    ? { kind, task: id, turn: tries.turns + 1 }
    : { kind, task: id, attempt: tries.attempts + 1 };

/**
 * Holds a task back behind a sibling that got its files in this pass, or that comes before it. A task that already
 * holds its files must not wait for one that waits for them: the next pass handles that, and tasks of other planners.
 */
const parked = (task: Task, behind: TaskId): Fact | undefined =>
  takesAnew(task) && !isRepair(task) && parentId(task.id) === parentId(behind)
    ? { type: "task.held-back", task: task.id, behind, until: "settled" }
    : undefined;

/** The task was never dispatched, so it holds no files yet. */
const isFirst = ({ tries }: Task) => tries.attempts === 0 && tries.turns === 0;

/** The task holds no files yet, or gave them up. */
const takesAnew = (task: Task) => isFirst(task) || isLoose(task);

/** Ready tasks of both kinds, most urgent first, each kind as long as there is room for it. */
function* inOrder(state: RunState, room: Room): Generator<Candidate, void> {
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
      yield { kind: "plan", task: plan };
      plan = next(plans, room.plan);
    } else if (work) {
      yield { kind: "work", task: work };
      work = next(works, room.work);
    }
  }
}

/**
 * False for the root's planner and for a task that only answers its subtask, because they change no files. Also false
 * for a planner that is asked again: it has its files already, with its children at work on them.
 */
const takesFiles = ({ id, spec, tries, state }: Task, kind: Kind) =>
  spec.delivers === "change" &&
  state.is !== "waiting" &&
  (kind === "work" || (parentId(id) !== undefined && tries.turns === 0));

/**
 * Which task has the files: a sibling that was dispatched and is not settled, or any task that works on them now. A
 * task that was dispatched before holds its files already. A fix does not wait for tasks that cannot land before it.
 */
function heldBack(state: RunState, task: Task, kind: Kind): Fact | undefined {
  const { id, order } = task;
  const files = filesOf(task);
  const above = parentId(id);
  if (takesAnew(task) && !isRepair(task) && above !== undefined) {
    const behind = state.planners.get(above)?.held.blocker(files, order, id);
    if (behind !== undefined)
      return { type: "task.held-back", task: id, behind: behind as TaskId, until: "settled" };
  }
  if (kind === "plan") return undefined;
  const behind = state.atWork.blocker(files, order, id);
  return behind === undefined
    ? undefined
    : { type: "task.held-back", task: id, behind: behind as TaskId, until: "idle" };
}
