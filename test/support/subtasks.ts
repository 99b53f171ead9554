/** Builds what tests of subtasks share: functions by template, a registry of templates, and short requests. */
import assert from "node:assert/strict";
import type { HandledTaskResult } from "../../src/ports/subtasks.ts";
import { type FunctionTurn, functionHandler, type TurnAnswer } from "../../src/subtasks/function-handler.ts";
import { TemplateRegistry } from "../../src/subtasks/registry.ts";
import type { SubtaskRequest } from "../../src/subtasks/request.ts";
import type { TaskTemplate } from "../../src/subtasks/template.ts";

export type Turn = (turn: FunctionTurn) => TurnAnswer | PromiseLike<TurnAnswer>;

/** Runs one function for each template, by name, and records every turn. */
export function teamOf(turns: Readonly<Record<string, Turn>>) {
  const record: FunctionTurn[] = [];
  const handler = functionHandler((turn) => {
    record.push({ ...turn, responses: [...turn.responses], transcript: [...turn.transcript] });
    const { template } = turn.task;
    return (turns[template] ?? assert.fail(`nobody does ${template}`))(turn);
  });
  return {
    handler,
    record,
    of: (template: string) => record.filter(({ task }) => task.template === template),
  };
}

export function registryOf(...templates: readonly TaskTemplate[]): TemplateRegistry {
  const registry = new TemplateRegistry();
  for (const template of templates) assert.ok("template" in registry.register(template), template.name);
  return registry;
}

/** A template whose type is its name, by which it can be asked for. */
export const template = (name: string, more: Partial<TaskTemplate> = {}): TaskTemplate => ({
  name,
  type: name,
  description: `Do ${name}`,
  ...more,
});

export const spawning = (
  type: string,
  more: Partial<SubtaskRequest> = {},
  content = `needs ${type}`,
): TurnAnswer => ({
  content,
  status: "CONTINUATION",
  notes: { subtask_request: { type, description: `Do ${type}`, inputs: {}, ...more } },
});

/** Spawns once, then completes with what `then` makes of the result. */
export const once =
  (
    type: string,
    more: Partial<SubtaskRequest> = {},
    then = (result: HandledTaskResult) => `with ${result.content}`,
  ): Turn =>
  ({ responses }) =>
    responses.length === 0 ? spawning(type, more) : then(responses[0]!.result);

export const failing = (message: string, content = ""): TurnAnswer => ({
  content,
  status: "FAILED",
  notes: { error: { type: "TASK_FAILURE", reason: "unexpected_error", message } },
});

/** The reason of a failure, or the resource that was used up. */
export function reasonOf({ status, notes: { error } }: HandledTaskResult): string {
  assert.equal(status, "FAILED");
  return error === undefined ? "none" : error.type === "TASK_FAILURE" ? error.reason : error.resource;
}
