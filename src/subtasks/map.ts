/** Runs one task for many inputs side by side, and reduces the results in their order. */
import type { HandledTaskResult } from "../ports/subtasks.ts";
import { failedResult, taskFailure } from "./errors.ts";
import { briefly, complete, groupFailure, isDone, runPart, templateOf } from "./group.ts";
import type { LiveTask, Ran } from "./live-task.ts";
import { settingsOf } from "./settings.ts";
import type { TaskRef } from "./template.ts";
import { tokensOf } from "./tokens.ts";

export async function runMap(task: LiveTask): Promise<HandledTaskResult> {
  const { template, spawned, chain } = task.known;
  const { [template.over!]: items, ...others } = spawned.inputs;
  const { mapInputs } = chain.limits;
  if (!Array.isArray(items) || items.length > mapInputs)
    return failedResult(
      taskFailure(
        "input_validation_failure",
        `inputs: ${template.over} must be a list of at most ${mapInputs}`,
      ),
    );
  const results = await runEach(
    task,
    template.each!,
    (index) => ({ ...others, item: items[index], index }),
    items.length,
  );
  if (task.over) return task.over;
  const done = results.filter((ran) => ran !== undefined && isDone(ran)) as Ran[];
  for (const ran of done) task.ended.push({ ...ran, type: spawned.type });
  const failedAt = results.findIndex((ran) => ran !== undefined && !isDone(ran));
  if (failedAt !== -1) return mapFailure(task, results, failedAt);
  if (template.reduce === undefined) {
    const contents = done.map(({ result }) => result.content);
    return complete(JSON.stringify(contents), { results: done.map(briefly) });
  }
  return await reduce(task, template.reduce, others, done);
}

/** After a failure no more tasks start, but running ones are awaited, so that their results are kept. */
async function runEach(
  task: LiveTask,
  each: TaskRef,
  inputsFor: (index: number) => Readonly<Record<string, unknown>>,
  count: number,
): Promise<readonly (Ran | undefined)[]> {
  const { template, chain } = task.known;
  const results = new Array<Ran | undefined>(count).fill(undefined);
  let next = 0;
  let mayStart = true;
  const runOn = async (onFirstAnswer?: () => void) => {
    while (next < count && mayStart && task.over === undefined) {
      const index = next++;
      const ran = await runPart(task, each, inputsFor(index), onFirstAnswer);
      results[index] = ran;
      if (!isDone(ran)) mayStart = false;
    }
  };
  const lanes = Math.min(count, template.max_parallel ?? chain.limits.maxParallel);
  const warmed = Promise.withResolvers<void>();
  const first = runOn(() => warmed.resolve());
  // All inputs share a prefix: the first answer puts it into the provider's cache, which serves the others.
  if (inheritsAll(task, each) && count > 0) await warmed.promise;
  await Promise.all([first, ...Array.from({ length: Math.max(0, lanes - 1) }, () => runOn())]);
  return results;
}

function inheritsAll(task: LiveTask, each: TaskRef): boolean {
  const settled = settingsOf([templateOf(task, each)?.context_management, task.known.said]);
  return "settings" in settled && settled.settings.inherit_context === "full";
}

function mapFailure(task: LiveTask, results: readonly (Ran | undefined)[], index: number): HandledTaskResult {
  const processed = [...results.keys()].filter((i) => results[i] !== undefined && isDone(results[i]));
  const policy = {
    failedInputIndex: index,
    totalInputs: results.length,
    processedInputs: processed,
    partialResults: processed.map((i) => ({ index: i, ...briefly(results[i]!) })),
    currentAccumulator: "",
  };
  return failedResult(
    groupFailure(`input ${index} of ${results.length}`, results[index]!, task.known.spawned.type, policy),
  );
}

/** Reduces as many results at once as fit into one context: mostly all of them. */
async function reduce(
  task: LiveTask,
  ref: TaskRef,
  others: Readonly<Record<string, unknown>>,
  done: readonly Ran[],
): Promise<HandledTaskResult> {
  let accumulator = "";
  for (let from = 0; from < done.length || from === 0; ) {
    const to = batchEnd(done, from, task.known.chain.limits.contextTokens / 2);
    const results = done.slice(from, to).map((ran, i) => ({ index: from + i, ...briefly(ran) }));
    const ran = await runPart(task, ref, { ...others, accumulator, results, total: done.length });
    if (task.over) return task.over;
    if (!isDone(ran)) {
      const policy = {
        failedInputIndex: from,
        totalInputs: done.length,
        processedInputs: [...done.keys()].slice(0, from),
        partialResults: done.map(briefly),
        currentAccumulator: accumulator,
      };
      return failedResult(
        groupFailure(`reduce from input ${from}`, ran, task.known.spawned.type, policy),
        accumulator,
      );
    }
    accumulator = ran.result.content;
    task.partial = accumulator;
    from = Math.max(to, from + 1);
  }
  return complete(accumulator, { results: done.map(({ id }) => ({ task_id: id })) });
}

function batchEnd(done: readonly Ran[], from: number, maxTokens: number): number {
  let to = from;
  for (let tokens = 0; to < done.length; to += 1) {
    tokens += tokensOf(done[to]!.result.content);
    if (tokens > maxTokens && to > from) break;
  }
  return to;
}
