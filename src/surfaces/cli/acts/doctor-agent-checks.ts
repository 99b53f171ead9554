/** What follows for the agents from what was seen? Who else could work, what is confined, and what has a price. */
import type { Candidate } from "../../../compose.ts";
import type { AgentSpec } from "../../../config/index.ts";
import { specText } from "../agent-text.ts";
import { dollarsKey, PRICE_WAYS, tooSmall } from "../budget-words.ts";
import { plural } from "../words.ts";
import { bad, type Check, type Finding, ok, warn } from "./doctor-finding.ts";

/** Everything that is here and not in use. */
export const checkFound: Check = ({ found, agents }) => {
  const used = JSON.stringify(Array.isArray(agents) ? (agents[0]?.spec ?? null) : null);
  return (found?.candidates ?? [])
    .filter(({ spec }) => JSON.stringify(spec) !== used)
    .map((candidate) => ok("also here", alsoText(candidate)));
};

function alsoText({ seen, spec, next }: Candidate): string {
  if (spec === undefined) return next === undefined ? seen : `${seen}: ${next}`;
  return `${seen}: ${flagOf(spec)}`;
}

/** What would be typed to use it. */
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
      : [ok("prices", `known of ${known.join(", ")}, from a table of ${prices.asOf} or your own`)]),
    ...(unknown.length === 0 ? [] : [unknownFinding(unknown, budget, config?.budget.tokens !== undefined)]),
  ];
};

function unknownFinding(models: readonly string[], budget: string | undefined, hasTokens: boolean): Finding {
  const text = `not known of ${models.join(", ")}: what is spent there is counted in tokens alone`;
  if (budget === undefined) return ok("prices", text);
  if (hasTokens) return warn("prices", `${text}, so that ${budget} does not limit it`);
  return bad("prices", `${text}, and ${budget} could not be kept`, PRICE_WAYS);
}

export const checkRoles: Check = ({ specialists, prompts, mcp }) => [
  ...(prompts === undefined
    ? []
    : [
        prompts.problem === undefined
          ? ok("prompts", `from ${prompts.folder}, the others Skein's own`)
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
    : [ok("mcp", `handed on to the agent, which starts them as you: ${mcp.names.join(", ")}`)]),
  ...(mcp?.problems ?? []).map((problem) => warn("mcp", problem)),
];
