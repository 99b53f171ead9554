/** `skein fleet`: makes the database that the machines of a fleet share, and lists its workers. */
import path from "node:path";
import { fleetStatus, initFleet } from "../../../compose/fleet.ts";
import { openProject } from "../../../compose/project.ts";
import { type Failed, hasFailed } from "../../../core/result.ts";
import { ago, duration, harmless } from "../../../text/words.ts";
import { hasExit, NEVER } from "../acts/project.ts";
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
    .summary(
      "make the fleet's tables, and the role of its workers, in the Postgres that SKEIN_FLEET_URL leads to",
    )
    .description(
      "Makes the fleet's tables, and the role that workers connect as, in the Postgres that SKEIN_FLEET_URL leads to, " +
        "and prints the address for workers once. Can be run again: it brings older tables up to date and keeps what " +
        "they hold. SKEIN_FLEET_WORKER_PASSWORD sets the workers' password; without it, the first call makes one.",
    )
    .addHelpText("after", examples("skein fleet init", "SKEIN_FLEET_WORKER_PASSWORD=… skein fleet init"))
    .action((options: RepoOption) => perform((context) => init(context, options)));
};

/** A worker says something every few seconds. */
const SILENT_MS = 30_000;

const status: Act<RepoOption> = async (context, options) => {
  const settings = await fleetHere(context, options);
  if (hasExit(settings)) return settings.exit;
  const fleet = await fleetStatus(context.env, settings);
  if (hasFailed(fleet)) return refuse(context, EXIT.configuration, fleet.failure);
  if (context.json) writeJson(context, fleet);
  const rows = fleet.workers.map(({ name, state, jobs, capacity, labels, silentMs }) => [
    harmless(name),
    workerText(state, silentMs),
    `${jobs.length}/${capacity}`,
    harmless(labels.join(",")),
  ]);
  if (rows.length === 0) say(context, "No worker is in the fleet now. Start one: skein worker --join");
  else for (const line of table([["WORKER", "STATE", "JOBS", "LABELS"], ...rows])) say(context, line);
  for (const { name, waiting, active } of fleet.queues)
    say(context, `${harmless(name)}: ${waiting} waiting, ${active} under way`);
  for (const { name, untilMs } of fleet.accounts)
    say(
      context,
      untilMs === null
        ? `${harmless(name)}: its key was refused; fix it, then skein resume`
        : `${harmless(name)}: rate limited for ${duration(untilMs)} more`,
    );
  return EXIT.done;
};

function workerText(state: string, silentMs: number): string {
  if (state === "gone") return `gone, ${ago(silentMs)}`;
  return silentMs > SILENT_MS ? `silent for ${duration(silentMs)}` : harmless(state);
}

/** Not by `openHere`: where skein.yaml enables a fleet, that needs the tables which `init` is to make. */
async function fleetHere(context: Context, { repo = "." }: RepoOption) {
  const project = await openProject(path.resolve(context.folder, repo), context.env, NEVER);
  if (hasFailed(project)) return { exit: refuse(context, EXIT.configuration, project.failure) };
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
  say(context, `Workers connect as ${made.role}. ${passwordText(made)}`);
  return EXIT.done;
};

function passwordText({ password, address }: Made): string {
  switch (password) {
    case "made":
      return `Their SKEIN_FLEET_URL, which is shown only now:\n${address}`;
    case "given":
      return "Their password is that of SKEIN_FLEET_WORKER_PASSWORD.";
    case "changed":
      return "\nThe workers' password was changed: restart workers with the new address.";
    case "kept":
      return "\nThe workers' password is as it was. Lost it? SKEIN_FLEET_WORKER_PASSWORD=… skein fleet init sets a new one.";
  }
}

type Made = Exclude<Awaited<ReturnType<typeof initFleet>>, Failed>;
