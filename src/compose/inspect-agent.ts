/** What would agents have to go on? Prices, the sandbox, prompts and roles, looked at without starting anybody. */
import path from "node:path";
import { fallbacksOf } from "../config/accounts.ts";
import type { Config } from "../config/schema.ts";
import { type Failure, failure } from "../core/failure.ts";
import type { ModelSpec } from "../core/model-spec.ts";
import { hasFailed } from "../ports/repository.ts";
import type { Environment } from "./project.ts";

export type PriceFacts = { readonly model: string; readonly isPriced: boolean };

/** Of every model that the run may call by itself; loads the table of prices. */
export async function inspectPrices(config: Config): Promise<readonly PriceFacts[]> {
  const models = modelsIn(config);
  if (models.length === 0) return [];
  const { openPrices } = await import("../adapters/models/prices.ts");
  const prices = await openPrices(config.prices);
  const use = { input: 1_000, cacheRead: 0, cacheWrite: 0, output: 1_000 };
  const facts = models.map((spec) => ({
    model: `${spec.provider}/${spec.model}`,
    isPriced: prices.cost(spec, use) !== undefined,
  }));
  return [...new Map(facts.map((fact) => [fact.model, fact])).values()];
}

/** What so many tokens cost at most, in microdollars: as if all of them were written. Undefined: nobody knows. */
export async function mostCost(
  model: ModelSpec,
  tokens: number,
  overrides: Config["prices"],
): Promise<number | undefined> {
  const { openPrices } = await import("../adapters/models/prices.ts");
  const prices = await openPrices(overrides);
  return prices.cost(model, { input: 0, cacheRead: 0, cacheWrite: 0, output: tokens });
}

/** When the table of prices was made. */
export const pricesAsOf = async (): Promise<string> =>
  (await import("../adapters/models/prices.ts")).PRICE_TABLE.date;

function modelsIn({ agent, planner, fallback }: Config): readonly ModelSpec[] {
  return [agent, planner].flatMap((spec) =>
    typeof spec === "object" && spec.kind === "model" ? [spec.model, ...fallbacksOf(spec, fallback)] : [],
  );
}

export type SandboxFacts = {
  readonly level: "bubblewrap" | "none";
  /** What is in force, and why. */
  readonly why: string;
  /** It is required, and not there. */
  readonly problem?: Failure;
};

/** Undefined where nothing is Skein's to confine: neither commands of the built-in agent nor the gate's. */
export async function inspectSandbox(config: Config, env: Environment): Promise<SandboxFacts | undefined> {
  if (modelsIn(config).length === 0 && config.gateSandbox === "off") return undefined;
  const { openSandbox } = await import("../adapters/sandboxes/bubblewrap.ts");
  const { sandbox: setting, network } = config;
  const sandbox = await openSandbox({ setting, network, environment: env });
  if (hasFailed(sandbox)) return { level: "none", why: sandbox.failure.message, problem: sandbox.failure };
  return { level: sandbox.level, why: sandbox.why };
}

/**
 * Of a new run: what would not be confined although a sandbox is required. A script is no model's, and functions are
 * the program's own.
 */
export function unconfinedProblem(config: Config): Failure | undefined {
  if (config.sandbox !== "required") return undefined;
  if (config.gateSandbox === "off")
    return failure(
      "policy",
      "a sandbox is required, and gateSandbox is off: tests that agents write would run as you",
      "set gateSandbox to auto, or sandbox to auto",
    );
  const program = [config.agent, config.planner].find(
    (spec) => typeof spec === "object" && (spec.kind === "command" || spec.kind === "acp"),
  );
  if (program === undefined) return undefined;
  return failure(
    "policy",
    "a sandbox is required, and an agent that is a program of its own is not confined by Skein",
    "use the built-in agent (--model provider/model); or set sandbox to auto, and run all of Skein in a container",
  );
}

/** What is wrong with the folder of prompts that is configured; undefined if nothing is, or there is none. */
export async function promptsProblem(config: Config, top: string): Promise<Failure | undefined> {
  if (config.prompts === undefined) return undefined;
  const { loadPrompts } = await import("../adapters/prompts/files.ts");
  const prompts = await loadPrompts([path.resolve(top, config.prompts)]);
  return hasFailed(prompts) ? prompts.failure : undefined;
}

export type SpecialistFacts = { readonly names: readonly string[]; readonly problems: readonly string[] };

/** Roles that files of the repository describe, and those that cannot be used. */
export async function inspectSpecialists(top: string): Promise<SpecialistFacts> {
  const { readSpecialists } = await import("../adapters/specialists/files.ts");
  const { specialists, problems } = await readSpecialists(top);
  return { names: specialists.map(({ name }) => name), problems };
}

export type McpFacts = { readonly names: readonly string[]; readonly problems: readonly string[] };

/** Servers that agents are handed on to by the repository, where one of them speaks ACP. */
export async function inspectMcp(config: Config, env: Environment, top: string): Promise<McpFacts> {
  const isAcp = [config.agent, config.planner].some(
    (spec) => typeof spec === "object" && spec.kind === "acp",
  );
  if (!isAcp) return { names: [], problems: [] };
  const { mcpServersOf } = await import("./acp-agent.ts");
  const { servers, problems } = await mcpServersOf({ config, env, top });
  return { names: servers.map(({ name }) => name), problems };
}
