/**
 * Adapts the script of `skein demo` to a fleet. Its waits read job records beside the turn, which only the coordinator
 * has for all jobs, and its flaky test keeps a file outside of the project. So a test that follows the log makes files
 * in a folder that all workers see; the waits and the flaky test use that folder.
 */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Event } from "../../src/core/log/event.ts";
import { evolve } from "../../src/core/log/evolve.ts";
import { emptyState } from "../../src/core/log/state.ts";
import type { TaskId } from "../../src/core/task.ts";
import type { Script, ScriptStep, WorkAttempt } from "../../src/ports/agent-script.ts";
import type { RunHome } from "../../src/ports/runs.ts";
import { demoScript, demoSettings } from "../../src/surfaces/demo/script.ts";

/** The demo's settings as arguments of the command. */
export const DEMO_ARGS = Object.entries(demoSettings).flatMap(([key, value]) => [
  "--set",
  `${key}=${typeof value === "object" ? JSON.stringify(value) : value}`,
]);

/** The demo's script, whose waits are for files in `folder`. */
export function travellingDemo(folder: string): Script {
  const { work, ...rest } = demoScript();
  const travelling = (attempt: WorkAttempt): WorkAttempt => ({
    ...attempt,
    ...(attempt.steps && { steps: attempt.steps.map((step) => waitingIn(folder, step)) }),
  });
  const all = Object.entries(work).map(([key, attempts]) => [key, attempts.map(travelling)] as const);
  return { ...rest, work: Object.fromEntries(all) };
}

function waitingIn(folder: string, step: ScriptStep): ScriptStep {
  if (step.do !== "await") return step;
  const { until, task, attempt = 1 } = step;
  const mark = path.join(folder, until === "landed" ? landed(task) : ready(task, attempt));
  return { do: "run", command: ["sh", "-c", `until test -e '${mark}'; do sleep 0.02; done`] };
}

const landed = (task: string) => `${task}.landed`;
const ready = (task: string, attempt: number) => `${task}.${attempt}.ready`;

/** Makes the files that the script waits for, following the log, until the run is closed. */
export async function markProgress(home: RunHome, folder: string, signal: AbortSignal): Promise<void> {
  const state = emptyState();
  const nameOf = (task: TaskId) => state.tasks.get(task)?.spec.key ?? task;
  for await (const event of home.log.follow(0, signal)) {
    evolve(state, event);
    for (const mark of marksOf(event, nameOf)) await writeFile(path.join(folder, mark), "");
    if (event.type === "run.closed") return;
  }
}

/** A task that is ready after its second attempt also counts as ready for waits for its first. */
function marksOf(event: Event, nameOf: (task: TaskId) => string): readonly string[] {
  if (event.type === "batch.landed") return event.members.map(({ task }) => landed(nameOf(task)));
  if (event.type !== "task.handed-off") return [];
  return Array.from({ length: event.attempt }, (_, i) => ready(nameOf(event.task), i + 1));
}
