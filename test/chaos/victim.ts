/** The process that chaos trials kill: starts or resumes the run of a place, and dies at a given event. */
import type { LiveRun } from "../../src/app/follow-run.ts";
import { openProject } from "../../src/compose/project.ts";
import { hasFailed } from "../../src/core/result.ts";
import { ROOT } from "../../src/core/task.ts";
import type { Watch } from "../../src/engine/drive.ts";
import type { EventLog } from "../../src/ports/event-log.ts";
import type { MailboxMessage } from "../../src/ports/mailbox.ts";
import { createRun, startRun } from "../support/live-runs.ts";
import { configFor, placeIn, scriptFileOf } from "./scenario.ts";

const [folder = "", fatal = "0"] = process.argv.slice(2);
const place = placeIn(folder);
const signal = AbortSignal.timeout(60_000);

/** Dies right after event number `fatal` is durable, before anything can act on it. */
const deadly = (log: EventLog): EventLog => ({
  read: (after) => log.read(after),
  append: async (after, events) => {
    const appended = await log.append(after, events);
    const last = after + events.length;
    if (Number(fatal) > after && Number(fatal) <= last) process.kill(process.pid, "SIGKILL");
    return appended;
  },
});

function orThrow<T extends object>(result: T): Exclude<T, { failure: unknown }> {
  if (hasFailed(result)) throw new Error(result.failure.message);
  return result as Exclude<T, { failure: unknown }>;
}

const project = orThrow(await openProject(place.repository, place.env, signal));
const config = configFor(scriptFileOf(place));
const [known] = await project.runs.list();
const home = orThrow(
  known
    ? await project.runs.open(orThrow(known).run)
    : await createRun(project, { goal: "be killed", base: project.located.head, config }),
);
/** Plays a person who sends a message once there is a plan, pauses the run after its first landing, and resumes it. */
const watch: Watch = (event, state) => {
  if (event.type === "plan.accepted" && event.task === ROOT)
    once({ type: "steer", message: "keep it small" });
  if (event.type === "batch.landed") once({ type: "pause" });
  if (state.paused && state.running.size === 0) once({ type: "resume" });
};
const said = new Set<string>();
function once(command: MailboxMessage): void {
  if (!said.has(command.type)) void live.say(command); // The log tells whether the command was accepted.
  said.add(command.type);
}

const options = { config, env: place.env, watch, around: deadly };
const live: LiveRun = orThrow(await startRun(project, home, options, signal));
const end = await live.ended;
if (end.is !== "closed") throw new Error(end.is === "lost" ? end.failure.message : end.is);
