/** What changes when a worker calls for a subtask or asks, and when it goes on? */

import { isLoose } from "../rules/held-files.ts";
import { questionKey } from "../subtask.ts";
import { type Evolvers, type StateDraft, type TaskDraft, taskIn } from "./draft.ts";
import type { EventOf } from "./event.ts";
import { addTask } from "./evolve-plan.ts";
import { forgetQuestion, goOn, letGo, retryWhen, standAside, stopAsking } from "./settle.ts";

export const subtaskEvents = {
  "subtask.spawned"(s, event) {
    suspend(s, event).state = { is: "waiting", for: { subtask: event.into.id } };
    addTask(s, event.into);
  },
  "subtask.refused"(s, event) {
    goOn(s, suspend(s, event), event.response);
  },
  "question.asked"(s, event) {
    const { question } = event;
    suspend(s, event).state = { is: "waiting", for: { question: question.id } };
    s.questionCount += 1;
    s.questions.set(question.id, question);
    s.deadlines.set(questionKey(question.id), question.until);
    ask(s, question.id, event.at, event.at);
  },
  "question.passed"(s, event) {
    const question = s.questions.get(event.question);
    if (!question) return; // Answered by the same tick.
    const { to, text = question.text, attempt, retryAt = event.at, isFree } = event;
    const isSame = to === question.to;
    if (question.to !== "person" && !isSame) stopAsking(s, question.to, attempt);
    const tries = isSame ? question.tries + (isFree ? 0 : 1) : 0;
    s.questions.set(question.id, { ...question, to, text, tries });
    ask(s, question.id, retryAt, event.at);
  },
  "question.answered"(s, { question: id, text, by }) {
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
  },
} satisfies Partial<Evolvers>;

type Suspending = EventOf<"subtask.spawned" | "subtask.refused" | "question.asked">;

function suspend(s: StateDraft, { task: id, start, session, notes = [], at }: Suspending): TaskDraft {
  const task = taskIn(s, id);
  const { times = 0, since = at, notes: before = [] } = task.goOn ?? {};
  task.goOn = { base: task.base, start, session, times: times + 1, since, notes: [...before, ...notes] };
  if (isLoose(task)) letGo(s, id);
  if (s.spent.exhausted) standAside(s, task);
  task.tries.lost = 0;
  task.tries.unreachable = 0;
  return task;
}

/** The task above takes a turn to answer; a person is asked by the surface that shows the run. */
function ask(s: StateDraft, id: string, retryAt: number, now: number): void {
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
