/** Draws the conclusions of `skein doctor` from the facts: one check per subject, each problem with its next step. */

import { hasFailed } from "../../core/result.ts";
import type { Disk } from "../../ports/inspection.ts";
import { plural, short } from "../../text/words.ts";
import { foundText, specText } from "../agent-words.ts";
import {
  checkBudget,
  checkFallbacks,
  checkFound,
  checkPrices,
  checkRoles,
  checkSandbox,
} from "./agent-checks.ts";
import { type AgentFacts, bad, type Check, type DoctorFacts, type DoctorFinding, ok, warn } from "./facts.ts";
import { needText, sizeText } from "./room.ts";

/** In the order in which problems should be fixed. */
export const diagnose = (facts: DoctorFacts): readonly DoctorFinding[] =>
  CHECKS.flatMap((check) => check(facts));

/** The launcher refuses older versions; a program that uses Skein as a library may run on one. */
export const NEEDED_NODE = 24;

const checkNode: Check = ({ node: { version } }) => [
  Number.parseInt(version, 10) >= NEEDED_NODE
    ? ok("node", version)
    : bad("node", `${version} is too old`, `use Node ${NEEDED_NODE} or newer`),
];

export const NEEDED_GIT = "2.38";

const checkGit: Check = ({ git }) => {
  if (hasFailed(git)) return [bad("git", git.failure.message, git.failure.next)];
  if (git.problem !== undefined) return [bad("git", git.problem.message, git.problem.next)];
  return [ok("git", `${git.version} (${NEEDED_GIT} or newer is needed)`)];
};

const checkRepository: Check = ({ git, repository, base }) => {
  if (hasFailed(repository)) {
    const { message, next } = repository.failure;
    // If git is missing, nothing can be said about the repository, so only that is said.
    return [
      hasFailed(git) ? bad("repository", "not checked: git is missing") : bad("repository", message, next),
    ];
  }
  const { top, head, branch, remarks, isClean, isBare, isPartial, isLinked, objectFormat } = repository;
  const kinds = [
    isBare ? "bare" : isClean ? "no uncommitted changes" : undefined,
    isLinked ? "a linked work tree" : undefined,
    objectFormat === "sha1" ? undefined : `${objectFormat} objects`,
  ].filter((kind) => kind !== undefined);
  const where = `${top}, ${branch ?? "no branch"} at ${short(head)}`;
  return [
    ok("repository", [where, ...kinds].join(", ")),
    ...remarks.map((remark) => warn("repository", remark)),
    ...(isPartial
      ? [
          warn(
            "repository",
            "this is a partial clone: git fetches missing objects during the run",
            "use a full clone for a run without network access",
          ),
        ]
      : []),
    ...(base !== undefined && typeof base !== "string"
      ? [bad("base", base.failure.message, base.failure.next)]
      : []),
  ];
};

/** Nothing that it asks for was run, and the other checks leave it out. */
const checkTrust: Check = ({ configuration }) => {
  const untrusted = "config" in configuration ? configuration.untrusted : undefined;
  if (untrusted === undefined) return [];
  const { message, lines = [], next } = untrusted;
  return [bad("trust", [`${message}:`, ...lines].join("\n"), next)];
};

const checkConfiguration: Check = ({ configuration }) => {
  if ("config" in configuration) {
    const { origins, notices } = configuration;
    const set = Object.values(origins).filter((origin) => origin !== "default").length;
    return [
      ok("configuration", set === 0 ? "all settings have their defaults" : `${plural(set, "key")} set`),
      ...notices.map((notice) => warn("configuration", notice)),
    ];
  }
  const { message, next, lines = [] } = configuration;
  if (lines.length === 0) return [bad("configuration", message, next)];
  return lines.map((line) =>
    bad("configuration", line, "correct it; docs/configuration.md of Skein lists all keys"),
  );
};

const checkAgents: Check = ({ agents, repository, found, configuration }) => {
  if (agents === undefined) return [unseen("agent", { repository })];
  if (hasFailed(agents)) return [bad("agent", agents.failure.message, agents.failure.next)];
  if (found !== undefined && found.agent === undefined)
    // The missing agent may be among what is not agreed to, which is reported separately.
    return "config" in configuration && configuration.untrusted
      ? [warn("agent", "none was found beside what nobody has agreed to yet: agree to that first")]
      : [bad("agent", "no agent is configured, and none was found", WAYS_IN)];
  return agents.map((agent) => agentFinding(agent, agents.length === 1, found?.why));
};

const WAYS_IN =
  "set a key such as ANTHROPIC_API_KEY, install an agent (npm install --global opencode-ai), start a local model " +
  "(ollama), or name a program with --agent; or try skein demo";

function agentFinding(
  { role, spec, problem, session }: AgentFacts,
  isAlone: boolean,
  why?: string,
): DoctorFinding {
  const name = role === "worker" ? "agent" : "planner";
  if (problem) return bad(name, problem.message, problem.next);
  if (spec === "none") return ok(name, "none: one worker does the whole goal");
  const does = isAlone ? "works and plans" : role === "worker" ? "works" : "plans";
  // Only a command's name is shown: its arguments may hold secrets.
  const who =
    spec?.kind === "command" ? spec.command[0] : spec?.kind === "acp" ? `${spec.name} (ACP)` : specText(spec);
  const found = why === undefined || role !== "worker" ? "" : ` (${foundText(why, spec)})`;
  return ok(name, `${who} ${does}${found}${sessionText(session)}`);
}

/** Says no more than is known: the agent's model was not called. */
const sessionText = (session: AgentFacts["session"]): string =>
  session === undefined
    ? ""
    : `; started and opened a session in ${(session.ms / 1_000).toFixed(1)} s: it is logged in, or asks for a login only later`;

export const checkGate = ({
  gate,
  repository,
  configuration,
}: Pick<DoctorFacts, "gate" | "configuration"> & {
  readonly repository: object;
}): readonly DoctorFinding[] => {
  if (gate === undefined) return [unseen("gate", { repository })];
  if (hasFailed(gate)) return [bad("gate", gate.failure.message, gate.failure.next)];
  const { found, commands } = gate;
  if (commands.length === 0)
    return [
      warn(
        "gate",
        `${found}; tasks will land untested`,
        'configure the commands that must pass: gate: ["…"] in skein.yaml, or --gate "…"',
      ),
    ];
  const missing = new Map(
    commands.flatMap((command) =>
      command.problem === undefined ? [] : [[command.problem.message, command] as const],
    ),
  );
  // What a set-up installs exists only in workspaces.
  const isInstalled = "config" in configuration && configuration.config.workspace.setup !== undefined;
  const next = "install it, or name another gate with gate: in skein.yaml";
  return [
    ok("gate", found),
    ...[...missing].map(([message, { isInTree }]) => {
      if (isInTree) return warn("gate", `${message}: until it is there, the gate has nothing to run`, next);
      return isInstalled
        ? warn("gate", `${message}: unless workspace.setup installs it, a run would stop at once`, next)
        : bad("gate", `${message}: the gate cannot run, and a run would stop at once`, next);
    }),
  ];
};

/** Whether workspaces have what the gate needs; unknown without a gate. */
export const checkSetup = ({
  setup,
  gate,
  configuration,
}: Pick<DoctorFacts, "setup" | "gate" | "configuration">): readonly DoctorFinding[] => {
  const isGated = gate !== undefined && !hasFailed(gate) && gate.commands.length > 0;
  if (setup === undefined || hasFailed(setup) || !isGated || !("config" in configuration)) return [];
  const { workspace } = configuration.config;
  const { command, lockFile, isNeeded, why, copy, lacks = [] } = setup;
  if (workspace.setup !== undefined) return [ok("set-up", "workspace.setup runs in each new workspace")];
  const given = [...workspace.copy, ...workspace.share];
  if (!isNeeded || copy?.every((name) => given.includes(name)))
    return [ok("set-up", `found ${lockFile}. ${why}`)];
  const next = copy ? `workspace.copy: [${copy.join(", ")}]` : `workspace.setup: ${command}`;
  const not = copy || lacks.length === 0 ? "" : ` ${lacksText(lacks)}`;
  return [
    warn(
      "set-up",
      `found ${lockFile}, but workspaces are not set up. ${why}${not}`,
      `${next}, in skein.yaml (skein init writes it) or with --set`,
    ),
  ];
};

/** About a set-up command that is proposed. */
const lacksText = (lacks: readonly string[]): string => `The command does not install ${lacks.join("; ")}.`;

/** Such a filter makes a run be refused. */
const checkFilters: Check = ({ filters }) =>
  filters ? [bad("filters", filters.failure.message, filters.failure.next)] : [];

const unseen = (name: string, { repository }: { readonly repository: object }): DoctorFinding =>
  warn(
    name,
    hasFailed(repository)
      ? "not checked: there is no repository"
      : "not checked: correct the configuration first",
  );

const checkIsolation: Check = ({ isolation: { has, lacks, sandbox } }) => [
  ok("isolation", has.join("; ")),
  ...lacks.map((text) =>
    sandbox === "none" && text === lacks[0]
      ? warn(
          "isolation",
          text,
          "if you do not trust the agent, run Skein in a container or as a separate user",
        )
      : warn("isolation", text),
  ),
];

const checkState: Check = ({ state }) => {
  if (hasFailed(state)) return [bad("state", state.failure.message, state.failure.next)];
  const { folder, unwritable, isThere, disk, runs, brokenRuns } = state;
  if (unwritable !== undefined)
    return [
      bad("state", `cannot write to ${folder}: ${unwritable}`, "set SKEIN_STATE_DIR to a writable folder"),
    ];
  const on = disk?.fileSystem === undefined ? "" : `, on ${disk.fileSystem}`;
  return [
    ok("state", `${folder}${on}, ${isThere ? plural(runs, "run") : "the first run creates it"}`),
    ...(brokenRuns > 0
      ? [warn("state", `${plural(brokenRuns, "run")} cannot be read`, "skein status says why")]
      : []),
    ...kindFindings(disk),
  ];
};

function kindFindings(disk: Disk | undefined): readonly DoctorFinding[] {
  const next = "set SKEIN_STATE_DIR to a folder on a local disk";
  if (disk?.kind === "memory")
    return [warn("state", "it is in memory: a restart of the machine deletes all runs", next)];
  if (disk?.kind === "network")
    return [
      warn("state", "it is on a network file system: file locks may not work there, and it is slow", next),
    ];
  return [];
}

/** Enough for logs, transcripts and a first workspace or two. */
export const MIN_FREE_BYTES = 1_000_000_000;

const checkDisk: Check = (facts) => {
  const { state, repositoryDisk, tree, room } = facts;
  const stateDisk = hasFailed(state) ? undefined : state.disk;
  const wanted = Math.max(MIN_FREE_BYTES, room?.bytes ?? 0);
  const need = room === undefined || tree === undefined ? "" : `; ${needText(room, tree)}`;
  const isOneDisk = stateDisk !== undefined && stateDisk.device === repositoryDisk?.device;
  return [
    ...(stateDisk === undefined ? [] : [free("for the state folder", stateDisk, wanted, need)]),
    ...(repositoryDisk === undefined || isOneDisk
      ? []
      : [free("for the repository", repositoryDisk, MIN_FREE_BYTES)]),
  ];
};

function free(where: string, { freeBytes }: Disk, wanted: number, need = ""): DoctorFinding {
  const text = `${sizeText(freeBytes)} free ${where}${need}`;
  if (freeBytes >= wanted) return ok("disk", text);
  const limit = `${sizeText(wanted)} are recommended`;
  return warn(
    "disk",
    `${text} (${limit})`,
    "free some space, set SKEIN_STATE_DIR to another disk, or use fewer workers",
  );
}

const CHECKS: readonly Check[] = [
  checkNode,
  checkGit,
  checkRepository,
  checkConfiguration,
  checkTrust,
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
