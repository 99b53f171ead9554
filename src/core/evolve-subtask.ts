/** What changes when a worker calls for a subtask or asks, and when it goes on? */
import type { Draft, TaskDraft } from "./draft.ts";
import type { EventOf } from "./event.ts";
import { addTask } from "./evolve-plan.ts";
import { forgetQuestion, goOn, stopAsking } from "./going-on.ts";
import { isLoose } from "./held-files.ts";
import { taskIn } from "./release.ts";
import { letGo, retryWhen, standAside } from "./settle.ts";
import { questionKey } from "./subtask.ts";

type Suspending = EventOf<"subtask.spawned" | "subtask.refused" | "question.asked">;

export function subtaskSpawned(s: Draft, event: EventOf<"subtask.spawned">): void {
  suspend(s, event).state = { is: "waiting", for: { subtask: event.into.id } };
  addTask(s, event.into);
}

export function subtaskRefused(s: Draft, event: EventOf<"subtask.refused">): void {
  goOn(s, suspend(s, event), event.response);
}

export function questionAsked(s: Draft, event: EventOf<"question.asked">): void {
  const { question } = event;
  suspend(s, event).state = { is: "waiting", for: { question: question.id } };
  s.questionCount += 1;
  s.questions.set(question.id, question);
  s.deadlines.set(questionKey(question.id), question.until);
  ask(s, question.id, event.at, event.at);
}

export function questionPassed(s: Draft, event: EventOf<"question.passed">): void {
  const question = s.questions.get(event.question);
  if (!question) return; // Answered by the same tick.
  const { to, text = question.text, attempt, retryAt = event.at, isFree } = event;
  const isSame = to === question.to;
  if (question.to !== "person" && !isSame) stopAsking(s, question.to, attempt);
  const tries = isSame ? question.tries + (isFree ? 0 : 1) : 0;
  s.questions.set(question.id, { ...question, to, text, tries });
  ask(s, question.id, retryAt, event.at);
}

export function questionAnswered(s: Draft, { question: id, text, by }: EventOf<"question.answered">): void {
  const question = s.questions.get(id);
  if (!question) return;
  const { task, to } = question;
  forgetQuestion(s, id);
  if (to !== "person") stopAsking(s, to, typeof by === "string" ? undefined : by.attempt);
  const isMissing = by === "default" && question.default === undefined;
  const who = isMissing ? "nobody" : typeof by === "string" ? by : by.task;
  goOn(s, taskIn(s, task), {
    name: "answer",
    result: { status: isMissing ? "FAILED" : "COMPLETE", content: text, notes: { answered_by: who } },
  });
}

function suspend(s: Draft, { task: id, start, session, notes = [], at }: Suspending): TaskDraft {
  const task = taskIn(s, id);
  const { times = 0, since = at, notes: before = [] } = task.goOn ?? {};
  task.goOn = { base: task.base, start, session, times: times + 1, since, notes: [...before, ...notes] };
  if (isLoose(task)) letGo(s, id);
  if (s.spent.exhausted) standAside(s, task);
  task.tries.lost = 0;
  task.tries.unreachable = 0;
  return task;
}

/** The task above takes a turn for it; a person is asked by whoever shows the run. */
function ask(s: Draft, id: string, retryAt: number, now: number): void {
  const question = s.questions.get(id)!;
  if (question.to === "person") return;
  const above = taskIn(s, question.to);
  if (above.state.is !== "waiting") throw new Error(`${above.id} is asked, but does not wait`);
  above.state = { ...above.state, answering: id };
  const notes = { task_id: question.task, question: id };
  const result = { status: "NEEDS_INPUT", content: question.text, notes } as const;
  above.goOn = { ...above.goOn!, response: { name: "question", result } };
  retryWhen(s, above, retryAt, now);
}
