/** Combines the results of a task's children into one handoff, with the names that its planner gave. */

import {
  aggregateHandoffs,
  aggregateStatus,
  createFailureHandoff,
  type Handoff,
  type HandoffStatus,
  NO_METRICS,
} from "../handoff.ts";
import { isDeclined, type Planner, type RunState, taskOf } from "../log/state.ts";
import { contains, overlaps } from "../scope.ts";
import { childId, ROOT, type Task, type TaskId } from "../task.ts";
import { givenUpBy, replacementsBy } from "./given-up.ts";

/** Counts and tells every child. The whole is complete only if nothing is undone that no other task made good. */
export function aggregate(state: RunState, id: TaskId): Handoff {
  const task = taskOf(state, id);
  const planner = state.planners.get(id)!;
  const children = childrenOf(state, id);
  const fates = fatesOf(state, planner, id);
  const handoffs = children.map((child) => partOf(state, child, fates(child)));
  const names = handoffs.map(({ taskId }) => ({ id: taskId }));
  const parts = aggregateHandoffs({ id, description: task.spec.description }, names, handoffs);
  const counting = handoffs.filter((_, i) => isAskedFor(children[i]!, fates(children[i]!)));
  const whole = withUntouched({ ...parts, status: statusOf(counting) }, task, planner, children);
  // A part of a part is done, which is more than "blocked".
  const landed = whole.status === "blocked" && children.some((child) => child.state.is === "done");
  const over = task.state.is === "delegated" ? task.state.over : undefined;
  if (over === undefined || over === "finished") return landed ? { ...whole, status: "partial" } : whole;
  const status = landed || whole.status === "complete" ? "partial" : whole.status;
  return { ...whole, status, concerns: [...whole.concerns, over.message] };
}

/** All children, except those of a plan that a person declined. */
const childrenOf = (state: RunState, id: TaskId): readonly Task[] =>
  Array.from({ length: state.planners.get(id)?.children ?? 0 }, (_, i) =>
    taskOf(state, childId(id, i + 1)),
  ).filter((child) => !isDeclined(state, child));

function statusOf(handoffs: readonly Handoff[]): HandoffStatus {
  const count = (status: HandoffStatus) => handoffs.filter((one) => one.status === status).length;
  return aggregateStatus(handoffs.length, count("complete"), count("failed"));
}

/** What its planner knows of a child besides its end. */
type Fate = {
  /** It left something undone that no other task made good. */
  readonly isLacking: boolean;
  /** In words: "replaced by x", "given up: …". */
  readonly words: readonly string[];
  /** Concerns that it reported and that are open. */
  readonly concerns: readonly string[];
};

/** Concerns about a landing that was taken back reach the root's planner from any depth below it. */
function fatesOf(state: RunState, planner: Planner, id: TaskId): (child: Task) => Fate {
  const childOf = (from: TaskId) => from.split(".", id.split(".").length + 1).join(".");
  const open = Map.groupBy(planner.concerns.values(), ({ from }) => childOf(from));
  const givenUp = Map.groupBy(givenUpBy(state, id), ({ concern }) => childOf(concern.from));
  const replacements = replacementsBy(state, planner);
  return (child) => {
    const own = open.get(child.id) ?? [];
    const lost = givenUp.get(child.id) ?? [];
    const replacement = replacements.get(child.id);
    return {
      isLacking: lost.length > 0 || own.some(({ kind }) => kind === "undone"),
      words: [
        ...(replacement ? [`replaced by ${replacement.spec.key}`] : []),
        ...lost.map(({ reason }) => `given up: ${reason}`),
      ],
      concerns: own.flatMap(({ kind, text }) => (kind === "said" ? [text] : [])),
    };
  };
}

function partOf(state: RunState, child: Task, { isLacking, words, concerns }: Fate): Handoff {
  const handoff = endedHandoff(state, child);
  const isDone = child.state.is === "done";
  return {
    ...handoff,
    taskId: child.spec.key,
    ...(isDone && { status: isLacking ? ("partial" as const) : ("complete" as const) }),
    summary: words.length === 0 ? handoff.summary : `${handoff.summary} (${words.join("; ")})`,
    concerns,
  };
}

/**
 * Excludes tasks that a person cancelled, tasks replaced by others, and failed fixes: the target shows whether a fix is
 * still needed.
 */
function isAskedFor({ state: { is } }: Task, { isLacking }: Fate): boolean {
  return is === "failed" || is === "skipped" ? isLacking : is !== "cancelled";
}

/**
 * Adds concerns about files of a subplanner's scope that were in no task, if anything was done at all. Without a stated
 * reason for each, the whole is not complete.
 */
function withUntouched(whole: Handoff, task: Task, planner: Planner, children: readonly Task[]): Handoff {
  if (task.id === ROOT || !children.some(({ state }) => state.is === "done")) return whole;
  const touched = children.flatMap((child) => child.spec.scope);
  const untouched = task.spec.scope.filter((path) => !overlaps([path], touched));
  if (untouched.length === 0) return whole;
  const reasonFor = (path: string) => planner.deferred.findLast((d) => contains(d.files, path))?.reason;
  const texts = untouched.map((path) => {
    const reason = reasonFor(path);
    return reason === undefined ? `${path} was in no task` : `${path} was deferred: ${reason}`;
  });
  const forgotten = untouched.some((path) => reasonFor(path) === undefined);
  const status = forgotten && whole.status === "complete" ? "partial" : whole.status;
  return { ...whole, status, concerns: [...whole.concerns, ...texts] };
}

/** Sentences of the engine name tasks as their planner does; a worker's own words stay unchanged. */
export function endedHandoff(state: RunState, task: Task): Handoff {
  const { state: end } = task;
  switch (end.is) {
    case "done":
      return end.handoff;
    case "failed":
      return failedHandoff(task, end);
    case "skipped":
      return undone(task, `skipped, because ${taskOf(state, end.because).spec.key} did not land`);
    case "cancelled":
      return undone(task, `cancelled: ${end.reason}`);
    default:
      return undone(task, end.is);
  }
}

/**
 * Keeps what the failed attempt reported, and its cost. It changed no file, because nothing of it landed, and it does
 * not count as complete even if it said so.
 */
function failedHandoff(task: Task, { failure, handoff }: Extract<Task["state"], { is: "failed" }>): Handoff {
  const suggestions = failure.next === undefined ? [] : [failure.next];
  const plain = { ...createFailureHandoff(task, failure), suggestions };
  if (!handoff) return { ...plain, metrics: { ...NO_METRICS, tokensUsed: task.used.tokens } };
  return {
    ...plain,
    status: handoff.status === "complete" ? "failed" : handoff.status,
    concerns: [...handoff.concerns, ...plain.concerns],
    suggestions: handoff.suggestions.length > 0 ? handoff.suggestions : suggestions,
    metrics: handoff.metrics,
  };
}

const undone = (task: Task, why: string): Handoff => ({
  ...createFailureHandoff(task, why),
  status: "blocked",
  suggestions: [],
});
