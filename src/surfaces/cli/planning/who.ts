/** Who makes a plan, and for how many workers? A named or configured agent; one that was found, if a person agrees; else the rules. */

import { type AgentCandidate, agentsHere } from "../../../app/find-agent.ts";
import { agentLooks } from "../../../compose/agent-looks.ts";
import { mostCost } from "../../../compose/inspect-agent.ts";
import type { Config, ReadConfig } from "../../../config/index.ts";
import { MAX_TURNS } from "../../../planning/by-agent/plan-turns.ts";
import { type Exit, NEVER } from "../acts/project.ts";
import { onPage } from "../columns.ts";
import type { PlanOptions } from "../commands/options.ts";
import { type Context, usage } from "../context.ts";
import { harmless } from "../words.ts";

export type WhoPlans =
  /** `unasked`: who could have been asked, and how to name them. */
  | { readonly is: "rules"; readonly unasked?: { readonly message: string; readonly next: string } }
  /** `isNamed`: on this command line, so that it is an error if it cannot be started. */
  | { readonly is: "agent"; readonly isNamed: boolean; readonly maxTokens?: number };

/** `by` is not "rules": that is always offline. Without a work tree (`top`) only the rules plan. */
export async function whoPlans(
  context: Context,
  wanted: PlanOptions,
  { top, config }: { readonly top: string | undefined; readonly config: Config },
): Promise<WhoPlans> {
  const { agent, model, planner, script, by } = wanted;
  if (planner === "none" && by === undefined) return { is: "rules" };
  const isNamed = [agent, model, planner, script].some((one) => one !== undefined);
  if (isNamed) return { is: "agent", isNamed: true };
  if (top === undefined) return by === "agent" ? { is: "agent", isNamed: true } : { is: "rules" };
  const spec = config.planner ?? config.agent;
  if (spec === "none" && by === undefined) return { is: "rules" };
  if (spec !== undefined && spec !== "none") return { is: "agent", isNamed: by === "agent" };
  return whoIsFound(context, wanted, config);
}

type Found = AgentCandidate & { readonly spec: NonNullable<AgentCandidate["spec"]> };

async function whoIsFound(context: Context, { ask, by }: PlanOptions, config: Config): Promise<WhoPlans> {
  const mayAsk = !context.json && context.err.size !== undefined && ask !== false;
  const input = mayAsk ? context.input() : undefined;
  const isTerminal = input?.isTerminal === true;
  // Nobody waits for servers to answer where they would not be asked.
  const lookFor = config.lookFor.filter((from) => isTerminal || from !== "servers");
  const candidates = await agentsHere(
    { lookFor },
    { env: context.env, agents: agentLooks(context.env) },
    NEVER,
  );
  const found = candidates.find((one): one is Found => one.spec !== undefined);
  if (found === undefined) {
    await input?.close();
    return by === "agent" ? { is: "agent", isNamed: true } : { is: "rules" }; // Whoever looks for one says why not.
  }
  const name = nameOf(found);
  if (!isTerminal || input === undefined) {
    const message = `${found.seen}, but ${name} was not asked: it was not named, and there is no terminal to confirm it`;
    return {
      is: "rules",
      unasked: { message, next: `name it: --agent ${name}; or say --by rules` },
    };
  }
  const text = `${found.seen}. Ask ${name} for the plan? ${await upperCost(found, config)} [y/N, n: plan by rules] `;
  context.err.write(onPage(context.err, harmless(text), "  "));
  const answer = (await input.line())?.trim().toLowerCase();
  if (answer === undefined) context.err.write("\n");
  await input.close();
  return /^y(?:es)?$/.test(answer ?? "")
    ? { is: "agent", isNamed: true, maxTokens: MAX_TOKENS }
    : { is: "rules" };
}

/** As it would be named. What is found is a model, or an agent that speaks ACP. */
function nameOf({ spec }: Found): string {
  if (spec.kind === "model") return `${spec.model.provider}/${spec.model.model}`;
  return spec.kind === "acp" ? spec.name : spec.kind;
}

/** What `skein simulate` assumes of one agent's work, for each of the turns. Kept by the planner's own budget. */
const MAX_TOKENS = MAX_TURNS * 200_000;

/** In words. A program's own bill is not Skein's to limit, and is said to be so. */
async function upperCost({ spec }: Found, config: Config): Promise<string> {
  if (spec.kind !== "model") return `At most ${MAX_TURNS} turns, paid by its own account.`;
  const tokens = Math.min(MAX_TOKENS, config.budget.tokens ?? MAX_TOKENS);
  const most = await mostCost(spec.model, tokens, config.prices);
  const price = most === undefined ? "price unknown" : `$${(most / 1_000_000).toFixed(2)}`;
  return `At most ${MAX_TURNS} turns and ${tokens.toLocaleString("en")} tokens (${price}).`;
}

/** More agents than anybody runs at once: beyond it somebody has slipped. */
const MAX_CONCURRENT = 1_000;

export function maxConcurrentOf(
  context: Context,
  said: string | undefined,
  { read, usual }: { readonly read: ReadConfig; readonly usual: number },
): number | Exit {
  if (said === undefined) return read.origins["workers"] === "default" ? usual : read.config.workers;
  const wrong = `--max-concurrent must be a whole number from 1 to ${MAX_CONCURRENT}, not ${JSON.stringify(said.slice(0, 40))}`;
  return wholeIn(said) ?? { exit: usage(context, wrong, "--max-concurrent 8") };
}

function wholeIn(text: string): number | undefined {
  const number = /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
  return number >= 1 && number <= MAX_CONCURRENT ? number : undefined;
}
