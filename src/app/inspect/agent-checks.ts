/** Checks agents for `skein doctor`: others that are installed, the sandbox, and known prices. */

import type { AgentSpec } from "../../ports/agent-spec.ts";
import { plural } from "../../text/words.ts";
import { specText } from "../agent-words.ts";
import { dollarsKey, PRICE_WAYS, tooSmall } from "../budget-words.ts";
import type { AgentCandidate } from "../find-agent.ts";
import { bad, type Check, type DoctorFinding, ok, warn } from "./facts.ts";

/** Agents that are installed but not in use. */
export const checkFound: Check = ({ found, agents }) => {
  const used = JSON.stringify(Array.isArray(agents) ? (agents[0]?.spec ?? null) : null);
  return (found?.candidates ?? [])
    .filter(({ spec }) => JSON.stringify(spec) !== used)
    .map((candidate) => ok("also here", alsoText(candidate)));
};

function alsoText({ seen, spec, next }: AgentCandidate): string {
  if (spec === undefined) return next === undefined ? seen : `${seen}: ${next}`;
  return `${seen}: ${flagOf(spec)}`;
}

/** The option that selects it. */
function flagOf(spec: AgentSpec): string {
  if (spec.kind === "acp") return `--agent ${spec.name}`;
  if (spec.kind !== "model") return `--agent ${specText(spec)}`;
  const { provider, model, baseUrl } = spec.model;
  return baseUrl === undefined
    ? `--agent ${provider}/${model}`
    : `--set 'agent={kind: model, provider: ${provider}, model: "${model}", baseUrl: "${baseUrl}"}'`;
}

export const checkFallbacks: Check = ({ missing = [] }) => missing.map((text) => warn("agent", text));

export const checkBudget: Check = ({ configuration }) =>
  "config" in configuration ? tooSmall(configuration.config).map((text) => warn("budget", text)) : [];

export const checkSandbox: Check = ({ sandbox }) => {
  if (sandbox === undefined) return [];
  const { level, why, problem } = sandbox;
  if (problem) return [bad("sandbox", problem.message, problem.next)];
  return [level === "none" ? warn("sandbox", `none: ${why}`) : ok("sandbox", why)];
};

export const checkPrices: Check = ({ prices, configuration }) => {
  if (prices === undefined || prices.models.length === 0) return [];
  const config = "config" in configuration ? configuration.config : undefined;
  const [known, unknown] = [true, false].map((isPriced) =>
    prices.models.filter((one) => one.isPriced === isPriced).map(({ model }) => model),
  ) as [string[], string[]];
  const budget = config && dollarsKey(config);
  return [
    ...(known.length === 0
      ? []
      : [ok("prices", `known for ${known.join(", ")} (price list of ${prices.asOf}, or your own)`)]),
    ...(unknown.length === 0 ? [] : [unknownFinding(unknown, budget, config?.budget.tokens !== undefined)]),
  ];
};

function unknownFinding(
  models: readonly string[],
  budget: string | undefined,
  hasTokens: boolean,
): DoctorFinding {
  const text = `unknown for ${models.join(", ")}: its cost is counted in tokens only`;
  if (budget === undefined) return ok("prices", text);
  if (hasTokens) return warn("prices", `${text}, so ${budget} does not limit it`);
  return bad("prices", `${text}, so ${budget} could not be enforced`, PRICE_WAYS);
}

export const checkRoles: Check = ({ specialists, prompts, mcp }) => [
  ...(prompts === undefined
    ? []
    : [
        prompts.problem === undefined
          ? ok("prompts", `from ${prompts.folder}; the others are built in`)
          : bad("prompts", prompts.problem.message, prompts.problem.next),
      ]),
  ...(specialists === undefined || specialists.names.length === 0
    ? []
    : [
        ok(
          "specialists",
          `${plural(specialists.names.length, "role")} of this repository: ${specialists.names.join(", ")}`,
        ),
      ]),
  ...(specialists?.problems ?? []).map((problem) => warn("specialists", problem)),
  ...(mcp === undefined || mcp.names.length === 0
    ? []
    : [ok("mcp", `passed to the agent, which starts them as you: ${mcp.names.join(", ")}`)]),
  ...(mcp?.problems ?? []).map((problem) => warn("mcp", problem)),
];
