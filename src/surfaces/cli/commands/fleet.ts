/** `skein fleet`: makes the database that the machines of a fleet share, and lists its workers. */
import { type FleetWorker, fleetWorkers, initFleet } from "../../../compose/fleet.ts";
import { hasFailed } from "../../../core/result.ts";
import { duration } from "../../../text/words.ts";
import { hasExit, openHere } from "../acts/project.ts";
import { table } from "../columns.ts";
import { configure } from "../configuration.ts";
import { type Act, type Context, refuse, say, writeJson } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { type AddTo, addRepo, examples, type RepoOption } from "./options.ts";

export const addFleet: AddTo = (command, perform) => {
  command.description("The database that the machines of a fleet share, and its workers.");
  addRepo(command.command("status", { isDefault: true }))
    .summary("list the workers of the fleet")
    .action((options: RepoOption) => perform((context) => status(context, options)));
  addRepo(command.command("init"))
    .summary("make the fleet's tables in the Postgres that SKEIN_FLEET_URL leads to")
    .addHelpText("after", examples("SKEIN_FLEET_URL=postgres://… skein fleet init"))
    .action((options: RepoOption) => perform((context) => init(context, options)));
};

/** A worker says something every few seconds. */
const SILENT_MS = 30_000;

const status: Act<RepoOption> = async (context, options) => {
  const settings = await fleetHere(context, options);
  if (hasExit(settings)) return settings.exit;
  const workers = await fleetWorkers(context.env, settings);
  if (hasFailed(workers)) return refuse(context, EXIT.configuration, workers.failure);
  if (context.json) writeJson(context, { workers });
  const rows = (workers as readonly FleetWorker[]).map(
    ({ name, state, jobs, capacity, labels, silentMs }) => [
      name,
      silentMs > SILENT_MS && state !== "gone" ? `silent for ${duration(silentMs)}` : state,
      `${jobs.length}/${capacity}`,
      labels.join(","),
    ],
  );
  if (rows.length === 0) say(context, "No worker has joined the fleet yet. Start one: skein worker --join");
  else for (const line of table([["WORKER", "STATE", "JOBS", "LABELS"], ...rows])) say(context, line);
  return EXIT.done;
};

async function fleetHere(context: Context, options: RepoOption) {
  const project = await openHere(context, options);
  if (hasExit(project)) return project;
  const read = await configure(context, project, {});
  return hasExit(read) ? read : read.config.fleet;
}

const init: Act<RepoOption> = async (context, options) => {
  const fleet = await fleetHere(context, options);
  if (hasExit(fleet)) return fleet.exit;
  const made = await initFleet(context.env, fleet);
  if (hasFailed(made)) return refuse(context, EXIT.configuration, made.failure);
  if (context.json) writeJson(context, { schema: fleet.schema, ...made });
  const what =
    made.from === made.to ? "is up to date" : made.from === 0 ? "was made" : "was brought up to date";
  say(context, `The fleet's schema ${fleet.schema} ${what}.`);
  return EXIT.done;
};
