/** Runs a task with every task that it spawns. Never throws for a task's failure: a failure is a result. */
import { messageOf } from "../core/failure.ts";
import type { Clock } from "../ports/clock.ts";
import type { HandledTaskResult, TaskHandler, TaskInputs } from "../ports/subtasks.ts";
import { admit } from "./admit.ts";
import { MemoryArtefacts } from "./artefacts.ts";
import { assembleContext, type ContextWish } from "./context.ts";
import { converse } from "./conversation.ts";
import { failedResult, taskFailure, thrownError } from "./errors.ts";
import { finish } from "./finish.ts";
import { runSequence } from "./group.ts";
import { limitsOf, type SomeLimits } from "./limits.ts";
import type { Chain, LiveTask, Ran, SubtaskEvent, TaskOrder } from "./live-task.ts";
import { runLoop } from "./loop.ts";
import { runMap } from "./map.ts";
import { readTemplate, type TaskTemplate, type Template } from "./template.ts";

export type ExecuteTaskOptions = Partial<
  Pick<Chain, "registry" | "handlers" | "artefacts" | "files" | "runScript" | "whyNoScripts" | "ask">
> & {
  /** Handles every task whose template names no other handler. */
  readonly handler: TaskHandler;
  readonly limits?: SomeLimits;
  /** Stops the task and everything below it. */
  readonly signal?: AbortSignal;
  readonly clock?: Pick<Clock, "now" | "wakeAt">;
  /** Is called with each event as it happens. */
  readonly onEvent?: (event: SubtaskEvent) => void;
};

/** Runs the first task of a chain; `inputs` are its data. */
export async function executeTask(
  task: TaskTemplate,
  inputs: TaskInputs,
  options: ExecuteTaskOptions,
): Promise<HandledTaskResult> {
  checkOptions(options);
  const read = readTemplate(task);
  if ("problem" in read) return failedResult(taskFailure("input_validation_failure", read.problem));
  const { template } = read;
  const { result } = await spawn(chainOf(options), undefined, rootOrder(template, inputs), options.signal);
  return result;
}

/** Mistakes of the calling program are thrown, before anything is done. */
function checkOptions(options: unknown): void {
  const { handler } = Object(options) as { readonly handler?: unknown };
  const methods = Object(handler) as Readonly<Record<string, unknown>>;
  for (const method of ["open", "prompt", "addToolResponse"])
    if (typeof methods[method] !== "function")
      throw new TypeError(
        handler === undefined
          ? "options.handler is missing: it talks for the tasks (functionHandler makes one of a function)"
          : `options.handler.${method} must be a function`,
      );
}

const rootOrder = (template: Template, inputs: TaskInputs): TaskOrder => ({
  template,
  type: template.type,
  subtype: template.subtype ?? "task",
  description: template.description,
  inputs,
  filePaths: template.file_paths ?? [],
  expectation: template.return_expectations,
  layers: [template.context_management],
});

function chainOf({ handler, handlers = {}, limits, clock, onEvent, ...given }: ExecuteTaskOptions): Chain {
  const chain: Chain = {
    limits: limitsOf(limits),
    clock: clock ?? SYSTEM_CLOCK,
    handler,
    handlers,
    registry: given.registry,
    artefacts: given.artefacts ?? new MemoryArtefacts(),
    files: given.files,
    runScript: given.runScript,
    whyNoScripts: given.whyNoScripts,
    ask: given.ask,
    emit: onEvent ? guarded(onEvent) : () => undefined,
    spawn: (parent, order) => spawn(chain, parent, order),
  };
  return chain;
}

const SYSTEM_CLOCK: Pick<Clock, "now" | "wakeAt"> = {
  now: () => performance.now(),
  wakeAt(time, wake) {
    const timer = setTimeout(wake, Math.min(Math.max(0, time - performance.now()), MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
};
/** Node's timers count in 31 bits. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A listener that throws stops nothing, and still gets the later events. */
const guarded = (listener: (event: SubtaskEvent) => void) => (event: SubtaskEvent) => {
  try {
    listener(event);
  } catch (thrown) {
    process.emitWarning(thrownError("a listener of subtasks threw", thrown).message);
  }
};

async function spawn(
  chain: Chain,
  parent: LiveTask | undefined,
  order: TaskOrder,
  signal?: AbortSignal,
): Promise<Ran> {
  const id = parent === undefined ? "t" : parent.nextId();
  const admitted = admit(chain, parent, id, order);
  if ("refused" in admitted) {
    order.onFirstAnswer?.();
    const { refused } = admitted;
    const error = { ...refused, details: { subtaskType: order.type, ...refused.details } };
    return { id, result: { ...failedResult(error), notes: { error, task_id: id } }, isRefused: true };
  }
  const { task } = admitted;
  const halt = () => task.stop(taskFailure("execution_halted", `stopped: ${messageOf(signal?.reason)}`));
  signal?.addEventListener("abort", halt, { once: true });
  if (signal?.aborted) halt();
  try {
    const result = await finish(task, await run(task));
    chain.emit({ is: "ended", id, result });
    return { id, result, isRefused: false };
  } catch (thrown) {
    return { id, result: failedResult(thrownError("the engine of subtasks", thrown)), isRefused: false };
  } finally {
    signal?.removeEventListener("abort", halt);
    task.end();
  }
}

async function run(task: LiveTask): Promise<HandledTaskResult> {
  const { template, parent, entriesBefore } = task.known;
  const group = template.steps
    ? runSequence
    : template.each
      ? runMap
      : template.director
        ? runLoop
        : undefined;
  if (group === undefined) return await runOne(task);
  // A group has no session: its tasks inherit what the group would have inherited.
  task.entries = parent?.entries.slice(0, entriesBefore) ?? [];
  task.pieces = parent?.pieces ?? [];
  return await group(task);
}

async function runOne(task: LiveTask): Promise<HandledTaskResult> {
  const { chain, handler, spawned, settings, filePaths, template } = task.known;
  const { limits, files, registry } = chain;
  const assembled = await task.within({
    what: `the context of ${task.id}`,
    ms: limits.contextMs,
    work: () =>
      assembleContext(
        { settings, query: queryOf(task), filePaths, own: registry?.fileOf(template.name), ...aboveOf(task) },
        { files, limits, signal: task.signal },
      ),
  });
  if ("over" in assembled) return assembled.over;
  if ("error" in assembled.value) return task.stop(assembled.value.error);
  const { context, pieces, truncated, warnings } = assembled.value;
  task.pieces = [...pieces, { name: `inputs of ${task.id}`, text: task.known.inputsText }];
  task.files = context.files;
  task.truncated = truncated;
  task.warnings.push(...warnings);
  const opened = await task.within({
    what: `the handler of ${task.id}`,
    ms: limits.turnMs,
    work: () => handler.open(spawned, context, task.signal),
  });
  if ("over" in opened) return opened.over;
  task.session = { value: opened.value };
  task.entries.push(...context.inherited);
  if (context.text !== "") task.entries.push({ is: "context", text: context.text });
  return await converse(task, firstInput(task), "ended");
}

function aboveOf({ known }: LiveTask): Pick<ContextWish, "parent" | "earlier"> {
  const { parent, entriesBefore, settings } = known;
  if (parent === undefined) return { parent: undefined, earlier: [] };
  const entries = settings.inherit_context === "none" ? [] : parent.entries.slice(0, entriesBefore);
  const session = parent.speaker?.session?.value;
  return { parent: { pieces: parent.pieces, entries, session }, earlier: parent.ended };
}

const queryOf = ({ known: { spawned, inputsText } }: LiveTask) =>
  `${spawned.description} ${inputsText.slice(0, MAX_QUERY_CHARS)}`;
/** Of the inputs: the subject of a task is near the start. */
const MAX_QUERY_CHARS = 2_000;

/** The first prompt of a session. The inputs are canonical JSON, so equal tasks get equal bytes. */
function firstInput({ known: { template, spawned, inputsText, expectation } }: LiveTask): string {
  const instructions = template.instructions === undefined ? "" : `${template.instructions}\n\n`;
  const format =
    expectation === undefined
      ? ""
      : `\n\nAnswer as: ${typeof expectation === "string" ? expectation : JSON.stringify(expectation)}`;
  return `${spawned.description}\n\n${instructions}Inputs:\n${inputsText}${format}`;
}
