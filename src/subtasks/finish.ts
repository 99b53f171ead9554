/** Makes a task's result of its last answer: checks it, and cuts it to what a session can take, with notes. */

import { messageOf } from "../core/failure.ts";
import { hasFailed } from "../core/result.ts";
import type { Artefacts, HandledTaskResult, TaskNotes } from "../ports/subtasks.ts";
import { taskFailure } from "./errors.ts";
import { checkExpectation } from "./expectations.ts";
import type { LiveTask } from "./live-task.ts";
import { cutTo, tokensOf } from "./tokens.ts";

export async function finish(task: LiveTask, result: HandledTaskResult): Promise<HandledTaskResult> {
  const { chain, settings } = task.known;
  const checked = result.status === "COMPLETE" ? asExpected(task, result) : result;
  const capped = await capResult(checked, chain.limits.resultTokens, chain.artefacts);
  const context = {
    ...settings,
    ...(task.files.length > 0 && { files: task.files }),
    ...(task.truncated.length > 0 && { truncated: task.truncated }),
  };
  const warnings = task.warnings.length > 0 ? { warnings: task.warnings } : undefined;
  return { ...capped, notes: { ...capped.notes, task_id: task.id, context, ...warnings } };
}

function asExpected(task: LiveTask, result: HandledTaskResult): HandledTaskResult {
  const { expectation } = task.known;
  if (expectation === undefined) return result;
  const checked = checkExpectation(result.content, expectation);
  if (checked.is === "unchecked")
    task.warnings.push("return_expectations are words: the result was not checked");
  if (checked.is !== "unlike") return result;
  const error = taskFailure("output_format_failure", `not as expected: ${checked.problems.join("; ")}`, {
    expected: expectation,
    partialResults: result.content,
  });
  return { ...result, status: "FAILED", notes: { ...result.notes, error } };
}

/** A longer result is stored whole as an artefact, which the notes name. */
export async function capResult(
  result: HandledTaskResult,
  maxTokens: number,
  artefacts: Artefacts,
): Promise<HandledTaskResult> {
  const { content } = result;
  let notes = await capNotes(result.notes, maxTokens, artefacts);
  if (tokensOf(content) <= maxTokens) return { ...result, notes };
  const kept = await keep(content, artefacts);
  if ("name" in kept) notes = { ...notes, artefact: kept.name };
  return { ...result, content: cutTo(content, maxTokens, whereIs(kept)), notes };
}

/** Notes that JSON cannot represent are dropped too, because they could not be passed on. */
async function capNotes(notes: TaskNotes, maxTokens: number, artefacts: Artefacts): Promise<TaskNotes> {
  let isEmpty = true;
  for (const _ in notes) isEmpty = false;
  if (isEmpty) return notes;
  let text: string;
  try {
    text = JSON.stringify(notes);
  } catch (thrown) {
    return { ...readByEngine(notes), notes_left_out: messageOf(thrown) };
  }
  if (tokensOf(text) <= maxTokens) return notes;
  const kept = await keep(text, artefacts);
  const shown = cutTo(text, Math.min(maxTokens, SHOWN_TOKENS), whereIs(kept));
  const where = "name" in kept ? { artefact: kept.name } : {};
  const left = { ...readByEngine(notes), ...where, notes_left_out: shown };
  const { error } = notes;
  return error === undefined ? left : { ...left, error: withoutDetails(error) };
}

/** Notes that groups decide by: a loop that did not see `success` would continue, and pay for needless rounds. */
const readByEngine = ({ success, iterations }: TaskNotes): TaskNotes => ({
  ...(typeof success === "boolean" && { success }),
  ...(typeof iterations === "number" && { iterations }),
});

const SHOWN_TOKENS = 200;

function withoutDetails(error: NonNullable<TaskNotes["error"]>): NonNullable<TaskNotes["error"]> {
  const { details: _, ...short } = error;
  return { ...short, message: cutTo(short.message, SHOWN_TOKENS) };
}

type Kept = { readonly name: string } | { readonly problem: string };

async function keep(text: string, artefacts: Artefacts): Promise<Kept> {
  try {
    const kept = await artefacts.keep(text);
    return hasFailed(kept) ? { problem: kept.failure.message } : kept;
  } catch (thrown) {
    return { problem: messageOf(thrown) };
  }
}

const whereIs = (kept: Kept) =>
  "name" in kept ? `; the whole is kept as ${kept.name}` : `; the whole could not be kept: ${kept.problem}`;
