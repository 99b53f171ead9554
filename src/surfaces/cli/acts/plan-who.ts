/** Who makes the plan? The agent that is named or configured; one that was only found, if a person says yes; else rules. */
import { lstatSync } from "node:fs";
import path from "node:path";
import { agentsHere, type Candidate } from "../../../compose/find-agent.ts";
import type { Config } from "../../../config/index.ts";
import { MAX_TURNS } from "../../../planning/by-agent/plan-turns.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import type { PlanOptions } from "../verbs/options.ts";
import { harmless, onPage } from "../words.ts";
import type { OpenInput } from "./plan-input.ts";
import { type Exit, NEVER } from "./project.ts";

export type WhoPlans =
  /** `unasked`: who could have been asked, and how to name them. */
  | { readonly is: "rules"; readonly unasked?: { readonly message: string; readonly next: string } }
  /** `isNamed`: on this command line, so that it is an error if it cannot be started. */
  | { readonly is: "agent"; readonly isNamed: boolean; readonly maxTokens?: number };

export type WhoAround = {
  /** The work tree; without one nobody but the rules plans. */
  readonly top: string | undefined;
  readonly open: OpenInput;
};

/** `by` is not "rules": that is always offline. */
export async function whoPlans(
  context: Context,
  wanted: PlanOptions,
  { top, open }: WhoAround,
): Promise<WhoPlans | Exit> {
  if (wanted.planner === "none" && wanted.by === undefined) return { is: "rules" };
  const isNamed = [wanted.agent, wanted.model, wanted.planner, wanted.script].some(
    (one) => one !== undefined,
  );
  if (isNamed) return { is: "agent", isNamed: true };
  if (top === undefined) return wanted.by === "agent" ? { is: "agent", isNamed: true } : { is: "rules" };
  const config = await configHere(context, wanted, top);
  if (config && "exit" in config) return config;
  const spec = config?.planner ?? config?.agent;
  if (spec === "none" && wanted.by === undefined) return { is: "rules" };
  if (spec !== undefined && spec !== "none") return { is: "agent", isNamed: wanted.by === "agent" };
  return whoIsFound(context, wanted, { config, open });
}

const VARIABLES = ["SKEIN_AGENT", "SKEIN_MODEL", "SKEIN_PLANNER", "SKEIN_SCRIPT", "SKEIN_LOOK_FOR"];

/** The configuration takes long to load, so only where somebody has written something. */
async function configHere(
  context: Context,
  given: PlanOptions,
  top: string,
): Promise<Config | Exit | undefined> {
  const isThere = ["skein.yaml", "skein.yml"].some(
    (name) => lstatSync(path.join(top, name), { throwIfNoEntry: false }) !== undefined,
  );
  const isSaid =
    given.config !== undefined || given.set !== undefined || VARIABLES.some((name) => context.env[name]);
  if (!isThere && !isSaid) return undefined;
  const { readHere } = await import("./configuration.ts");
  const located = { top, gitDir: path.join(top, ".git"), head: "", notices: [] };
  const read = await readHere(context, located, given);
  return "message" in read ? { exit: refuse(context, EXIT.configuration, read) } : read.config;
}

type Found = Candidate & { readonly spec: NonNullable<Candidate["spec"]> };

async function whoIsFound(
  context: Context,
  { ask, by }: PlanOptions,
  { config, open }: { readonly config: Config | undefined; readonly open: OpenInput },
): Promise<WhoPlans> {
  const mayAsk = !context.json && context.err.size !== undefined && ask !== false;
  const input = mayAsk ? await open() : undefined;
  const isTerminal = input?.isTerminal === true;
  // Nobody waits for servers to answer where they would not be asked.
  const lookFor = (config?.lookFor ?? ["keys", "programs", "servers"]).filter(
    (from) => isTerminal || from !== "servers",
  );
  const candidates = await agentsHere({ lookFor }, context.env, NEVER);
  const found = candidates.find((one): one is Found => one.spec !== undefined);
  if (found === undefined) {
    await input?.close();
    return by === "agent" ? { is: "agent", isNamed: true } : { is: "rules" }; // Whoever looks for one says why not.
  }
  const name = nameOf(found);
  if (!isTerminal || input === undefined) {
    const message = `${found.seen}, but ${name} was not asked: it was only found, and there is no terminal to ask on`;
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
async function upperCost({ spec }: Found, config: Config | undefined): Promise<string> {
  if (spec.kind !== "model") return `At most ${MAX_TURNS} turns, paid by its own account.`;
  const { mostCost } = await import("../../../compose/inspect-agent.ts");
  const tokens = Math.min(MAX_TOKENS, config?.budget.tokens ?? MAX_TOKENS);
  const most = await mostCost(spec.model, tokens, config?.prices ?? {});
  const price = most === undefined ? "its price is not known" : `$${(most / 1_000_000).toFixed(2)}`;
  return `At most ${MAX_TURNS} turns and ${tokens.toLocaleString("en")} tokens (${price}).`;
}
