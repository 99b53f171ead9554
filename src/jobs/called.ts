/** What did a worker call for? The request is checked and filled in by its template; the rules decide the rest. */
import { cut } from "../core/handoff.ts";
import type { QuestionOrder, SubtaskOrder, ToolResponse, WorkerCall } from "../core/subtask.ts";
import type { Called } from "../ports/agent.ts";
import { canonicalJson, signatureOf } from "../subtasks/canonical.ts";
import { isRecord } from "../subtasks/errors.ts";
import { unusableExpectation } from "../subtasks/expectations.ts";
import { DEFAULT_LIMITS } from "../subtasks/limits.ts";
import type { TemplateRegistry } from "../subtasks/registry.ts";
import { readRequest, type SubtaskRequest } from "../subtasks/request.ts";
import { settingsOf } from "../subtasks/settings.ts";
import type { Template } from "../subtasks/template.ts";

/** `redact`: what is called for goes into the log, and to other agents. */
export function readCall(
  { tool, input }: Called,
  templates: TemplateRegistry,
  redact: (text: string) => string,
): WorkerCall {
  if (tool === "ask") {
    const question = readQuestion(input, redact);
    return typeof question === "string" ? refused("answer", question) : { is: "question", question };
  }
  const read = readRequest(isRecord(input) ? { inputs: {}, ...input } : input);
  const order = "problem" in read ? read.problem : orderFor(read.request, templates, redact);
  return typeof order === "string" ? refused("subtask", order) : { is: "subtask", order };
}

/** In words: why there can be no such subtask. */
function orderFor(
  request: SubtaskRequest,
  templates: TemplateRegistry,
  redact: (text: string) => string,
): SubtaskOrder | string {
  const template = templates.match(request)?.template;
  const { type, subtype = template?.subtype ?? "subtask", file_paths, max_depth } = request;
  const missing = Object.entries(template?.inputs ?? {}).find(
    ([name, { required }]) => required && request.inputs[name] === undefined,
  );
  if (missing) return `inputs: ${missing[0]} is missing, which ${template!.name} needs`;
  const inputs = canonicalJson(request.inputs, MAX_INPUT_CHARS);
  if ("problem" in inputs) return `inputs: ${inputs.problem}`;
  const settled = settingsOf([request.context_management, template?.context_management]);
  if ("problem" in settled) return settled.problem;
  const expected = request.return_expectations ?? template?.return_expectations;
  const unusable = expected === undefined ? undefined : unusableExpectation(expected);
  if (unusable !== undefined) return `return_expectations: ${unusable}`;
  const filePaths = file_paths ?? template?.file_paths ?? [];
  const maxDepth = least(max_depth, template?.max_depth);
  const identity = {
    ...{ template: template?.name ?? "", type, subtype, description: request.description },
    ...{ inputs: inputs.text, file_paths: filePaths },
  };
  return {
    ...{ type, subtype, template: identity.template, filePaths, signature: signatureOf(identity) },
    description: redact(request.description),
    inputs: redact(inputs.text),
    context: settled.settings,
    ...instructionsOf(template),
    ...(expected !== undefined && { expectation: asText(expected) }),
    ...(maxDepth !== undefined && { maxDepth }),
  };
}

const instructionsOf = (template: Template | undefined) =>
  template?.instructions === undefined ? {} : { instructions: template.instructions };

const least = (...numbers: readonly (number | undefined)[]): number | undefined => {
  const given = numbers.filter((number) => number !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
};

const asText = (expected: string | object): string =>
  typeof expected === "string" ? expected : JSON.stringify(expected);

/** It is kept in the log. */
const MAX_INPUT_CHARS = Math.min(DEFAULT_LIMITS.inputChars, 100_000);

function readQuestion(input: unknown, redact: (text: string) => string): QuestionOrder | string {
  if (!isRecord(input)) return "a question is an object with `question`, and may have `default` and `wait_s`";
  const { question, default: taken, wait_s: wait } = input;
  if (typeof question !== "string" || question.trim() === "") return "question: must be a text";
  if (taken !== undefined && typeof taken !== "string") return "default: must be a text";
  if (wait !== undefined && !(typeof wait === "number" && wait >= 0))
    return "wait_s: must be a number of seconds";
  return {
    text: redact(cut(question, MAX_QUESTION_CHARS)),
    ...(taken !== undefined && { default: redact(cut(taken, MAX_QUESTION_CHARS)) }),
    ...(wait !== undefined && { waitMs: Math.round(wait * 1_000) }),
  };
}

const MAX_QUESTION_CHARS = 10_000;

const refused = (name: ToolResponse["name"], message: string): WorkerCall => ({
  is: "refused",
  response: {
    name,
    result: {
      status: "FAILED",
      content: "",
      notes: { error: { type: "TASK_FAILURE", reason: "input_validation_failure", message } },
    },
  },
});
