/** Could anybody work on this run? Better said before it begins than by its tenth planner. */
import path from "node:path";
import {
  agentProblem,
  type Candidate,
  findAgent,
  inspectPrices,
  inspectSandbox,
  type Project,
  promptsProblem,
  unconfinedProblem,
  withAgent,
  withUsableFallbacks,
} from "../../../compose.ts";
import type { Config } from "../../../config/index.ts";
import { readScript } from "../../../core/agent-script.ts";
import { messageOf } from "../../../core/failure.ts";
import { dollarsKey, PRICE_WAYS, tooSmall } from "../budget-words.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { type Exit, hasExit, NEVER } from "./project.ts";
import { isMissing, readBounded } from "./read-file.ts";

/** `why`: what it was found by; undefined if it is configured. */
export type Settled = { readonly config: Config; readonly why?: string; readonly notices: readonly string[] };

/** With an agent that can be started: the one that is configured, or one that is here. Said why, if there is none. */
export async function settleAgents(
  context: Context,
  project: Project,
  config: Config,
): Promise<Settled | Exit> {
  const { agent, why, candidates } = await findAgent(config, context.env, NEVER);
  if (agent === undefined) return { exit: refuse(context, EXIT.agentUnavailable, nobody(candidates)) };
  const ready = await readyAgents(context, project, withAgent(config, agent));
  const open = hasExit(ready) ? undefined : unconfinedProblem(ready.config);
  if (open) return { exit: refuse(context, EXIT.configuration, { ...open, kind: "configuration" }) };
  return hasExit(ready) || why === undefined ? ready : { ...ready, why };
}

/** The same for a run that has its agents. */
export async function readyAgents(
  context: Context,
  project: Project,
  wanted: Config,
): Promise<Settled | Exit> {
  const exit = await refuseAgents(context, project, wanted);
  if (exit !== undefined) return { exit };
  const { config, missing } = await withUsableFallbacks(wanted, context.env);
  const place = await placeNotices(context, project, config);
  if (hasExit(place)) return place;
  const notices = await priceNotices(context, config);
  if (hasExit(notices)) return notices;
  return { config, notices: [...missing, ...place, ...notices, ...tooSmall(config)] };
}

/** What the built-in agent needs besides a model. That nothing confines commands is said, unless it is wished. */
async function placeNotices(
  context: Context,
  { located }: Project,
  config: Config,
): Promise<readonly string[] | Exit> {
  const [sandbox, prompts] = await Promise.all([
    inspectSandbox(config, context.env),
    promptsProblem(config, located.top),
  ]);
  const problem = sandbox?.problem ?? prompts;
  if (problem) return { exit: refuse(context, EXIT.configuration, { ...problem, kind: "configuration" }) };
  const isScript = config.agent?.kind === "scripted"; // What it does is written down: no model steers it.
  return sandbox?.level === "none" && config.sandbox === "auto" && !isScript
    ? [`no sandbox: ${sandbox.why}`]
    : [];
}

/** A budget in money that could not be kept is refused; where tokens limit it, too, it is said. */
async function priceNotices(context: Context, config: Config): Promise<readonly string[] | Exit> {
  const key = dollarsKey(config);
  if (key === undefined) return [];
  const unknown = (await inspectPrices(config)).filter(({ isPriced }) => !isPriced);
  if (unknown.length === 0) return [];
  const models = unknown.map(({ model }) => model).join(", ");
  if (config.budget.tokens !== undefined)
    return [`the price of ${models} is not known: ${key} does not limit it, budget.tokens does`];
  const message = `the price of ${models} is not known, so that ${key} could not be kept`;
  return {
    exit: refuse(context, EXIT.configuration, { kind: "configuration", message, next: PRICE_WAYS }),
  };
}

/** Each line is something to type. */
export const nobody = (candidates: readonly Candidate[]) => ({
  kind: "agent-unreachable",
  message: "no agent is configured, and none was found",
  lines: [
    ...candidates.map(({ seen, next }) => `${seen}${next === undefined ? "" : `: ${next}`}`),
    "do one of these, then give the same command again:",
    ...WAYS,
  ],
  next: "name a program that does the work, such as --agent ./my-agent.sh; or try skein demo, which needs no agent",
});

const WAYS: readonly string[] = [
  "  a model by its key:       export ANTHROPIC_API_KEY=…  (or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY)",
  "  an agent as a program:    npm install --global opencode-ai  (or claude, codex, gemini, pi: see docs/agents.md)",
  "  a model on this machine:  ollama pull qwen3-coder && ollama serve",
];

/** Said why, if nobody could. */
async function refuseAgents(
  context: Context,
  project: Project,
  config: Config,
): Promise<ExitCode | undefined> {
  const problem = await agentProblem(project, config, context.env);
  if (problem)
    return refuse(
      context,
      problem.kind === "authentication" ? EXIT.authentication : EXIT.agentUnavailable,
      problem,
    );
  for (const spec of [config.agent, config.planner]) {
    if (typeof spec !== "object" || spec.kind !== "scripted") continue;
    const problems = await scriptProblems(path.resolve(project.located.top, spec.script));
    if (problems.length === 0) continue;
    if (problems === "missing") {
      const message = `there is no script ${spec.script}`;
      const next = "name a file that is there; skein demo makes one, to look at";
      return refuse(context, EXIT.configuration, { kind: "configuration", message, next });
    }
    const message = `the script ${spec.script} cannot be used`;
    return refuse(context, EXIT.configuration, { kind: "configuration", message, lines: problems });
  }
  return undefined;
}

/** More than any script that somebody writes. */
const MAX_SCRIPT_BYTES = 64_000_000;

/** In words; nothing if it can be used. */
export async function scriptProblems(file: string): Promise<readonly string[] | "missing"> {
  try {
    const read = readScript(await readBounded(file, MAX_SCRIPT_BYTES));
    return read.is === "broken" ? read.problems : [];
  } catch (error) {
    return isMissing(error) ? "missing" : [messageOf(error)];
  }
}
