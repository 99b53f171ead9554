/** Decides when a planner's task is settled and when the run closes, and says what is left undone. */

import { type Failure, failure } from "../failure.ts";
import { failuresOf } from "../gate.ts";
import { boundHandoff } from "../handoff.ts";
import type { Fact, RunEnd } from "../log/event.ts";
import {
  isKnownRed,
  isVerified,
  LANE,
  landsOnRed,
  type RunState,
  takenBack,
  taskOf,
  wallTime,
} from "../log/state.ts";
import { isSettled, ROOT, type TaskId } from "../task.ts";
import { aggregate } from "./aggregate.ts";
import { isSpent } from "./budget.ts";
import { failTask, withoutRepeats } from "./consequences.ts";
import { givenUpBy, givenUpOf, givenUpText, openUndone } from "./given-up.ts";
import { parkedAccounts, refusedAccounts } from "./governor.ts";
import type { Policy } from "./policy.ts";

/** Settles planners that will not be asked again and have nothing active: their children's handoffs become one. */
export const settlePlanners = (state: RunState, policy: Policy): readonly Fact[] =>
  withoutRepeats([...state.toSettle].flatMap((id) => settlePlanner(state, id, policy)));

function settlePlanner(state: RunState, id: TaskId, policy: Policy): readonly Fact[] {
  const handoff = boundHandoff(aggregate(state, id), policy.brief);
  if (handoff.status === "complete" || handoff.status === "partial")
    return [{ type: "task.done", task: id, handoff }];
  const why = failure("children-failed", `none of it was done. ${handoff.summary}`);
  const [failed, ...skips] = failTask(state, id, why);
  const made = { handoff }; // Concerns and suggestions from below reach the planner above.
  return [{ ...failed!, ...made }, ...skips];
}

/** The facts that close the run, once nothing can change any more. */
export function closeRun(state: RunState, policy: Policy, now: number): readonly Fact[] {
  if (state.cancelling !== undefined) return closeCancelled(state);
  if (!isEnding(state, policy) || wantsFinalCheck(state, policy, now) || state.count.check > 0) return [];
  const root = taskOf(state, ROOT);
  const ended = isSettled(root) ? [] : endRoot(state, policy);
  const left = [
    ...ended.flatMap((f) => (f.type === "task.failed" ? [told(f.failure)] : [])),
    ...whatIsLeft(state, now),
  ];
  const nothing = ![...state.tasks.values()].some(({ state: { is }, spec }) => is === "done" && !spec.spawn);
  const how: RunEnd = left.length === 0 && !nothing ? "done" : nothing ? "failed" : "incomplete";
  const givenUp = givenUpOf(state);
  return [...ended, { type: "run.closed", how, left, ...(givenUp.length > 0 && { givenUp }) }];
}

function closeCancelled(state: RunState): readonly Fact[] {
  if (state.count.land > 0 || state.unsettled > 0 || !isSettled(taskOf(state, ROOT))) return [];
  const aborted = [...state.running.keys()].map(
    (job) => ({ type: "job.ended", job, how: "aborted" }) as const,
  );
  const unsure = state.target.unsure ? ["the target was not checked again: it may have moved"] : [];
  const left = [`cancelled: ${state.cancelling}`, ...unsure];
  return [...aborted, { type: "run.closed", how: "cancelled", left }];
}

/** Nothing is left to do except a last check of the target, and closing the run. */
export const isEnding = (state: RunState, policy: Policy): boolean =>
  state.count.land === 0 && (isOver(state) || isDrained(state, policy));

/** The planner is done or has given up, and every task is settled. */
export function isOver(state: RunState): boolean {
  const root = taskOf(state, ROOT);
  const planned = isSettled(root) || (root.state.is === "delegated" && root.state.over !== undefined);
  return planned && state.unsettled === 0;
}

/** The budget is spent, no job is running on it, and nothing that is finished can still land. */
function isDrained(state: RunState, policy: Policy): boolean {
  const { spent, count, dag, landing, train } = state;
  if (!spent.exhausted || count.plan + count.work > 0) return false;
  if (landing.phase.is !== "open" || train.length > 0) return false;
  if (!isSpent(state, policy) && isOwed(state, policy)) return false;
  if (state.unapproved.size > 0) return false; // A person may still let it land.
  const next = dag.peek(LANE.land);
  return next === undefined || (isKnownRed(state) && !landsOnRed(state, taskOf(state, next as TaskId)));
}

/**
 * There is something to do that may use the part of the budget reserved for landing: a refused task, or a red target to
 * repair.
 */
function isOwed(state: RunState, { sweep }: Policy): boolean {
  const { owed, repair, target } = state;
  const isOpen = (id: TaskId) => ["open", "waiting"].includes(taskOf(state, id).state.is);
  const canRepair = isKnownRed(state) && !repair.givenUp && target.checkErrors < sweep.maxErrorsInARow;
  return [...repair.pending, ...owed].some(isOpen) || canRepair;
}

/** True if the target must be checked once more before the run may close; false if a check could change nothing. */
export function wantsFinalCheck(state: RunState, policy: Policy, now: number): boolean {
  const { target, repair, request } = state;
  if (state.onlyAnswers) return false;
  if (target.checkErrors >= policy.sweep.maxErrorsInARow) return false;
  if (isVerified(state)) return !isSeen(state, now);
  if (target.unsure) return true;
  if (target.tip === request!.base && taskOf(state, ROOT).state.is === "failed") return false;
  const known = target.health === "red" && target.checkedTip === target.tip;
  return !(known && (repair.givenUp || isSpent(state, policy)));
}

/** The target was checked at this very moment. After an older check, landings may have been taken back. */
const isSeen = ({ target, tips }: RunState, now: number): boolean =>
  tips.size <= 1 || (target.checkErrors === 0 && target.checkedAt === now);

/** The root task's own end, by its children's ends. */
function endRoot(state: RunState, policy: Policy): readonly Fact[] {
  if (!state.planners.has(ROOT) || taskOf(state, ROOT).state.is !== "delegated") {
    return failTask(
      state,
      ROOT,
      failure(
        "budget",
        "the budget was spent before it was done, or is too small for a turn",
        "raise the budget (or lower budget.reserve) and start again: the target keeps what landed",
      ),
    );
  }
  return settlePlanner(state, ROOT, policy);
}

function whatIsLeft(state: RunState, now: number): readonly string[] {
  const root = taskOf(state, ROOT);
  const over = root.state.is === "delegated" ? root.state.over : undefined;
  return [
    ...(root.state.is === "failed" ? [told(root.state.failure)] : []),
    ...(over !== undefined && over !== "finished" ? [told(over)] : []),
    ...lostWhole(state),
    ...openUndone(state.planners.get(ROOT)),
    ...givenUpBy(state, ROOT).map(givenUpText),
    ...unsettledNames(state),
    ...(state.spent.exhausted
      ? ["the budget is spent: raise it and start again; the target keeps what landed"]
      : []),
    ...targetLeft(state, now),
  ];
}

/** Landings that were taken back, in a run without a planner. With a planner, they are its concerns. */
const lostWhole = (state: RunState): readonly string[] =>
  state.planners.has(ROOT)
    ? []
    : [...state.lost].flatMap(([commit, ids]) => ids.map((id) => takenBack(taskOf(state, id), commit)));

/** What happened, and what to try. */
const told = ({ message, next }: Failure) => (next === undefined ? message : `${message}: ${next}`);

function unsettledNames(state: RunState): readonly string[] {
  if (state.unsettled === 0) return [];
  const waits = troubleTexts(state);
  const open = state.tasks.values().filter((task) => !isSettled(task) && task.id !== ROOT);
  const names = open.take(10).map((task) => `${task.id} (${task.spec.key})`);
  const more = state.unsettled > 10 ? ` and ${state.unsettled - 10} more` : "";
  return [`not settled: ${[...names].join(", ")}${more}`, ...waits];
}

/** Accounts that unsettled tasks may be waiting for. */
const troubleTexts = (state: RunState): readonly string[] => [
  ...parkedAccounts(state).map(
    ({ account, until }) =>
      `waits for the quota of ${account} until ${new Date(wallTime(state, until)).toISOString()}`,
  ),
  ...refusedAccounts(state).map(
    ({ account, failure: why }) => `waits for the key of ${account}: ${told(why)}`,
  ),
];

/** How the entry begins that says that the gate fails on the target. */
export const TARGET_FAILS = "the gate fails on the target: ";

function targetLeft(state: RunState, now: number): readonly string[] {
  const { target } = state;
  if (state.onlyAnswers || (isVerified(state) && isSeen(state, now))) return [];
  if (target.checkedTip !== target.tip || target.health !== "red")
    return ["the target could not be checked as it stands"];
  const names = failuresOf(target.report);
  return [
    `${TARGET_FAILS}${names.slice(0, 10).join(", ")}${names.length > 10 ? ` and ${names.length - 10} more` : ""}`,
  ];
}
