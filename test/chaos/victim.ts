/** The process that is killed: starts the one run of a place, or goes on with it, and dies when it is told to. */
import { createRun, openProject, startRun } from "../../src/compose.ts";
import type { EventLog } from "../../src/ports/event-log.ts";
import { hasFailed } from "../../src/ports/repository.ts";
import { configFor, placeIn, scriptFileOf } from "./scenario.ts";

const [folder = "", fatal = "0"] = process.argv.slice(2);
const place = placeIn(folder);
const signal = AbortSignal.timeout(60_000);

/** Dies right after event number `fatal` is durable, before anybody can act on it. */
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
const options = { config, env: place.env, watch: () => {}, around: deadly };
const live = orThrow(await startRun(project, home, options, signal));
const end = await live.ended;
if (end.is !== "closed") throw new Error(end.is === "lost" ? end.failure.message : end.is);
