/** What would agents have to go on? Prices, the sandbox, prompts and roles, looked at without starting anybody. */
import type { Config } from "../config/schema.ts";
import type { ModelSpec } from "../core/model-spec.ts";
import type { Environment } from "./project.ts";

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

export type SpecialistFacts = { readonly names: readonly string[]; readonly problems: readonly string[] };

/** Roles that files of the repository describe, and those that cannot be used. */
export async function inspectSpecialists(top: string): Promise<SpecialistFacts> {
  const { readSpecialists } = await import("../adapters/specialists.ts");
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
