/** What follows from what was seen? One small check for each thing; every problem with its next step. */
import type { AgentFacts, Disk, TreeFacts } from "../../../compose.ts";
import { hasFailed } from "../../../ports/repository.ts";
import { foundText, specText } from "../agent-text.ts";
import { plural, short } from "../words.ts";
import {
  checkBudget,
  checkFallbacks,
  checkFound,
  checkPrices,
  checkRoles,
  checkSandbox,
} from "./doctor-agent-checks.ts";
import type { Facts } from "./doctor-facts.ts";
import { bad, type Check, type Finding, ok, warn } from "./doctor-finding.ts";

/** In the order in which one would mend things. */
export const diagnose = (facts: Facts): readonly Finding[] => CHECKS.flatMap((check) => check(facts));

/** The launcher starts nothing older; a program that uses Skein as a library may. */
export const NEEDED_NODE = 24;

export const checkNode: Check = ({ node: { version } }) => [
  Number.parseInt(version, 10) >= NEEDED_NODE
    ? ok("node", version)
    : bad("node", `${version} is too old`, `use Node ${NEEDED_NODE} or newer`),
];

export const NEEDED_GIT = "2.38";

export const checkGit: Check = ({ git }) => {
  if (hasFailed(git)) return [bad("git", git.failure.message, git.failure.next)];
  if (git.problem !== undefined) return [bad("git", git.problem.message, git.problem.next)];
  return [ok("git", `${git.version} (${NEEDED_GIT} or newer is needed)`)];
};

export const checkRepository: Check = ({ git, repository, base }) => {
  if (hasFailed(repository)) {
    const { message, next } = repository.failure;
    // Said once: where git is missing, nothing can be said about the repository.
    return [
      hasFailed(git) ? bad("repository", "not looked at: that takes git") : bad("repository", message, next),
    ];
  }
  const { top, head, branch, notices, isClean, isBare, isPartial, isLinked, objectFormat } = repository;
  const kinds = [
    isBare ? "bare" : isClean ? "nothing uncommitted" : undefined,
    isLinked ? "a linked work tree" : undefined,
    objectFormat === "sha1" ? undefined : `objects are ${objectFormat}`,
  ].filter((kind) => kind !== undefined);
  const where = `${top}, ${branch ?? "no branch"} at ${short(head)}`;
  return [
    ok("repository", [where, ...kinds].join(", ")),
    ...notices.map((notice) => warn("repository", notice)),
    ...(isPartial
      ? [
          warn(
            "repository",
            "this is a partial clone: what is not here is fetched while the run goes on",
            "for a run that needs no network, use a full clone",
          ),
        ]
      : []),
    ...(base !== undefined && typeof base !== "string"
      ? [bad("base", base.failure.message, base.failure.next)]
      : []),
  ];
};

export const checkConfiguration: Check = ({ configuration }) => {
  if ("config" in configuration) {
    const { origins, notices } = configuration;
    const set = Object.values(origins).filter((origin) => origin !== "default").length;
    return [
      ok("configuration", set === 0 ? "nothing is set: all defaults" : `${plural(set, "key")} set`),
      ...notices.map((notice) => warn("configuration", notice)),
    ];
  }
  const { message, next, lines = [] } = configuration;
  if (lines.length === 0) return [bad("configuration", message, next)];
  return lines.map((line) =>
    bad("configuration", line, "correct it; docs/configuration.md of Skein has all keys"),
  );
};

export const checkAgents: Check = ({ agents, repository, found }) => {
  if (agents === undefined) return [unseen("agent", { repository })];
  if (hasFailed(agents)) return [bad("agent", agents.failure.message, agents.failure.next)];
  if (found !== undefined && found.agent === undefined)
    return [bad("agent", "no agent is configured, and none was found", WAYS_IN)];
  return agents.map((agent) => agentFinding(agent, agents.length === 1, found?.why));
};

const WAYS_IN =
  "set a key such as ANTHROPIC_API_KEY, install an agent (npm install --global opencode-ai), start a local model " +
  "(ollama), or name a program with --agent; or try skein demo";

function agentFinding({ role, spec, problem, session }: AgentFacts, isAlone: boolean, why?: string): Finding {
  const name = role === "worker" ? "agent" : "planner";
  if (problem) return bad(name, problem.message, problem.next);
  if (spec === "none") return ok(name, "none: one worker takes the whole goal");
  const does = isAlone ? "works and plans" : role === "worker" ? "works" : "plans";
  // Of a command only its name: its arguments may hold what nobody should see.
  const who =
    spec?.kind === "command" ? spec.command[0] : spec?.kind === "acp" ? `${spec.name} (ACP)` : specText(spec);
  const found = why === undefined || role !== "worker" ? "" : ` (${foundText(why, spec)})`;
  return ok(name, `${who} ${does}${found}${sessionText(session)}`);
}

/** Not more than is known: nothing was asked of its model. */
const sessionText = (session: AgentFacts["session"]): string =>
  session === undefined
    ? ""
    : `; it was started and gave a session after ${(session.ms / 1_000).toFixed(1)} s: it is logged in, or wants no login before its first turn`;

export const checkGate = ({
  gate,
  repository,
}: Pick<Facts, "gate"> & { readonly repository: object }): readonly Finding[] => {
  if (gate === undefined) return [unseen("gate", { repository })];
  if (hasFailed(gate)) return [bad("gate", gate.failure.message, gate.failure.next)];
  const { found, commands } = gate;
  if (commands.length === 0)
    return [
      warn(
        "gate",
        `${found}; landings will not be gated`,
        'name what must pass: gate: ["…"] in skein.yaml, or --gate "…"',
      ),
    ];
  const missing = new Map(
    commands.flatMap(({ problem }) => (problem === undefined ? [] : [[problem.message, problem] as const])),
  );
  return [
    ok("gate", found),
    ...[...missing.values()].map(({ message }) =>
      warn(
        "gate",
        `${message}: the gate cannot be run, and a run would stop at once`,
        "install it, or name another gate with gate: in skein.yaml",
      ),
    ),
  ];
};

/** Whether a workspace has what the gate needs. Without a gate nobody can tell what is needed. */
export const checkSetup = ({
  setup,
  gate,
  configuration,
}: Pick<Facts, "setup" | "gate" | "configuration">): readonly Finding[] => {
  const isGated = gate !== undefined && !hasFailed(gate) && gate.commands.length > 0;
  if (setup === undefined || hasFailed(setup) || !isGated || !("config" in configuration)) return [];
  const { workspace } = configuration.config;
  const { command, lockFile, isNeeded, why, copy } = setup;
  if (workspace.setup !== undefined) return [ok("set-up", "workspace.setup, in each new workspace")];
  const given = [...workspace.copy, ...workspace.share];
  if (!isNeeded || copy?.every((name) => given.includes(name)))
    return [ok("set-up", `there is ${lockFile}. ${why}`)];
  const next = copy ? `workspace.copy: [${copy.join(", ")}]` : `workspace.setup: ${command}`;
  return [
    warn(
      "set-up",
      `there is ${lockFile}, and workspaces are not set up. ${why}`,
      `${next}, in skein.yaml (skein init writes it) or by --set`,
    ),
  ];
};

/** A run would be refused. Nothing to say is said of nothing. */
export const checkFilters: Check = ({ filters }) =>
  filters ? [bad("filters", filters.failure.message, filters.failure.next)] : [];

const unseen = (name: string, { repository }: { readonly repository: object }): Finding =>
  warn(
    name,
    hasFailed(repository)
      ? "not looked at: there is no repository to look at"
      : "not looked at: the configuration has to be right first",
  );

export const checkIsolation: Check = ({ isolation: { has, lacks, sandbox } }) => [
  ok("isolation", has.join("; ")),
  ...lacks.map((text) =>
    sandbox === "none" && text === lacks[0]
      ? warn(
          "isolation",
          text,
          "run Skein in a container, or as a user of its own, if you do not trust the agent",
        )
      : warn("isolation", text),
  ),
];

export const checkState: Check = ({ state }) => {
  if (hasFailed(state)) return [bad("state", state.failure.message, state.failure.next)];
  const { folder, unwritable, isThere, disk, runs, brokenRuns } = state;
  if (unwritable !== undefined)
    return [
      bad(
        "state",
        `runs cannot be kept in ${folder}: ${unwritable}`,
        "set SKEIN_STATE_DIR to a folder that you may write",
      ),
    ];
  const on = disk?.fileSystem === undefined ? "" : `, on ${disk.fileSystem}`;
  return [
    ok("state", `${folder}${on}, ${isThere ? plural(runs, "run") : "made by the first run"}`),
    ...(brokenRuns > 0
      ? [warn("state", `${plural(brokenRuns, "run")} cannot be read`, "skein status says why")]
      : []),
    ...kindFindings(disk),
  ];
};

function kindFindings(disk: Disk | undefined): readonly Finding[] {
  const next = "set SKEIN_STATE_DIR to a folder on a disk of this machine";
  if (disk?.kind === "memory")
    return [warn("state", "it is in memory: runs are gone when the machine restarts", next)];
  if (disk?.kind === "network")
    return [warn("state", "it is on a network: locks of the log may not hold there, and it is slow", next)];
  return [];
}

/** What logs, transcripts and a first workspace or two want; less than that is soon nothing. */
export const MIN_FREE_BYTES = 1_000_000_000;

export const checkDisk: Check = (facts) => {
  const { state, repositoryDisk, tree, room } = facts;
  const stateDisk = hasFailed(state) ? undefined : state.disk;
  const wanted = Math.max(MIN_FREE_BYTES, room?.bytes ?? 0);
  const need = room === undefined || tree === undefined ? "" : needText(room, tree);
  const isOneDisk = stateDisk !== undefined && stateDisk.device === repositoryDisk?.device;
  return [
    ...(stateDisk === undefined ? [] : [free("where runs are kept", stateDisk, wanted, need)]),
    ...(repositoryDisk === undefined || isOneDisk
      ? []
      : [free("of the repository", repositoryDisk, MIN_FREE_BYTES)]),
  ];
};

function needText(room: NonNullable<Facts["room"]>, { bytes, isCut }: TreeFacts): string {
  const [each, all] = [bytes, room.bytes].map((size) => (isCut ? "more than " : "") + sizeText(size));
  return (
    `; ${plural(room.workspaces, "workspace")} of ${each} take ${all}${isCut ? "" : " at most"}, ` +
    "besides what is copied or built there"
  );
}

function free(where: string, { freeBytes }: Disk, wanted: number, need = ""): Finding {
  const text = `${sizeText(freeBytes)} free ${where}${need}`;
  if (freeBytes >= wanted) return ok("disk", text);
  const limit = `less than ${sizeText(wanted)}, from which on this is a warning`;
  return warn(
    "disk",
    `${text} (${limit})`,
    "make room, set SKEIN_STATE_DIR to another disk, or use fewer workers",
  );
}

/** "820 kB", "1.4 GB": thousands, as disks are sold. */
export function sizeText(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const step = bytes < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const count = bytes / 1_000 ** step;
  return `${step === 0 || count >= 10 ? Math.round(count) : count.toFixed(1)} ${units[step]}`;
}

const CHECKS: readonly Check[] = [
  checkNode,
  checkGit,
  checkRepository,
  checkConfiguration,
  checkAgents,
  checkFallbacks,
  checkFound,
  checkPrices,
  checkBudget,
  checkRoles,
  checkGate,
  checkSetup,
  checkFilters,
  checkSandbox,
  checkIsolation,
  checkState,
  checkDisk,
];
