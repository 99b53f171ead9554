/** Changes the state when a task can go on or is settled; shared by several events. */

import type { Failure } from "../failure.ts";
import { jobId } from "../job.ts";
import { isForLanding } from "../rules/budget.ts";
import { undoneTexts } from "../rules/given-up.ts";
import { responseTo } from "../rules/subtask-response.ts";
import { questionKey, type ToolResponse } from "../subtask.ts";
import { isRepair, parentId, ROOT, type TaskId, type TaskState } from "../task.ts";
import { type PlannerDraft, release, type StateDraft, type TaskDraft, taskIn } from "./draft.ts";
import { type Concern, retryKey } from "./state.ts";

type Settled = Extract<TaskState, { readonly is: "done" | "failed" | "skipped" | "cancelled" }>;

export function settle(s: StateDraft, id: TaskId, end: Settled): void {
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
  s.heldBack.delete(id);
  s.atWork.drop(id);
  s.toSettle.delete(id);
  s.owed.delete(id);
  s.unapproved.delete(id);
  s.repair.pending.delete(id);
  task.goOn = undefined;
  forgetQuestions(s, id);
  wake(s, id, "settled");
  if (id !== ROOT) tellParent(s, task, end, before);
}

function tellParent(s: StateDraft, task: TaskDraft, end: Settled, before: TaskState): void {
  s.unsettled -= 1;
  const parent = taskIn(s, parentId(task.id)!);
  const planner = s.planners.get(parent.id)!;
  planner.active.delete(task.id);
  planner.held.drop(task.id);
  if (task.spec.spawn) {
    subtaskEnded(s, task, parent, end);
    return;
  }
  planner.news.push(task.id);
  for (const concern of concernsAbout(s, task, end, before)) raise(s, planner, concern);
  if (parent.state.is !== "delegated") return;
  if (parent.state.over !== undefined) {
    if (planner.active.size === 0 && parent.id !== ROOT) s.toSettle.add(parent.id);
  } else if (planner.idle && wantsTurn(s, parent.id, planner)) {
    planner.idle = false;
    release(s, parent);
  }
}

type Raised = Pick<Concern, "from" | "kind" | "text">;

/**
 * The concerns that the planner carries until it says that they are dealt with. A failed fix is not "undone": the
 * target shows whether something is left to do.
 */
function concernsAbout(s: StateDraft, task: TaskDraft, end: Settled, before: TaskState): readonly Raised[] {
  const { key } = task.spec;
  const of = (kind: Concern["kind"]) => (text: string) => ({ from: task.id, kind, text });
  switch (end.is) {
    case "done": {
      const missing = end.handoff.status === "partial" ? missingIn(s, task.id, before) : [];
      return [
        ...end.handoff.concerns.map(of("said")),
        ...missing.map((text) => of("undone")(`${key}: ${text}`)),
      ];
    }
    case "failed": {
      const failed = of(isRepair(task) ? "said" : "undone")(`${key} failed: ${end.failure.message}`);
      return [failed, ...(end.handoff?.concerns ?? []).map(of("said"))];
    }
    case "skipped": {
      const because = taskIn(s, end.because).spec.key;
      return [of("undone")(`${key} was skipped, because ${because} did not land`)];
    }
    case "cancelled":
      return [];
  }
}

export function raise(s: StateDraft, planner: PlannerDraft, concern: Raised): void {
  s.concernCount += 1;
  const id = `c${s.concernCount}`;
  planner.concerns.set(id, { id, ...concern, plannedBefore: planner.children });
}

/** What a planned task leaves undone, in the words of the tasks below it. */
function missingIn(s: StateDraft, id: TaskId, before: TaskState): readonly string[] {
  const over = before.is === "delegated" ? before.over : undefined;
  const missing = [
    ...undoneTexts(s, id),
    ...(over === undefined || over === "finished" ? [] : [over.message]),
  ];
  return missing.length > 0 ? missing : ["only partly done"];
}

/** A planner is asked again if it has enough news, nothing active, or a message from a person. */
export const wantsTurn = (s: StateDraft, id: TaskId, planner: PlannerDraft): boolean =>
  planner.news.length >= planner.replanAfter ||
  planner.active.size === 0 ||
  (id === ROOT && s.steers.length > 0);

/** Releases tasks that wait for `id`: all of them once it is settled, some as soon as it is idle. */
function wake(s: StateDraft, id: TaskId, when: "settled" | "idle"): void {
  const waiters = s.waiting.get(id);
  if (!waiters) return;
  const stay = when === "settled" ? [] : waiters.filter((w) => w.until === "settled");
  if (stay.length === 0) s.waiting.delete(id);
  else s.waiting.set(id, stay);
  for (const { task, until } of waiters) {
    if ((when === "idle" && until === "settled") || s.heldBack.get(task) !== id) continue;
    s.heldBack.delete(task);
    release(s, taskIn(s, task));
  }
}

/** The task gives up its files: tasks that wait for them may try again. */
export function letGo(s: StateDraft, id: TaskId): void {
  const parent = parentId(id);
  if (parent !== undefined) s.planners.get(parent)?.held.drop(id);
  wake(s, id, "settled");
}

/**
 * With the budget spent, only fixes and tasks that were refused a landing still run. Any other task gives up its files,
 * or tasks that wait for them would wait for ever.
 */
export function standAside(s: StateDraft, task: TaskDraft): void {
  if (isForLanding(task)) return;
  letGo(s, task.id);
  withdraw(s, task.id);
}

/** The task does not go to work soon, so no other task has to wait for that. */
export function withdraw(s: StateDraft, id: TaskId): void {
  s.atWork.drop(id);
  wake(s, id, "idle");
}

/** Releases the task at once, or when its wait is over. */
export function retryWhen(s: StateDraft, task: TaskDraft, retryAt: number, now: number): void {
  if (retryAt > now) s.deadlines.set(retryKey(task.id), retryAt);
  else release(s, task);
}

/** Failures of the set-up are counted in a row; a workspace that was ready ends the row. */
export function noteSetupError({ setup }: StateDraft, { kind }: Failure): void {
  if (kind === "setup") setup.errors += 1;
}

export function noteSetupWorks({ setup }: StateDraft): void {
  setup.hasWorked = true;
  setup.errors = 0;
}

/** The worker that waited goes on with the response. */
export function goOn(s: StateDraft, task: TaskDraft, response: ToolResponse): void {
  task.goOn = { ...task.goOn!, response };
  task.state = { is: "open" };
  release(s, task);
}

/** A subtask has ended: the task that waits for it goes on from what the subtask made. */
function subtaskEnded(s: StateDraft, child: TaskDraft, parent: TaskDraft, end: TaskState): void {
  const { instructions: _, expectation: __, ...spawn } = child.spec.spawn!;
  child.spec = { ...child.spec, spawn: { ...spawn, inputs: "" } }; // The log keeps them, and they may be long.
  const { state } = parent;
  if (state.is !== "waiting" || !("subtask" in state.for) || state.for.subtask !== child.id) return;
  const commit = end.is === "done" ? end.handoff.commit : undefined;
  if (commit !== undefined) parent.goOn = { ...parent.goOn!, start: commit };
  goOn(s, parent, responseTo(child, end));
}

/** A task has ended: forgets its questions and stops the tasks that were asked. */
function forgetQuestions(s: StateDraft, id: TaskId): void {
  for (const question of [...s.questions.values()]) {
    if (question.task !== id) continue;
    forgetQuestion(s, question.id);
    if (question.to !== "person") stopAsking(s, question.to);
  }
}

export function forgetQuestion(s: StateDraft, id: string): void {
  s.questions.delete(id);
  s.deadlines.delete(questionKey(id));
}

/**
 * `attempt`: the turn that gave the answer, which becomes part of that task's conversation. A later answer is not used.
 */
export function stopAsking(s: StateDraft, id: TaskId, attempt?: number): void {
  const task = taskIn(s, id);
  if (task.state.is !== "waiting") return;
  task.state = { is: "waiting", for: task.state.for };
  const { response: _, ...rest } = task.goOn!;
  const session = attempt === undefined ? rest.session : jobId({ kind: "work", task: id, attempt });
  task.goOn = { ...rest, session };
  s.late.delete(`work:${id}`);
  s.deadlines.delete(retryKey(id));
  if (s.dag.status(id) === "ready") s.dag.take(id);
}
