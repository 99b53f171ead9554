/** Runs Skein in a process that kills itself with SIGKILL right before or after one event is on the disk. */
import { openProject } from "../../src/compose/project.ts";
import type { Event } from "../../src/core/log/event.ts";
import { hasFailed } from "../../src/core/result.ts";
import type { EventLog } from "../../src/ports/event-log.ts";
import { configOf, createRun, startRun } from "./live-runs.ts";

const [repository = "", settings = "{}", when = "", type = "", task = ""] = process.argv.slice(2);
const signal = AbortSignal.timeout(60_000);

const isFatal = (event: Event): boolean => event.type === type && "task" in event && event.task === task;

const deadly = (log: EventLog): EventLog => ({
  read: (after) => log.read(after),
  append: async (after, events) => {
    if (when === "before" && events.some(isFatal)) process.kill(process.pid, "SIGKILL");
    const appended = await log.append(after, events);
    if (events.some(isFatal)) process.kill(process.pid, "SIGKILL");
    return appended;
  },
});

function orThrow<T extends object>(result: T): Exclude<T, { failure: unknown }> {
  if (hasFailed(result)) throw new Error(result.failure.message);
  return result as Exclude<T, { failure: unknown }>;
}

const config = configOf(JSON.parse(settings) as Record<string, unknown>);
const project = orThrow(await openProject(repository, process.env, signal));
const home = orThrow(await createRun(project, { goal: "be killed", base: project.located.head, config }));
const options = { config, env: process.env, watch: () => {}, around: deadly };
const { ended } = orThrow(await startRun(project, home, options, signal));
throw new Error(`it came to its end, and there was no ${type} of ${task}: ${JSON.stringify(await ended)}`);
