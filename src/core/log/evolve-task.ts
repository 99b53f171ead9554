/** Changes the state when a task is handed in, retried, held back or settled, waits for a person, or calls. */
import { isLoss } from "../failure.ts";
import { filesOf, isLoose } from "../rules/held-files.ts";
import { questionKey } from "../subtask.ts";
import { parentId } from "../task.ts";
import { type Evolvers, release, type StateDraft, type TaskDraft, taskIn } from "./draft.ts";
import type { EventOf } from "./event.ts";
import { addTask, plannerIn } from "./evolve-plan.ts";
import { noteGuilt } from "./evolve-target.ts";
import {
  forgetQuestion,
  goOn,
  letGo,
  noteSetupError,
  noteSetupWorks,
  retryWhen,
  settle,
  standAside,
  stopAsking,
  withdraw,
} from "./settle.ts";
import { retryKey } from "./state.ts";

export const taskEvents = {
  "task.handed-off"(s, { task: id, attempt, handoff }) {
    const task = taskIn(s, id);
    task.state = { is: "landing", attempt, handoff };
    Object.assign(task.tries, { failed: 0, lost: 0, unreachable: 0 });
    task.goOn = undefined;
    noteSetupWorks(s);
    release(s, task);
  },
  "task.retried"(s, { task: id, attempt, failure, handoff, charge, retryAt, at }) {
    const task = taskIn(s, id);
    task.state = { is: "open" };
    noteGuilt(s, id, failure);
    noteSetupError(s, failure);
    if (charge !== "nothing") task.tries[charge] += 1;
    if (charge === "refused") s.owed.add(id);
    if (charge === "failed" || charge === "refused") {
      task.goOn = undefined; // The next attempt starts again, from the target's tip at that time.
      Object.assign(task.tries, { lost: 0, unreachable: 0 }); // The agent answered: the row of losses ends.
    }
    // Only the last lost attempt is kept, so that lost ones do not push out attempts with results.
    const earlier = isLoss(failure) ? task.past.filter((past) => !isLoss(past.failure)) : task.past;
    task.past = [...earlier.slice(-(MAX_PAST - 1)), { attempt, failure, ...(handoff && { handoff }) }];
    if (isLoose(task)) letGo(s, id);
    if (s.spent.exhausted) standAside(s, task);
    retryWhen(s, task, retryAt, at);
  },
  "task.woken"(s, { task }) {
    s.deadlines.delete(retryKey(task));
    release(s, taskIn(s, task));
  },
  "task.held-back"(s, { task: id, behind, until }) {
    const task = taskIn(s, id);
    s.dag.take(id);
    s.heldBack.set(id, behind);
    const waiters = s.waiting.get(behind);
    if (waiters) waiters.push({ task: id, until });
    else s.waiting.set(behind, [{ task: id, until }]);
    const parent = parentId(id);
    const isNew = task.tries.attempts === 0 && task.tries.turns === 0;
    if ((isNew || isLoose(task)) && parent !== undefined)
      plannerIn(s, parent).held.claim(id, filesOf(task), task.order);
    if (until === "idle") s.atWork.claim(id, filesOf(task), task.order);
    else withdraw(s, id);
  },
  "task.done"(s, { task, handoff, ended }) {
    settle(s, task, { is: "done", handoff, ...(ended && { ended }) });
  },
  "task.failed"(s, { task, failure, handoff }) {
    noteGuilt(s, task, failure);
    settle(s, task, { is: "failed", failure, ...(handoff && { handoff }) });
  },
  "task.skipped"(s, { task, because }) {
    settle(s, task, { is: "skipped", because });
  },
  "task.cancel-requested"(s, { task }) {
    taskIn(s, task).cancelling = true;
  },
  "task.cancelled"(s, { task, reason }) {
    settle(s, task, { is: "cancelled", reason });
  },
  "landing.proposed"(s, { task, flags }) {
    s.unapproved.set(task, flags);
    s.dag.take(task); // Out of the queue until it is approved.
  },
  "landing.approved"(s, { task }) {
    s.unapproved.delete(task);
    release(s, taskIn(s, task));
  },
  "landing.declined"(s, { task }) {
    s.unapproved.delete(task);
  },
} satisfies Partial<Evolvers>;

/** How many past attempts a task keeps in memory; the policy says how many of them a brief shows. */
const MAX_PAST = 5;

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
    if (!question) return; // The same tick has answered it.
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

/** Gives the task above a turn to answer. A person is asked by the surface that shows the run. */
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
