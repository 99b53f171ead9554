/** Reads a worker's call: checks the request for a subtask or question and fills it in from its template. */
import { cut } from "../core/handoff.ts";
import type { QuestionOrder, SubtaskOrder, ToolResponse, WorkerCall } from "../core/subtask.ts";
import type { Called } from "../ports/agent.ts";
import { canonicalJson, signatureOf } from "../subtasks/canonical.ts";
import { unusableExpectation } from "../subtasks/expectations.ts";
import type { TemplateRegistry } from "../subtasks/registry.ts";
import { inWorkspace, readRequest, type SubtaskRequest } from "../subtasks/request.ts";
import { settingsOf } from "../subtasks/settings.ts";
import { isRecord } from "../text/json.ts";
import { redactFields } from "../text/redact.ts";

/** Removes secrets, because a call goes into the log, and to other agents. */
export function readCall({ tool, input }: Called, templates: TemplateRegistry, redact: Redact): WorkerCall {
  const clean = redactFields(input, redact);
  if (tool === "ask") {
    const question = readQuestion(clean);
    return typeof question === "string" ? refused("answer", redact(question)) : { is: "question", question };
  }
  const order = readOrder(clean, templates);
  if (typeof order === "string") return refused("subtask", redact(order));
  const { length } = JSON.stringify(order);
  return length > MAX_ORDER_CHARS
    ? refused(
        "subtask",
        `the request has ${length} characters, at most ${MAX_ORDER_CHARS} are allowed: put the rest into files`,
      )
    : { is: "subtask", order };
}

type Redact = (text: string) => string;

/** The order is kept in the log, and in memory as long as the subtask is open. */
const MAX_ORDER_CHARS = 150_000;

function readOrder(input: unknown, templates: TemplateRegistry): SubtaskOrder | string {
  const read = readRequest(isRecord(input) ? { inputs: {}, ...input } : input);
  return "problem" in read ? read.problem : orderFor(read.request, templates);
}

/** A string says why there can be no such subtask. */
function orderFor(request: SubtaskRequest, templates: TemplateRegistry): SubtaskOrder | string {
  const template = templates.match(request)?.template;
  if (template?.steps ?? template?.each ?? template?.director)
    return `the template ${template.name} is a group of tasks: a worker cannot ask for it, skein subtask run can`;
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
  const filePaths = (file_paths ?? template?.file_paths ?? []).map(inWorkspace);
  const maxDepth = least(max_depth, template?.max_depth);
  const identity = {
    ...{ template: template?.name ?? "", type, subtype, description: request.description },
    ...{ inputs: inputs.text, file_paths: filePaths },
  };
  return {
    type,
    subtype,
    template: identity.template,
    description: request.description,
    inputs: inputs.text,
    filePaths,
    signature: signatureOf(identity),
    context: settled.settings,
    ...(template?.instructions !== undefined && { instructions: template.instructions }),
    ...(template?.handler !== undefined && { agent: template.handler }),
    ...(expected !== undefined && { expectation: asText(expected) }),
    ...(maxDepth !== undefined && { maxDepth }),
  };
}

const least = (...numbers: readonly (number | undefined)[]): number | undefined => {
  const given = numbers.filter((number) => number !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
};

const asText = (expected: string | object): string =>
  typeof expected === "string" ? expected : JSON.stringify(expected);

const MAX_INPUT_CHARS = 100_000;

function readQuestion(input: unknown): QuestionOrder | string {
  if (!isRecord(input)) return "a question is an object with `question`, and may have `default` and `wait_s`";
  const { question, default: taken, wait_s: wait } = input;
  if (typeof question !== "string" || question.trim() === "") return "question: must be a text";
  if (taken !== undefined && typeof taken !== "string") return "default: must be a text";
  if (wait !== undefined && !(typeof wait === "number" && wait >= 0))
    return "wait_s: must be a number of seconds";
  return {
    text: cut(question, MAX_QUESTION_CHARS),
    ...(taken !== undefined && { default: cut(taken, MAX_QUESTION_CHARS) }),
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
