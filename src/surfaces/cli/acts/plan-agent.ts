/** `skein plan --by agent`: who is asked, and what came of it? */
import { planByAgent } from "../../../compose/plan-by-agent.ts";
import type { RepositoryFacts } from "../../../planning/facts.ts";
import type { ExecutionPlan } from "../../../planning/plan.ts";
import { hasFailed } from "../../../ports/repository.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import type { PlanOptions } from "../verbs/options.ts";
import { harmless } from "../words.ts";
import { settleAgents } from "./agents.ts";
import { configure } from "./configuration.ts";
import { type Exit, hasExit, openHere } from "./project.ts";
import { stopOnSignal } from "./signals.ts";

type Wanted = Omit<PlanOptions, "maxConcurrent"> & {
  readonly request: string;
  readonly facts: RepositoryFacts;
  readonly rulesPlan: ExecutionPlan;
  readonly maxConcurrent: number;
};

/** Ctrl-C gives up, and nothing is left running. */
export async function askAgent(
  context: Context,
  wanted: Wanted,
): Promise<{ readonly plan: ExecutionPlan; readonly notices: readonly string[] } | Exit> {
  const project = await openHere(context, wanted);
  if (hasExit(project)) return project;
  const read = await configure(context, project, wanted);
  if (hasExit(read)) return read;
  const settled = await settleAgents(context, project, read.config);
  if (hasExit(settled)) return settled;
  const { request, facts, rulesPlan, maxConcurrent } = wanted;
  const { config } = settled;
  const { env } = context;
  using stopping = stopOnSignal();
  const say = (line: string) => {
    if (!context.json) context.err.write(`${harmless(line)}\n`);
  };
  const asked = await planByAgent(
    project,
    { request, config, env, facts, rulesPlan, maxConcurrent },
    say,
    stopping.signal,
  );
  if (hasFailed(asked)) {
    if (stopping.signal.aborted) return { exit: refuse(context, EXIT.interrupted, asked.failure) };
    const isKey = asked.failure.kind === "authentication";
    return {
      exit: refuse(context, isKey ? EXIT.authentication : EXIT.agentUnavailable, asked.failure),
    };
  }
  const notices = [...read.notices, ...settled.notices];
  if (asked.is === "plan") return { plan: asked.plan, notices };
  const why = `this is the rules' plan, because the agent's could not be had: ${asked.why.message}`;
  const reasons = asked.reasons.filter((reason) => reason !== asked.why.message);
  return { plan: asked.plan, notices: [...notices, why, ...reasons] };
}
