/** Continues one task's session: prompts it until it ends, and returns subtasks' results and answers to it. */

import { messageOf } from "../core/failure.ts";
import type { ContextEntry, HandledTaskResult, TaskError } from "../ports/subtasks.ts";
import { isRecord } from "../text/json.ts";
import { asSubtaskFailure, exhausted, failedResult, readResult, taskFailure } from "./errors.ts";
import type { LiveTask, TaskOrder, TaskQuestion } from "./live-task.ts";
import { readRequest, type SubtaskRequest } from "./request.ts";
import { tokensOf } from "./tokens.ts";

/**
 * `until` "ended": until COMPLETE or FAILED. "answered", while a subtask waits for an answer: COMPLETE is then the
 * answer, and NEEDS_INPUT passes the question on.
 */
export async function converse(
  task: LiveTask,
  first: string,
  until: "ended" | "answered",
): Promise<HandledTaskResult> {
  const { limits } = task.known.chain;
  let input = first;
  for (;;) {
    const result = await prompt(task, input);
    const { status } = result;
    if (status === "COMPLETE" || status === "FAILED" || (status === "NEEDS_INPUT" && until === "answered")) {
      task.entries.push({ is: "answer", text: result.content });
      return result;
    }
    const max = limits.maxContinuations;
    if (task.continuations >= max)
      return task.stop(exhausted("continuations", { used: task.continuations, limit: max }));
    task.continuations += 1;
    if (until === "ended") task.partial = result.content;
    if (status === "NEEDS_INPUT") {
      task.entries.push({ is: "answer", text: result.content });
      await addToolResponse(task, "ask", await askAbove(task, result, converse, addToolResponse));
      input = AFTER_ANSWER;
    } else {
      await delegate(task, result);
      input = AFTER_SUBTASK;
    }
  }
}

const AFTER_SUBTASK = "Go on, with the result of the subtask.";
const AFTER_ANSWER = "Go on, with the answer to your question.";

/** One turn, within its time and the chain's budget. */
async function prompt(task: LiveTask, input: string): Promise<HandledTaskResult> {
  const { chain, handler, budget, spawned } = task.known;
  const needed = tokensOf(input);
  const lacking = task.over === undefined ? budget.lacks(needed, chain.clock.now()) : undefined;
  if (lacking) return task.stop(lacking);
  task.entries.push({ is: "input", text: input });
  const got = await task.within({
    what: `the handler of ${spawned.id}`,
    ms: chain.limits.turnMs,
    work: () => handler.prompt(task.session?.value, input),
    late: (answer) => chain.emit({ is: "late", id: spawned.id, result: readResult(answer) }),
  });
  task.known.onFirstAnswer?.();
  if ("over" in got) return got.over;
  const result = readResult(got.value);
  budget.charge(reportedTokens(result) ?? needed + tokensOf(result.content));
  return result;
}

function reportedTokens({ notes }: HandledTaskResult): number | undefined {
  const tokens = notes.usage?.tokens;
  return typeof tokens === "number" && tokens >= 0 && Number.isFinite(tokens) ? tokens : undefined;
}

/** Runs the requested subtask, and returns its whole result to the session that asked. */
async function delegate(task: LiveTask, asking: HandledTaskResult): Promise<void> {
  const read = readRequest(asking.notes.subtask_request);
  if ("problem" in read) {
    task.entries.push({ is: "answer", text: asking.content });
    await addToolResponse(
      task,
      "subtask",
      failedResult(taskFailure("input_validation_failure", read.problem)),
    );
    return;
  }
  const { request } = read;
  const running = runSubtask(task, request);
  // Added after the spawn, which copies the entries so far: a child does not inherit the call that made it.
  task.entries.push({ is: "answer", text: asking.content });
  await addToolResponse(task, toolNameOf(request), await running);
}

async function runSubtask(task: LiveTask, request: SubtaskRequest): Promise<HandledTaskResult> {
  const { chain } = task.known;
  const match = chain.registry?.match(request);
  if (match === undefined) return failedResult(notFound(request, chain.registry?.near(request) ?? []));
  const { id, result, isRefused } = await chain.spawn(task, orderFrom(request, match.template));
  if (!isRefused) task.ended.push({ id, type: request.type, result });
  return result.status === "FAILED" && !isRefused ? asSubtaskFailure(request.type, id, result) : result;
}

function notFound({ type, description }: SubtaskRequest, near: readonly string[]): TaskError {
  const meant = near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
  return taskFailure(
    "template_not_found",
    `no template fits type "${type}": ${description.slice(0, 200)}${meant}`,
    {
      subtaskType: type,
      ...(near.length > 0 && { near }),
    },
  );
}

const orderFrom = (request: SubtaskRequest, template: TaskOrder["template"]): TaskOrder => ({
  template,
  type: request.type,
  subtype: request.subtype ?? template.subtype ?? "subtask",
  description: request.description,
  inputs: request.inputs,
  filePaths: request.file_paths ?? template.file_paths ?? [],
  maxDepth: request.max_depth,
  expectation: request.return_expectations ?? template.return_expectations,
  layers: [request.context_management, template.context_management],
});

const toolNameOf = ({ type }: SubtaskRequest) => `subtask:${type}`;

async function addToolResponse(task: LiveTask, name: string, result: HandledTaskResult): Promise<void> {
  const { handler, chain, spawned } = task.known;
  task.entries.push(toolEntry(name, result));
  await task.within({
    what: `the handler of ${spawned.id}`,
    ms: chain.limits.turnMs,
    work: () => handler.addToolResponse(task.session?.value, name, result),
  });
}

const toolEntry = (name: string, { status, content }: HandledTaskResult): ContextEntry => ({
  is: "tool",
  name,
  text: `${status}\n${content}`,
});

/**
 * Finds the answer to a task's question: from its parent, the ancestors above that, a person, or its default after a
 * time.
 */
type Converse = (task: LiveTask, input: string, until: "answered") => Promise<HandledTaskResult>;
type Respond = (task: LiveTask, name: string, result: HandledTaskResult) => Promise<void>;

/** The result for the session that asked: the answer, or that there is none. */
async function askAbove(
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

/** The content is the question; `notes.question` may have a default and the longest time to wait. */
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
  // One after the other: a session that gets two questions at once would mix them up.
  const turn = top.questions.then(() => askParent(parent, question, converse, respond));
  top.questions = turn;
  return await turn;
}

/** Groups have no session to ask: returns the outermost group around a task, or the task itself. */
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
  // Also told to the parent, because it asked too: its conversation would have a question without an answer.
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
