/** How do tasks run one after the other? Each hears of those before it as its settings say; the first failure ends it. */
import type { HandledTaskResult } from "../ports/subtasks.ts";
import { failedResult } from "./errors.ts";
import { briefly, complete, groupFailure, isDone, runPart } from "./group.ts";
import type { LiveTask, Ran } from "./live-task.ts";

export async function runSequence(task: LiveTask): Promise<HandledTaskResult> {
  const { template, spawned } = task.known;
  const steps = template.steps ?? [];
  const done: Ran[] = [];
  for (const [i, step] of steps.entries()) {
    const ran = await runPart(task, step, spawned.inputs);
    if (task.over) return task.over;
    if (!isDone(ran)) {
      const policy = { failedStep: i + 1, totalSteps: steps.length, partialResults: done.map(briefly) };
      const error = groupFailure(`step ${i + 1} of ${steps.length}`, ran, spawned.type, policy);
      return failedResult(error, task.partial);
    }
    done.push(ran);
    task.ended.push({ ...ran, type: `step ${i + 1}` });
    task.partial = ran.result.content;
  }
  return complete(task.partial, { steps: done.map(briefly) });
}
