/** Describes agents and models in words. */
import { accountsOf } from "../config/accounts.ts";
import { type Config, MODELS_AS_OF } from "../config/index.ts";
import type { ModelSpec } from "../core/model-spec.ts";
import type { AgentSpec } from "../ports/agent-spec.ts";

export function agentText({ agent, planner }: Pick<Config, "agent" | "planner">): string {
  const works = specText(agent);
  if (planner === "none") return `${works}; no planner: one worker does the whole goal`;
  const plans = specText(planner);
  return plans === works ? works : `${works}; planner: ${plans}`;
}

export function specText(spec: AgentSpec | undefined): string {
  switch (spec?.kind) {
    case undefined:
      return "none";
    case "scripted":
      return `the script ${spec.script}`;
    case "command":
      return spec.command.join(" ");
    case "acp":
      return `${spec.name} (ACP: ${spec.command.join(" ")})`;
    case "model": {
      const others = spec.fallbacks.map(modelText);
      return `the built-in agent on ${modelText(spec.model)}${others.length > 0 ? `, then ${others.join(", ")}` : ""}`;
    }
  }
}

/** The short name of an agent for people. */
export const agentName = (spec: AgentSpec): string =>
  spec.kind === "model" ? `${spec.model.provider}/${spec.model.model}` : accountsOf(spec)[0];

/** As a user would write it; an address that is not the provider's usual one is added. */
const modelText = ({ provider, model, baseUrl }: ModelSpec): string =>
  `${provider}/${model}${baseUrl === undefined ? "" : ` at ${baseUrl}`}`;

/** Says why an agent was found. A default model may be outdated, so its date is added. */
export const foundText = (why: string, spec: AgentSpec | undefined): string =>
  spec?.kind === "model" && spec.model.baseUrl === undefined
    ? `found: ${why}; its usual model as of ${MODELS_AS_OF}`
    : `found: ${why}`;
