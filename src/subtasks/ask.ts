/** Finds the answer to a task's question: from its parent, the tasks above that, a person, or its default after a time. */
import { messageOf } from "../core/failure.ts";
import type { HandledTaskResult } from "../ports/subtasks.ts";
import { failedResult, isRecord, taskFailure } from "./errors.ts";
import type { LiveTask, TaskQuestion } from "./live-task.ts";

type Converse = (task: LiveTask, input: string, until: "answered") => Promise<HandledTaskResult>;
type Respond = (task: LiveTask, name: string, result: HandledTaskResult) => Promise<void>;

/** What is to be told to the session that asked: the answer, or that there is none. */
export async function askAbove(
  task: LiveTask,
  asking: HandledTaskResult,
  converse: Converse,
  respond: Respond,
): Promise<HandledTaskResult> {
  const { chain } = task.known;
  const question = questionOf(task, asking, chain.limits.askMs);
  chain.emit({ is: "asked", question });
  const answer = await answerTo(task, question, converse, respond);
  if (answer === undefined)
    return failedResult(taskFailure("execution_timeout", `no answer to: ${question.text.slice(0, 500)}`));
  chain.emit({ is: "answered", question, by: answer.by });
  return { content: answer.text, status: "COMPLETE", notes: { answered_by: answer.by } };
}

/** The content is the question; `notes.question` may have a default and how long it can wait. */
function questionOf(task: LiveTask, { content, notes }: HandledTaskResult, askMs: number): TaskQuestion {
  const more = isRecord(notes.question) ? notes.question : {};
  const { text, default: value, wait_ms: wait } = more;
  return {
    task: task.id,
    text: content || (typeof text === "string" ? text : "") || "(no words)",
    ...(typeof value === "string" && { default: value }),
    waitMs: typeof wait === "number" && wait >= 0 ? Math.min(wait, askMs) : askMs,
    passedOnBy: [],
  };
}

type Answered = { readonly text: string; readonly by: string };

async function answerTo(
  task: LiveTask,
  question: TaskQuestion,
  converse: Converse,
  respond: Respond,
): Promise<Answered | undefined> {
  const top = topOfGroup(task);
  const { parent } = top.known;
  if (parent === undefined) return await askPerson(task, question);
  // One after the other: a session that is asked two things at once would mix them up.
  const turn = top.questions.then(() => askParent(parent, question, converse, respond));
  top.questions = turn;
  return await turn;
}

/** Groups have no session to ask: the outermost of those around a task, or the task itself. */
function topOfGroup(task: LiveTask): LiveTask {
  const { parent } = task.known;
  return parent === undefined || parent.session !== undefined ? task : topOfGroup(parent);
}

async function askParent(
  parent: LiveTask,
  question: TaskQuestion,
  converse: Converse,
  respond: Respond,
): Promise<Answered | undefined> {
  const told = {
    task_id: question.task,
    ...(question.default !== undefined && { default: question.default }),
  };
  await respond(parent, `question:${question.task}`, {
    content: question.text,
    status: "NEEDS_INPUT",
    notes: told,
  });
  const reply = await converse(parent, QUESTION, "answered");
  if (reply.status === "COMPLETE") return { text: reply.content, by: parent.id };
  if (reply.status !== "NEEDS_INPUT") return byDefault(question);
  const passedOnBy = [...question.passedOnBy, parent.id];
  const passed = { ...question, text: reply.content || question.text, passedOnBy };
  const answer = await answerTo(parent, passed, converse, respond);
  // It asked, too: its conversation would have a question without an answer.
  if (answer)
    await respond(parent, "ask", {
      content: answer.text,
      status: "COMPLETE",
      notes: { answered_by: answer.by },
    });
  return answer;
}

const QUESTION =
  "Your subtask asks this and waits. Complete with the answer alone, or pass the question on with NEEDS_INPUT.";

async function askPerson(task: LiveTask, question: TaskQuestion): Promise<Answered | undefined> {
  const { ask, clock } = task.known.chain;
  if (ask === undefined) return byDefault(question);
  const { promise, resolve } = Promise.withResolvers<Answered | undefined>();
  const given = new AbortController();
  const stop = () => resolve(undefined);
  const callOff = clock.wakeAt(clock.now() + question.waitMs, stop);
  task.signal.addEventListener("abort", stop, { once: true });
  if (task.signal.aborted) stop();
  const asked = async () => await ask(question, given.signal);
  asked().then(
    (text) => resolve(typeof text === "string" ? { text, by: "person" } : undefined),
    (thrown: unknown) => {
      task.warnings.push(`the question could not be put: ${messageOf(thrown)}`);
      resolve(undefined);
    },
  );
  const answer = await promise;
  callOff();
  task.signal.removeEventListener("abort", stop);
  given.abort(); // An answer is no longer needed.
  return answer ?? byDefault(question);
}

const byDefault = (question: TaskQuestion): Answered | undefined =>
  question.default === undefined ? undefined : { text: question.default, by: "default" };
