/** How does one task's session go on? It is prompted until it ends; subtasks and answers come back as tool responses. */
import type { ContextEntry, HandledTaskResult } from "../ports/subtasks.ts";
import { askAbove } from "./ask.ts";
import { asSubtaskFailure, exhausted, failedResult, readResult, taskFailure } from "./errors.ts";
import type { LiveTask, TaskOrder } from "./live-task.ts";
import { readRequest, type SubtaskRequest } from "./request.ts";
import { tokensOf } from "./tokens.ts";

/**
 * `until` "ended": COMPLETE or FAILED. While a subtask of it waits for an answer, "answered": then COMPLETE is the
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

/** Runs what was asked for, and hands the whole result to the session that asked. */
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
  // After the spawn, which takes what is above this line: a child does not inherit the call that made it.
  task.entries.push({ is: "answer", text: asking.content });
  await addToolResponse(task, toolNameOf(request), await running);
}

async function runSubtask(task: LiveTask, request: SubtaskRequest): Promise<HandledTaskResult> {
  const { chain } = task.known;
  const match = chain.registry?.match(request);
  if (match === undefined)
    return failedResult(
      taskFailure(
        "template_not_found",
        `no template fits type "${request.type}": ${request.description.slice(0, 200)}`,
        {
          subtaskType: request.type,
        },
      ),
    );
  const { id, result, isRefused } = await chain.spawn(task, orderFrom(request, match.template));
  if (!isRefused) task.ended.push({ id, type: request.type, result });
  return result.status === "FAILED" && !isRefused ? asSubtaskFailure(request.type, id, result) : result;
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
