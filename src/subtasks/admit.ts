/** Decides whether a task may begin: makes all refusals before any work is done, and fixes the task's settings. */

import type { FailureReason, TaskError, TaskHandler, TaskInputs } from "../ports/subtasks.ts";
import { isRecord } from "../text/json.ts";
import { Budget } from "./budget.ts";
import { canonicalJson, signatureOf } from "./canonical.ts";
import { taskFailure } from "./errors.ts";
import { unusableExpectation } from "./expectations.ts";
import { type Chain, LiveTask, type TaskOrder } from "./live-task.ts";
import { inWorkspace } from "./request.ts";
import { mergeLayers, settingsOf } from "./settings.ts";

type Admitted = { readonly task: LiveTask } | { readonly refused: TaskError };

export function admit(chain: Chain, parent: LiveTask | undefined, id: string, order: TaskOrder): Admitted {
  const { template, type, subtype, description, expectation } = order;
  const filePaths = order.filePaths.map(inWorkspace);
  const levels = levelsFor(chain, parent, order);
  if (levels < 1) return refused("max_depth_exceeded", `${id} would be deeper than is allowed`);
  const inputs = inputsOf(order, chain.limits.inputChars);
  if ("problem" in inputs) return refused("input_validation_failure", inputs.problem);
  const settled = settingsOf(order.layers);
  if ("problem" in settled) return refused("input_validation_failure", settled.problem);
  const { settings, warnings } = settled;
  const handler = handlerFor(chain, parent, order, settings.inherit_context === "full");
  if ("problem" in handler) return refused("input_validation_failure", handler.problem);
  const identity = {
    template: template.name,
    type,
    subtype,
    description,
    inputs: inputs.text,
    file_paths: filePaths,
  };
  const signature = signatureOf(identity);
  const twin = ancestorWith(signature, parent);
  if (twin)
    return refused(
      "cycle_detected",
      `${id} is what ${twin.id} is doing already: same template, words and inputs`,
    );
  const now = chain.clock.now();
  const budget = (parent?.known.budget ?? new Budget(chain.limits.chain, now)).carve(template.budget, now);
  const lacking = budget.takeTask();
  if (lacking) return { refused: lacking };
  const depth = parent === undefined ? 0 : parent.known.spawned.depth + 1;
  const spawned = {
    id,
    depth,
    template: template.name,
    type,
    subtype,
    description,
    ...ownInputs(inputs.text),
  };
  chain.emit({ is: "spawned", task: spawned, signature, settings });
  const known = {
    ...{
      chain,
      spawned,
      template,
      parent,
      budget,
      signature,
      filePaths,
      settings,
      expectation,
      handler: handler.found,
    },
    entriesBefore: parent?.entries.length ?? 0,
    levelsLeft: levels - 1,
    inputsText: inputs.text,
    said: mergeLayers(order.layers),
    onFirstAnswer: order.onFirstAnswer,
  };
  return { task: new LiveTask(known, warnings) };
}

/** A copy, so that a task that changes its inputs does not change those of another. Parsed when first read. */
function ownInputs(text: string): { readonly inputs: TaskInputs } {
  let own: TaskInputs | undefined;
  return {
    get inputs() {
      own ??= JSON.parse(text) as TaskInputs;
      return own;
    },
  };
}

const refused = (reason: FailureReason, message: string): Admitted => ({
  refused: taskFailure(reason, message),
});

/**
 * The levels that the task may use, its own included: what its parent has left; a request or a template can only lower
 * it.
 */
const levelsFor = (chain: Chain, parent: LiveTask | undefined, { maxDepth, template }: TaskOrder) =>
  Math.min(
    parent?.known.levelsLeft ?? chain.limits.maxDepth,
    maxDepth ?? Infinity,
    template.max_depth ?? Infinity,
  );

/**
 * The inputs as canonical JSON; a problem if a required one is missing, if JSON cannot represent them, or if the
 * expectation cannot be checked.
 */
function inputsOf(
  { inputs, template, expectation }: TaskOrder,
  maxChars: number,
): { readonly text: string } | { readonly problem: string } {
  if (!isRecord(inputs)) return { problem: "inputs: must be an object" };
  const missing = Object.entries(template.inputs ?? {}).find(
    ([name, { required }]) => required && inputs[name] === undefined,
  );
  if (missing) return { problem: `inputs: ${missing[0]} is missing, which ${template.name} needs` };
  const unusable = expectation === undefined ? undefined : unusableExpectation(expectation);
  if (unusable !== undefined) return { problem: `return_expectations: ${unusable}` };
  const written = canonicalJson(inputs, maxChars);
  return "problem" in written ? { problem: `inputs: ${written.problem}` } : written;
}

/** Compares with ancestors only: siblings may do the same thing twice. */
function ancestorWith(signature: string, parent: LiveTask | undefined): LiveTask | undefined {
  let above = parent;
  while (above !== undefined && above.known.signature !== signature) above = above.known.parent;
  return above;
}

function handlerFor(
  { handler, handlers }: Chain,
  parent: LiveTask | undefined,
  { template }: TaskOrder,
  isFull: boolean,
): { readonly found: TaskHandler } | { readonly problem: string } {
  const { handler: name } = template;
  const found = name === undefined ? handler : Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  if (found === undefined)
    return { problem: `there is no handler "${name}", which the template ${template.name} names` };
  const speaker = parent?.speaker;
  if (isFull && speaker !== undefined && speaker.known.handler !== found)
    return {
      problem: `inherit_context "full" needs the parent's handler: another one takes "subset" or "none"`,
    };
  return { found };
}
