/** Runs one task of a group as a subtask, one level below, with the group's context settings; and runs sequences. */
import type { HandledTaskResult, TaskError, TaskInputs } from "../ports/subtasks.ts";
import { failedResult, partialOf, taskFailure } from "./errors.ts";
import type { LiveTask, Ran } from "./live-task.ts";
import { named, type TaskRef, type Template } from "./template.ts";

export async function runPart(
  group: LiveTask,
  ref: TaskRef,
  inputs: TaskInputs,
  onFirstAnswer?: () => void,
): Promise<Ran> {
  const { chain, said } = group.known;
  const template = templateOf(group, ref);
  if (template === undefined) {
    onFirstAnswer?.();
    const error = taskFailure("template_not_found", `there is no template "${String(ref)}"`);
    return { id: group.nextId(), result: failedResult(error), isRefused: true };
  }
  return await chain.spawn(group, {
    template,
    type: template.type,
    subtype: template.subtype ?? "subtask",
    description: template.description,
    inputs,
    filePaths: template.file_paths ?? [],
    expectation: template.return_expectations,
    layers: [template.context_management, said],
    onFirstAnswer,
  });
}

export const templateOf = (group: LiveTask, ref: TaskRef): Template | undefined =>
  typeof ref === "string" ? group.known.chain.registry?.get(ref) : named(ref);

/** The error of a group one of whose tasks failed; it keeps the results of the others. */
export function groupFailure(
  where: string,
  { id, result }: Ran,
  type: string,
  details: Readonly<Record<string, unknown>>,
): TaskError {
  const original = result.notes.error ?? taskFailure("unexpected_error", "failed without a reason");
  const left = partialOf(result);
  return taskFailure("subtask_failure", `${where} failed (${id}): ${original.message}`, {
    subtaskType: type,
    subtaskId: id,
    ...details,
    ...(left !== undefined && { failedResult: left }),
    originalError: original,
  });
}

export const briefly = ({ id, result }: Ran): { readonly task_id: string; readonly content: string } => ({
  task_id: id,
  content: result.content,
});

export const isDone = ({ result }: Ran): boolean => result.status === "COMPLETE";

export const complete = (content: string, notes: HandledTaskResult["notes"]): HandledTaskResult => ({
  content,
  status: "COMPLETE",
  notes,
});

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
