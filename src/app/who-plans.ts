/** Decides who makes a plan: a named or configured agent; a found one, if a person agrees; else the rules. */
import type { ReadConfig } from "../config/read.ts";
import type { Config } from "../config/schema.ts";
import { MAX_TURNS } from "../planning/by-agent/plan-turns.ts";
import type { AgentLooks } from "../ports/agent-looks.ts";
import { agentName } from "./agent-words.ts";
import { type AgentCandidate, agentsHere, type FindAgentParts } from "./find-agent.ts";

export type PlannerWanted = {
  readonly by?: "agent";
  /** An agent is named for this plan. */
  readonly isNamed: boolean;
  /** This plan was asked for without a planner. */
  readonly isOff: boolean;
  readonly read: ReadConfig;
  /** Asks a person whether a found agent may be used; undefined if no person can answer. */
  readonly consent: () => Consent | undefined;
};

type Consent = {
  readonly agrees: (offer: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
};

export type WhoPlans =
  /** `unasked`: which agent could have been asked, and how to name it. */
  | { readonly is: "rules"; readonly unasked?: { readonly message: string; readonly next: string } }
  /** `isNamed`: it is an error if the agent cannot be started. */
  | { readonly is: "agent"; readonly isNamed: boolean; readonly maxTokens?: number };

/** Without a work tree (`top`) only the rules plan. */
export async function whoPlans(
  wanted: PlannerWanted & { readonly top: string | undefined },
  parts: FindAgentParts,
  signal: AbortSignal,
): Promise<WhoPlans> {
  const { by, isNamed, isOff, top } = wanted;
  const { config } = wanted.read;
  if (isOff && by === undefined) return { is: "rules" };
  if (isNamed || isOff) return { is: "agent", isNamed: true };
  if (top === undefined) return by === "agent" ? { is: "agent", isNamed: true } : { is: "rules" };
  const spec = config.planner ?? config.agent;
  if (spec === "none" && by === undefined) return { is: "rules" };
  if (spec !== undefined && spec !== "none") return { is: "agent", isNamed: by === "agent" };
  return whoIsFound(wanted, parts, signal);
}

type Found = AgentCandidate & { readonly spec: NonNullable<AgentCandidate["spec"]> };

async function whoIsFound(
  { by, read: { config }, consent }: PlannerWanted,
  parts: FindAgentParts,
  signal: AbortSignal,
): Promise<WhoPlans> {
  const person = consent();
  // Without a person, found servers would not be used, so the search does not wait for them.
  const lookFor = config.lookFor.filter((from) => person || from !== "servers");
  const candidates = await agentsHere({ lookFor }, parts, signal);
  const found = candidates.find((one): one is Found => one.spec !== undefined);
  if (found === undefined) {
    await person?.close();
    return by === "agent" ? { is: "agent", isNamed: true } : { is: "rules" }; // `settleAgents` says why there is none.
  }
  const name = agentName(found.spec);
  if (person === undefined) {
    const message = `${found.seen}, but ${name} was not asked: it was not named, and there is no terminal to confirm it`;
    return { is: "rules", unasked: { message, next: `name it: --agent ${name}; or say --by rules` } };
  }
  const cost = await upperCost(found, config, parts.agents);
  const isAgreed = await person.agrees(`${found.seen}. Ask ${name} for the plan? ${cost}`);
  await person.close();
  return isAgreed ? { is: "agent", isNamed: true, maxTokens: MAX_TOKENS } : { is: "rules" };
}

/** What `skein simulate` assumes for one agent's work, times the turns. Enforced by the planner's own budget. */
const MAX_TOKENS = MAX_TURNS * 200_000;

/** The upper limit in words. What a program's own account pays cannot be limited here, so the text says that. */
async function upperCost({ spec }: Found, config: Config, { models }: AgentLooks): Promise<string> {
  if (spec.kind !== "model") return `At most ${MAX_TURNS} turns, paid by its own account.`;
  const tokens = Math.min(MAX_TOKENS, config.budget.tokens ?? MAX_TOKENS);
  // Priced as if all tokens were output.
  const most = (await models.prices(config.prices)).cost(spec.model, { input: 0, output: tokens });
  const price = most === undefined ? "price unknown" : `$${(most / 1_000_000).toFixed(2)}`;
  return `At most ${MAX_TURNS} turns and ${tokens.toLocaleString("en")} tokens (${price}).`;
}
