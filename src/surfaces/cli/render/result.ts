/** `skein show <run> <task> --result`: prints the whole result of a task, also if the log has only its beginning. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { SeenRun } from "../../../app/see-run.ts";
import { taskOf } from "../../../core/log/state.ts";
import type { Task, TaskId } from "../../../core/task.ts";
import type { RunHome } from "../../../ports/runs.ts";
import { steerless } from "../../../text/words.ts";
import { type Context, say, writeJson } from "../context.ts";

type Result = { readonly text: string; readonly file?: string };

/** Returns false if the task has no result. */
export async function showResult(context: Context, { home, seen }: SeenRun, task: TaskId): Promise<boolean> {
  const result = await resultOf(home, taskOf(seen.state, task));
  if (context.json)
    writeJson(context, { run: home.record.run, task, result: result?.text ?? null, ...fileOf(result) });
  else if (result === undefined) say(context, "It has no result yet.");
  else say(context, steerless(result.text.replace(CONTROL, " ")));
  return result !== undefined;
}

/** Control characters except tabs and line ends, because a terminal obeys escapes. */
const CONTROL = /[\p{Cc}--[\t\n\r]]/gv;

const fileOf = (result: Result | undefined) => (result?.file === undefined ? {} : { file: result.file });

/** Its output file, else the stored whole text of a cut result, else what the log has. */
async function resultOf(home: RunHome, { spec, state }: Task): Promise<Result | undefined> {
  const handoff = "handoff" in state ? state.handoff : undefined;
  const file = resultFileOf(home, spec, handoff?.artefact);
  const text = file === undefined ? undefined : await readFile(file, "utf8").catch(() => undefined); // Removed since.
  if (file !== undefined && text !== undefined) return { text, file };
  return handoff && { text: handoff.summary };
}

/** Found by the last part of its path, because another machine may have written it. */
export function resultFileOf(
  { folder }: RunHome,
  { terms }: Task["spec"],
  artefact: string | undefined,
): string | undefined {
  if (terms?.output !== undefined) return path.join(folder, "scratchpad", terms.output);
  return artefact === undefined ? undefined : path.join(folder, "artefacts", path.basename(artefact));
}
