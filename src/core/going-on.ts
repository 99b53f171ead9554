/** How does a worker go on that waited for a subtask or an answer? */
import type { Draft, TaskDraft } from "./draft.ts";
import { jobId } from "./job.ts";
import { release, taskIn } from "./release.ts";
import { retryKey } from "./state.ts";
import { questionKey, type ToolResponse } from "./subtask.ts";
import { responseTo } from "./subtask-response.ts";
import type { TaskId, TaskState } from "./task.ts";

export function goOn(s: Draft, task: TaskDraft, response: ToolResponse): void {
  task.goOn = { ...task.goOn!, response };
  task.state = { is: "open" };
  release(s, task);
}

/** A subtask has ended: the task that waits for it goes on, with what the subtask made. */
export function subtaskEnded(s: Draft, child: TaskDraft, parent: TaskDraft, end: TaskState): void {
  const { instructions: _, expectation: __, ...spawn } = child.spec.spawn!;
  child.spec = { ...child.spec, spawn: { ...spawn, inputs: "" } }; // They are in the log, and may be long.
  const { state } = parent;
  if (state.is !== "waiting" || !("subtask" in state.for) || state.for.subtask !== child.id) return;
  const commit = end.is === "done" ? end.handoff.commit : undefined;
  if (commit !== undefined) parent.goOn = { ...parent.goOn!, start: commit };
  goOn(s, parent, responseTo(child, end));
}

/** Of a task that has come to its end: its own, and those of a subtask that were put to it. */
export function forgetQuestions(s: Draft, id: TaskId): void {
  if (s.questions.size === 0) return;
  for (const question of [...s.questions.values()]) {
    if (question.task !== id) continue;
    forgetQuestion(s, question.id);
    if (question.to !== "person") stopAsking(s, question.to);
  }
}

export function forgetQuestion(s: Draft, id: string): void {
  s.questions.delete(id);
  s.deadlines.delete(questionKey(id));
}

/** `attempt`: its turn that was heard, and is part of its conversation. What another still says counts for nothing. */
export function stopAsking(s: Draft, id: TaskId, attempt?: number): void {
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
