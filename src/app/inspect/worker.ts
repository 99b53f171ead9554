/** Checks whether this machine could work for a fleet or start runs in it, each finding with what to do. */
import type { Config } from "../../config/schema.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Disk, FleetFacts, GitFacts, OpenEnd } from "../../ports/inspection.ts";
import { plural } from "../../text/words.ts";
import { agentProblem, type FindAgentParts, findAgent } from "../find-agent.ts";
import { MIN_FREE_BYTES } from "./checks.ts";
import type { DoctorFinding } from "./facts.ts";

export type WorkerLooks = FindAgentParts & {
  readonly fleet: () => Promise<FleetFacts>;
  readonly git: () => Promise<GitFacts | Failed>;
  /** The folder that an agent's relative paths start from. */
  readonly folder: string;
  readonly disk: () => Promise<Disk | undefined>;
};

export async function inspectWorker(config: Config, looks: WorkerLooks, signal: AbortSignal) {
  const [{ database, remote }, git, disk] = [await looks.fleet(), await looks.git(), await looks.disk()];
  const sandbox = await looks.agents.sandbox(config);
  const findings: DoctorFinding[] = [
    databaseFinding(database),
    remoteFinding(remote),
    await agentFinding(config, looks, signal),
    hasFailed(git) ? bad("git", git.failure) : git.problem ? bad("git", git.problem) : ok("git", git.version),
    sandbox.problem ? bad("sandbox", sandbox.problem) : ok("sandbox", sandbox.why),
    diskFinding(disk),
  ];
  return findings;
}

/** Checks whether a run of the fleet could be started from here. */
export function fleetFindings({
  database,
  remote,
  machines,
  openEnds = [],
}: FleetFacts): readonly DoctorFinding[] {
  const own = hasFailed(database)
    ? bad("database", database.failure)
    : database.readsRuns
      ? ok("database", `reached as ${database.role}; its tables are there`)
      : bad("database", {
          message: `reached as ${database.role}, which can only work`,
          next: OWNERS_ADDRESS,
        });
  const there =
    remote === "unknown"
      ? bad("remote", { message: "there is no such git remote", next: "git remote add, or set fleet.remote" })
      : hasFailed(remote) || remote.mayPush
        ? remoteFinding(remote)
        : bad("remote", { message: "refuses a push", next: "allow it: what lands is pushed there" });
  return [own, there, ...(machines ? [machinesFinding(machines)] : []), ...openEndFindings(openEnds)];
}

const openEndFindings = (all: readonly OpenEnd[]): readonly DoctorFinding[] =>
  OPEN_ENDS.flatMap(({ of, text }) => {
    const statements = all.filter((one) => one.of === of).map(({ statement }) => `${statement};`);
    if (statements.length === 0) return [];
    return {
      name: "workers' role",
      level: "warn",
      text,
      next: `as an administrator: ${statements.join(" ")}`,
    };
  });

const OPEN_ENDS = [
  {
    of: "database",
    text: "may do more in the fleet's database than its work, or its sessions cannot be ended",
  },
  { of: "others", text: "can open other databases of this Postgres, where PUBLIC may" },
] as const;

const OWNERS_ADDRESS = "set SKEIN_FLEET_URL to the address that `skein fleet init` was called with";

const machinesFinding = ({ ready, slots }: NonNullable<FleetFacts["machines"]>): DoctorFinding =>
  ready > 0
    ? ok("machines", `${ready} ready, ${plural(slots, "slot")}`)
    : {
        ...{ name: "machines", level: "warn", text: "none has joined: jobs would wait" },
        next: "skein worker --join, on a machine that is to work",
      };

const ok = (name: string, text: string): DoctorFinding => ({ name, level: "ok", text });
const bad = (name: string, why: { readonly message: string; readonly next?: string }): DoctorFinding => ({
  ...{ name, level: "bad", text: why.message },
  ...(why.next !== undefined && { next: why.next }),
});

function databaseFinding(database: FleetFacts["database"]): DoctorFinding {
  if (hasFailed(database)) return bad("database", database.failure);
  if (!database.readsRuns)
    return ok("database", `reached as ${database.role}, which may do a worker's work alone`);
  return {
    ...{ name: "database", level: "warn", text: `reached as ${database.role}, which may read all runs` },
    next: "give workers the address that `skein fleet init` printed",
  };
}

function remoteFinding(remote: FleetFacts["remote"]): DoctorFinding {
  if (remote === "unknown")
    return {
      ...{ name: "remote", level: "warn", text: "not tried: no remote was named" },
      next: "skein doctor --worker --set fleet.remote=<address>",
    };
  if (hasFailed(remote)) return bad("remote", remote.failure);
  if (remote.mayPush) return ok("remote", "fetched from and pushed to");
  return {
    ...{
      name: "remote",
      level: "warn",
      text: "can be fetched from, but refuses a push below refs/skein/fleet/",
    },
    next: "allow it, or start the worker with --bundle",
  };
}

async function agentFinding(config: Config, looks: WorkerLooks, signal: AbortSignal): Promise<DoctorFinding> {
  const { agent, why = "named" } = await findAgent(config, looks, signal);
  const problem = agent && (await agentProblem(agent, looks.folder, looks.agents));
  if (problem) return bad("agent", problem);
  if (agent) return ok("agent", why);
  return {
    ...{
      name: "agent",
      level: "warn",
      text: "no agent was found here: only gates and runs that name one work",
    },
    next: "install one, set its key, or name one: --agent",
  };
}

function diskFinding(disk: Disk | undefined): DoctorFinding {
  if (!disk) return { name: "disk", level: "warn", text: "how much is free cannot be seen" };
  const free = `${Math.round(disk.freeBytes / 1e9)} GB free in the state folder`;
  if (disk.freeBytes >= MIN_FREE_BYTES) return ok("disk", free);
  return {
    name: "disk",
    level: "warn",
    text: free,
    next: "make room: a mirror and workspaces are kept there",
  };
}
