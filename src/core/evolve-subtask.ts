/** What changes when a worker calls for a subtask or asks, and when it goes on? */
import type { Draft, TaskDraft } from "./draft.ts";
import type { EventOf } from "./event.ts";
import { addTask } from "./evolve-plan.ts";
import { forgetQuestion, goOn, stopAsking } from "./going-on.ts";
import { isLoose } from "./held-files.ts";
import { jobId } from "./job.ts";
import { release, taskIn } from "./release.ts";
import { letGo } from "./settle.ts";
import { questionKey } from "./subtask.ts";
import type { TaskState } from "./task.ts";

type Suspending = EventOf<"subtask.spawned" | "subtask.refused" | "question.asked">;

export function subtaskSpawned(s: Draft, event: EventOf<"subtask.spawned">): void {
  suspend(s, event, { subtask: event.into.id });
  addTask(s, event.into);
}

export function subtaskRefused(s: Draft, event: EventOf<"subtask.refused">): void {
  const task = suspend(s, event, { subtask: event.task });
  goOn(s, task, event.response);
}

export function questionAsked(s: Draft, event: EventOf<"question.asked">): void {
  const { question } = event;
  suspend(s, event, { question: question.id });
  s.questionCount += 1;
  s.questions.set(question.id, question);
  s.deadlines.set(questionKey(question.id), question.until);
  ask(s, question.id);
}

export function questionPassed(s: Draft, event: EventOf<"question.passed">): void {
  const question = s.questions.get(event.question)!;
  const { to, text = question.text, attempt } = event;
  if (question.to !== "person") stopAsking(s, question.to, attempt);
  const tries = to === question.to ? question.tries + 1 : 0;
  s.questions.set(question.id, { ...question, to, text, tries });
  ask(s, question.id);
}

export function questionAnswered(s: Draft, { question: id, text, by }: EventOf<"question.answered">): void {
  const { task, to } = s.questions.get(id)!;
  forgetQuestion(s, id);
  if (to !== "person") stopAsking(s, to, typeof by === "string" ? undefined : by.attempt);
  const who = typeof by === "string" ? by : by.task;
  goOn(s, taskIn(s, task), {
    name: "answer",
    result: { status: "COMPLETE", content: text, notes: { answered_by: who } },
  });
}

function suspend(
  s: Draft,
  { task: id, attempt, start, at, session = jobId({ kind: "work", task: id, attempt }) }: Suspending,
  waitsFor: (TaskState & { readonly is: "waiting" })["for"],
): TaskDraft {
  const task = taskIn(s, id);
  const { times = 0, since = at } = task.goOn ?? {};
  task.goOn = { base: task.base, start, session, times: times + 1, since };
  task.state = { is: "waiting", for: waitsFor };
  if (isLoose(task)) letGo(s, id);
  task.tries.lost = 0;
  task.tries.unreachable = 0;
  return task;
}

/** The task above takes a turn for it; a person is asked by whoever shows the run. */
function ask(s: Draft, id: string): void {
  const question = s.questions.get(id)!;
  if (question.to === "person") return;
  const above = taskIn(s, question.to);
  if (above.state.is !== "waiting") throw new Error(`${above.id} is asked, but does not wait`);
  above.state = { ...above.state, answering: id };
  const notes = { task_id: question.task, question: id };
  const result = { status: "NEEDS_INPUT", content: question.text, notes } as const;
  above.goOn = { ...above.goOn!, response: { name: "question", result } };
  release(s, above);
}
