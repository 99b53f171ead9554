/** Checks all that must hold before a run is made: agents, base, delivery, gate. Writes nothing. */
import type { Config } from "../config/schema.ts";
import { hasFailed } from "../core/result.ts";
import type { GateFound } from "../ports/gate.ts";
import type { Base } from "../ports/project.ts";
import { undeliverable } from "./deliverable.ts";
import type { GivenAgents, Parts } from "./parts.ts";
import { type AgentsParts, type AgentsReady, settleAgents } from "./ready-agents.ts";
import { type Refused, refused } from "./refused.ts";

export type StartRequest = {
  readonly config: Config;
  /** Functions of a program instead of configured agents. */
  readonly agents?: GivenAgents;
  /** Whether an agent that is found here may be used if none is configured. */
  readonly mayFindAgent?: boolean;
  /** With `deliver` in the configuration: deliver even if the base branch is checked out. */
  readonly intoCheckout?: boolean;
};

export type StartParts = AgentsParts & Pick<Parts, "base" | "gate" | "git">;

/** `base`: the commit, and the branch if it is one. */
export type StartReady = AgentsReady & { readonly base: Base; readonly gate: GateFound };

/** Used for a run that is made next, and by `skein doctor`, which only asks whether one could be. */
export async function lookAtStart(
  { config: wanted, agents: given, mayFindAgent: mayFind = false, intoCheckout = false }: StartRequest,
  parts: StartParts,
  signal: AbortSignal,
): Promise<StartReady | Refused> {
  const agents = await settleAgents({ config: wanted, mayFind, ...(given && { given }) }, parts, signal);
  if (hasFailed(agents)) return agents;
  const { config } = agents;
  const base = await parts.base(config.base, signal);
  if (hasFailed(base)) return refused("repository", base.failure);
  const why = await undeliverable({ config, intoCheckout, ...base }, parts);
  if (why) return why;
  const gate = await parts.gate(config, base.base, signal);
  return hasFailed(gate) ? refused("repository", gate.failure) : { ...agents, base, gate };
}
