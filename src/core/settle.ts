/** What changes when a task can go on, or has come to its end? Shared by the facts that say so. */
import { isForLanding } from "./budget.ts";
import type { Draft, PlannerDraft, TaskDraft } from "./draft.ts";
import { undoneTexts } from "./given-up.ts";
import { forgetQuestions, subtaskEnded } from "./going-on.ts";
import { release, taskIn } from "./release.ts";
import { type Concern, retryKey } from "./state.ts";
import { isRepair, parentId, ROOT, type TaskId, type TaskState } from "./task.ts";

type Settled = Extract<TaskState, { readonly is: "done" | "failed" | "skipped" | "cancelled" }>;

export function settle(s: Draft, id: TaskId, end: Settled): void {
  const task = taskIn(s, id);
  const before = task.state;
  task.state =
    end.is === "done" && end.handoff.diff !== "" ? { ...end, handoff: { ...end.handoff, diff: "" } } : end;
  if (task.past.length > 0) task.past = [];
  if (end.is === "done") s.dag.complete(id);
  else if (s.dag.status(id) !== "dead") s.dag.fail(id);
  s.deadlines.delete(retryKey(id));
  if (s.late.size > 0) {
    s.late.delete(`plan:${id}`);
    s.late.delete(`work:${id}`);
  }
  s.parked.delete(id);
  s.atWork.drop(id);
  s.toSettle.delete(id);
  s.owed.delete(id);
  s.asked.delete(id);
  s.repair.pending.delete(id);
  task.goOn = undefined;
  forgetQuestions(s, id);
  wake(s, id, "settled");
  const parent = parentId(id);
  if (parent !== undefined) tellParent(s, parent, task, end, before);
}

function tellParent(s: Draft, parent: TaskId, task: TaskDraft, end: Settled, before: TaskState): void {
  s.unsettled -= 1;
  const planner = s.planners.get(parent)!;
  planner.active.delete(task.id);
  planner.held.drop(task.id);
  if (task.spec.spawn) {
    subtaskEnded(s, task, taskIn(s, parent), end);
    return;
  }
  planner.news.push(task.id);
  raiseConcerns(s, planner, task, end, before);
  const above = taskIn(s, parent);
  if (above.state.is !== "delegated") return;
  if (above.state.over !== undefined) {
    if (planner.active.size === 0 && parent !== ROOT) s.toSettle.add(parent);
  } else if (planner.idle && wantsTurn(s, parent, planner)) {
    planner.idle = false;
    release(s, above);
  }
}

/**
 * What was said, and what went wrong, is carried until the planner says that it is dealt with. Of a fix that
 * failed, the target itself says whether anything is left to do.
 */
function raiseConcerns(
  s: Draft,
  planner: PlannerDraft,
  task: TaskDraft,
  end: Settled,
  before: TaskState,
): void {
  const { key } = task.spec;
  const raised = (kind: Concern["kind"], text: string) => raise(s, planner, task.id, kind, text);
  if (end.is === "done") for (const text of end.handoff.concerns) raised("said", text);
  if (end.is === "done" && end.handoff.status === "partial")
    for (const text of missingIn(s, task.id, before)) raised("undone", `${key}: ${text}`);
  if (end.is === "failed")
    raised(isRepair(task) ? "said" : "undone", `${key} failed: ${end.failure.message}`);
  if (end.is === "failed") for (const text of end.handoff?.concerns ?? []) raised("said", text);
  if (end.is === "skipped")
    raised("undone", `${key} was skipped, because ${taskIn(s, end.because).spec.key} did not land`);
}

export function raise(
  s: Draft,
  planner: PlannerDraft,
  from: TaskId,
  kind: Concern["kind"],
  text: string,
): void {
  s.concernCount += 1;
  const id = `c${s.concernCount}`;
  planner.concerns.set(id, { id, from, text, kind, plannedBefore: planner.children });
}

/** What a planner's task leaves undone, in the words of those below it. */
function missingIn(s: Draft, id: TaskId, before: TaskState): readonly string[] {
  const over = before.is === "delegated" ? before.over : undefined;
  const missing = [
    ...undoneTexts(s, id),
    ...(over === undefined || over === "finished" ? [] : [over.message]),
  ];
  return missing.length > 0 ? missing : ["only partly done"];
}

/** Enough news, nothing active, or a message from a person. */
export const wantsTurn = (s: Draft, id: TaskId, planner: PlannerDraft): boolean =>
  planner.news.length >= planner.replanAfter ||
  planner.active.size === 0 ||
  (id === ROOT && s.steers.length > 0);

/** Those who wait for `id` may try again: all of them once it is settled, some as soon as it is idle. */
export function wake(s: Draft, id: TaskId, when: "settled" | "idle"): void {
  const waiters = s.waiting.get(id);
  if (!waiters) return;
  const stay = when === "settled" ? [] : waiters.filter((w) => w.until === "settled");
  if (stay.length === 0) s.waiting.delete(id);
  else s.waiting.set(id, stay);
  for (const { task, until } of waiters) {
    if ((when === "idle" && until === "settled") || s.parked.get(task) !== id) continue;
    s.parked.delete(task);
    release(s, taskIn(s, task));
  }
}

/** It has no files any more: those who wait for them may try again. */
export function letGo(s: Draft, id: TaskId): void {
  const parent = parentId(id);
  if (parent !== undefined) s.planners.get(parent)?.held.drop(id);
  wake(s, id, "settled");
}

/** Nothing is paid any more but for what was refused a landing: whoever waits for another's files would wait for ever. */
export function standAside(s: Draft, task: TaskDraft): void {
  if (isForLanding(task)) return;
  letGo(s, task.id);
  withdraw(s, task.id);
}

/** It will not go to work soon: nobody has to wait for that. */
export function withdraw(s: Draft, id: TaskId): void {
  s.atWork.drop(id);
  wake(s, id, "idle");
}

/** At once, or when its wait is over. */
export function retryWhen(s: Draft, task: TaskDraft, retryAt: number, now: number): void {
  if (retryAt > now) s.deadlines.set(retryKey(task.id), retryAt);
  else release(s, task);
}
