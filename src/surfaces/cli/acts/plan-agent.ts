/** `skein plan --by agent`: who is asked, and what came of it? */
import { type PlannedByAgent, planByAgent } from "../../../compose/plan-by-agent.ts";
import type { RepositoryFacts } from "../../../planning/facts.ts";
import type { ExecutionPlan } from "../../../planning/plan.ts";
import { hasFailed } from "../../../ports/repository.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import type { PlanOptions } from "../verbs/options.ts";
import { asJson, harmless, plural } from "../words.ts";
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
  // Who reads JSON has the plan on standard output, and must not take it for the agent's.
  if (context.json) context.err.write(`${asJson({ notice: refusedNotice(asked) })}\n`);
  return { plan: asked.plan, notices: [...notices, ...refusedText(asked)] };
}

type Refused = Extract<PlannedByAgent, { readonly is: "rules" }>;

const refusedNotice = ({ why, reasons }: Refused) => ({
  kind: why.kind,
  message: `this is the rules' plan: ${why.message}`,
  ...(reasons.length > 0 && { reasons }),
  ...(why.next !== undefined && { next: why.next }),
});

function refusedText({ why, reasons }: Refused): readonly string[] {
  const against = reasons.filter((reason) => reason !== why.message);
  const more = against.length - MAX_REASONS;
  return [
    `this is the rules' plan: ${why.message}`,
    ...against.slice(0, MAX_REASONS).map((reason) => `wrong with its last plan: ${reason}`),
    ...(more > 0 ? [`and ${plural(more, "more reason")}`] : []),
    ...(why.next === undefined ? [] : [`try: ${why.next}`]),
  ];
}

/** All that is wrong was told while it was asked; who mends a request needs the first ones. */
const MAX_REASONS = 5;
