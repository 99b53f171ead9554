/** `skein fleet`: makes the database that the machines of a fleet share, and lists its workers. */
import path from "node:path";
import { fleetStatus, initFleet, inviteToFleet, revokeFromFleet } from "../../../compose/fleet.ts";
import { openProject } from "../../../compose/project.ts";
import { duration as ageOf } from "../../../config/values.ts";
import { type Failed, hasFailed } from "../../../core/result.ts";
import { ago, duration, harmless, plural } from "../../../text/words.ts";
import { hasExit, NEVER } from "../acts/project.ts";
import { table } from "../columns.ts";
import { configure } from "../configuration.ts";
import { type Act, type Context, refuse, say, usage, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { type AddTo, addRepo, examples, MACHINE, type RepoOption } from "./options.ts";

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
  addInvitations(command, perform);
};

const addInvitations: AddTo = (command, perform) => {
  addRepo(command.command("invite <name>"))
    .summary("give a machine a role and an address of its own, which expires")
    .description(
      "Makes a role of its own for one machine in the fleet's Postgres, and prints its address once: what SKEIN_FLEET_URL " +
        "is on that machine. It works under this name alone, no other machine can use the name, and `skein fleet revoke` " +
        "shuts it out without a change for others. Needs the owner's address.",
    )
    .option("--expires <age>", "how long it may work, such as 12h or 30d", "90d")
    .addHelpText("after", examples("skein fleet invite build-3", "skein fleet invite build-3 --expires 7d"))
    .action((name: string, options: InviteOptions) => perform((context) => invite(context, name, options)));
  addRepo(command.command("revoke [name]"))
    .summary("shut out a machine that was invited, or all that share one role")
    .description(
      "Ends the sessions of a machine that was invited and removes its role; its jobs go to other machines at once. With " +
        "--shared, shuts out the role that machines without an invitation share: invite each of them first. " +
        "`SKEIN_FLEET_WORKER_PASSWORD=… skein fleet init` allows that role again. Needs the owner's address.",
    )
    .option("--shared", "the role that all machines without an invitation share")
    .addHelpText("after", examples("skein fleet revoke build-3", "skein fleet revoke --shared"))
    .action((name: string | undefined, options: RevokeOptions) =>
      perform((context) => revoke(context, name, options)),
    );
};

type InviteOptions = RepoOption & { readonly expires: string };
type RevokeOptions = RepoOption & { readonly shared?: true };

async function invite(context: Context, name: string, options: InviteOptions): Promise<ExitCode> {
  if (!MACHINE.test(name))
    return usage(context, `${JSON.stringify(name)} is no name of a machine`, "such as build-3");
  const age = ageOf(1).safeParse(options.expires);
  if (!age.success) {
    const [{ message } = { message: "" }] = age.error.issues;
    return usage(context, `--expires ${harmless(options.expires, 40)}: ${message}`, "such as --expires 30d");
  }
  const fleet = await fleetHere(context, options);
  if (hasExit(fleet)) return fleet.exit;
  const invited = await inviteToFleet(context.env, fleet, { name, expiresMs: age.data });
  if (hasFailed(invited)) return refuse(context, EXIT.configuration, invited.failure);
  const { role, address, expiresAt } = invited;
  if (context.json) writeJson(context, invited);
  say(context, `${name} may work for the fleet until ${expiresAt}, as ${role}.`);
  say(context, `Its SKEIN_FLEET_URL, which is shown only now:\n${address}`);
  return EXIT.done;
}

async function revoke(context: Context, name: string | undefined, options: RevokeOptions): Promise<ExitCode> {
  if ((name === undefined) !== (options.shared === true))
    return usage(
      context,
      "one machine, or the role that the others share?",
      "skein fleet revoke <name>, or --shared",
    );
  const fleet = await fleetHere(context, options);
  if (hasExit(fleet)) return fleet.exit;
  const revoked = await revokeFromFleet(context.env, fleet, name);
  if (hasFailed(revoked)) return refuse(context, EXIT.configuration, revoked.failure);
  if (context.json) writeJson(context, { machine: name ?? null, ...revoked });
  const who = name ?? "The role that machines share";
  say(context, `${who} is shut out of the fleet; ${plural(revoked.sessions, "session")} of it ended.`);
  return EXIT.done;
}

/** A worker sends a heartbeat every few seconds. */
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
  for (const { name, run, untilMs } of fleet.accounts) {
    const account = run === null ? harmless(name) : `${harmless(name)} in run ${run}`;
    say(
      context,
      untilMs === null
        ? `${account}: its key was refused; fix it, then skein resume`
        : `${account}: rate limited for ${duration(untilMs)} more`,
    );
  }
  for (const { name, expiresMs } of fleet.invited)
    say(
      context,
      expiresMs > 0
        ? `${harmless(name)}: invited for ${inviteText(expiresMs)} more`
        : `${harmless(name)}: its invitation has expired; skein fleet invite ${harmless(name)}`,
    );
  return EXIT.done;
};

const DAY_MS = 24 * 3_600_000;
const inviteText = (ms: number): string =>
  ms > 2 * DAY_MS ? plural(Math.floor(ms / DAY_MS), "day") : duration(ms);

function workerText(state: string, silentMs: number): string {
  if (state === "gone") return `gone, ${ago(silentMs)}`;
  return silentMs > SILENT_MS ? `silent for ${duration(silentMs)}` : harmless(state);
}

/** Does not use `openHere`: if skein.yaml enables a fleet, that needs the tables which `init` makes. */
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
    case "revoked":
      return "They may not any more: it was revoked. SKEIN_FLEET_WORKER_PASSWORD=… skein fleet init allows it again.";
    case "kept":
      return "\nThe workers' password is as it was. Lost it? SKEIN_FLEET_WORKER_PASSWORD=… skein fleet init sets a new one.";
  }
}

type Made = Exclude<Awaited<ReturnType<typeof initFleet>>, Failed>;
