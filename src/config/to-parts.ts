/** Derives limits and choices for a run's parts from the configuration; those of the policy are in `to-policy.ts`. */
import path from "node:path";
import type { AgentSpec } from "../ports/agent-spec.ts";
import type { Environment } from "../ports/project.ts";
import type { Agrees } from "../ports/trust.ts";
import { fallbacksOf } from "./accounts.ts";
import { passed, startOf } from "./known-agents.ts";
import { modelIn } from "./models.ts";
import type { Config } from "./schema.ts";
import { gatesOf } from "./to-policy.ts";

/** The gates of landings, and one more for a check of the target. */
export const maxGatesOf = (config: Pick<Config, "gates">): number => gatesOf(config) + 1;

/** 0 means no limit. */
export const quietOf = ({ quiet }: Config) => ({
  warnMs: quiet.warn || Number.POSITIVE_INFINITY,
  stopMs: quiet.stop || Number.POSITIVE_INFINITY,
});

/** The longest that a job's turn may take: its lease, and the grace time after it. */
export const maxTurnMs = ({ timeout: { plan, work, grace } }: Config) => ({
  plan: plan + grace,
  work: work + grace,
});

export const turnLimits = ({ log, workspace }: Config) => ({
  maxOutputBytes: log.maxTranscript,
  maxFileBytes: workspace.maxFile,
});

export const gateLimits = ({ gateTimeout, gateOutput }: Config) => ({
  maxMs: gateTimeout,
  maxOutputBytes: gateOutput,
  maxFileBytes: MAX_GATE_FILE_BYTES,
});

/** A build may write larger files than a worker may hand in. */
const MAX_GATE_FILE_BYTES = 8 * 1024 ** 3;

/** The settings for agents of every kind. */
export const agentSettings = (config: Config, env: Environment, top: string, agrees: Agrees) => ({
  ...{
    env,
    top,
    agrees,
    modelIn,
    prices: config.prices,
    retry: config.retry,
    permissions: config.permissions,
  },
  promptFolders: promptFolders(config, top),
  mayBeUnpriced: mayBeUnpriced(config),
  startOf: (name: string) => startOf(name, env),
  passed: passed(env, config.workspace.pass),
});

/** With its fallbacks, and with paths made absolute from the top of the repository. */
export function settledSpec(spec: AgentSpec, { fallback }: Config, top: string): AgentSpec {
  if (spec.kind === "model") return { ...spec, fallbacks: fallbacksOf(spec, fallback) };
  return anchored(spec, top);
}

/**
 * A path is relative to the repository's top: in an agent's own folder it may be missing, or be changed by the agent.
 */
export function anchored(spec: AgentSpec, top: string): AgentSpec {
  if (spec.kind === "model") return spec;
  if (spec.kind === "scripted") return { ...spec, script: path.resolve(top, spec.script) };
  const [program, ...args] = spec.command;
  return program.includes("/") ? { ...spec, command: [path.resolve(top, program), ...args] } : spec;
}

/** Agents whose programs are files of the repository. */
export function programsOf({ agent, planner }: Config): readonly string[] {
  const specs = [agent, planner].filter((one) => typeof one === "object");
  const programs = specs.flatMap((spec) => ("command" in spec ? [spec.command[0]] : []));
  return programs.filter((program) => program.includes("/") && !path.isAbsolute(program));
}

/** The configured folder of prompts, which override those of this package. */
const promptFolders = ({ prompts }: Config, top: string): readonly string[] =>
  prompts === undefined ? [] : [path.resolve(top, prompts)];

/**
 * A file of the repository must not take a run beyond a budget in money: without a price nothing would stop the run.
 */
const mayBeUnpriced = ({ budget }: Config): boolean =>
  budget.tokens !== undefined ||
  [budget, budget.task, budget.subtree].every(({ dollars }) => dollars === undefined);

const plannerSpec = ({ planner, agent }: Config) => (typeof planner === "object" ? planner : agent);

/** The settings of the workshop in which agents and the gate work. */
export const workshopSettings = (config: Config, env: Environment) => ({
  maxGates: maxGatesOf(config),
  plansAreFull: isStartedFromPackages(config),
  surroundings: surroundingsOf(config, env),
  alsoRun: linesRunBy(config),
});

/** `npx my-agent`: the planner itself may be among the packages that are copied or installed. */
function isStartedFromPackages(config: Config): boolean {
  const spec = plannerSpec(config);
  const [program = ""] = spec && "command" in spec ? spec.command : [];
  return /^(?:np[xm]|pnpm|yarn|bunx?|uvx?|poetry|pdm)$/.test(path.basename(program));
}

/** Command lines that people wrote for Skein to run, besides the gate. */
const linesRunBy = ({ agent, planner, workspace: { setup } }: Config): readonly string[] => [
  ...[agent, typeof planner === "object" ? planner : undefined].flatMap((spec) =>
    spec && "command" in spec ? spec.command.join(" ") : [],
  ),
  ...(setup === undefined ? [] : [setup]),
];

/** What, besides the tree, decides which programs and packages a gate's commands find. */
const surroundingsOf = ({ workspace }: Config, env: Environment): string =>
  JSON.stringify([
    workspace,
    ["PATH", "VIRTUAL_ENV", "PYTHONPATH", "NODE_PATH"].map((name) => env[name] ?? ""),
  ]);
