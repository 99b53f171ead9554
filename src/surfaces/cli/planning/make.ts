/** From a request to a plan that is ready: made, asked about, with its assumptions stated. */
import { existsSync } from "node:fs";
import path from "node:path";
import { type Grounds, groundsOf } from "../../../compose/planning.ts";
import { hasFailed } from "../../../core/result.ts";
import { planByRules } from "../../../planning/by-rules.ts";
import { AGENT_PREFIX, type ExecutionPlan, type Question } from "../../../planning/plan.ts";
import { sizeNotice } from "../../../planning/risks.ts";
import type { Exit } from "../acts/project.ts";
import { onPage } from "../columns.ts";
import type { PlanOptions } from "../commands/options.ts";
import { readHere } from "../configuration.ts";
import { type Context, refuse, usage } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import type { TypedInput } from "../input.ts";
import { asJson, harmless } from "../words.ts";
import { maxConcurrentOf, type WhoPlans, whoPlans } from "./who.ts";

type Made = {
  readonly plan: ExecutionPlan;
  readonly grounds: Grounds;
  /** For people: what came in between. */
  readonly notices: readonly string[];
};

const hasExit = (result: object): result is Exit => "exit" in result;

export async function makePlan(
  context: Context,
  wanted: PlanOptions & { readonly request: string },
): Promise<Made | Exit> {
  const by = byIn(context, wanted);
  if (typeof by === "object") return by;
  const prefix = prefixIn(context, wanted);
  if (typeof prefix === "object") return prefix;
  const folder = path.resolve(context.folder, wanted.repo ?? ".");
  const grounds = await groundsFor(context, folder);
  if (hasExit(grounds)) return grounds;
  const { facts, data, agents, top, notices } = grounds;
  const located = top && { top, gitDir: path.join(top, ".git"), head: "", notices: [] };
  const read = await readHere(context, located || undefined, wanted);
  if ("message" in read) return { exit: refuse(context, EXIT.configuration, read) };
  const usual = data.limits.maxConcurrent;
  const maxConcurrent = maxConcurrentOf(context, wanted.maxConcurrent, { read, usual });
  if (typeof maxConcurrent === "object") return maxConcurrent;
  const around = { facts, data, agents, maxConcurrent, ...(prefix === undefined ? {} : { prefix }) };
  const make = (answers: ReadonlyMap<string, string>): ExecutionPlan =>
    planByRules(wanted.request, { ...around, answers });
  const answered = await answer(context, make, () => personAt(context, wanted));
  const plan = {
    ...answered.plan,
    assumptions: [...answered.plan.assumptions, ...grounds.assumptions],
  };
  if (plan.tasks.length === 0)
    return { exit: usage(context, "the request names nothing to do", "say what should be done") };
  const who = by === "rules" ? RULES : await whoPlans(context, wanted, { top, config: read.config });
  if (who.is === "rules") return { plan, grounds, notices: [...notices, ...saidUnasked(context, who)] };
  const { askAgent } = await import("./agent.ts");
  const request = [wanted.request, ...answered.said].join("\n\n");
  const asked = await askAgent(context, { ...wanted, request, facts, maxConcurrent, rulesPlan: plan, who });
  if (hasExit(asked)) return asked;
  const size = asked.plan.planner === "rules" ? undefined : sizeNotice(asked.plan.tasks.length);
  return {
    plan: settled(asked.plan, asked.plan.questions),
    grounds,
    notices: [...notices, ...asked.notices, ...(size === undefined ? [] : [size])],
  };
}

const RULES: WhoPlans = { is: "rules" };

/** An agent that was only found is not called without a word; that it could be is said. */
function saidUnasked(context: Context, { unasked }: WhoPlans & { readonly is: "rules" }): readonly string[] {
  if (unasked === undefined) return [];
  const message = `this plan was made by rules: ${unasked.message}`;
  if (context.json)
    context.err.write(`${asJson({ notice: { kind: "agent-not-asked", message, next: unasked.next } })}\n`);
  return [message, `try: ${unasked.next}`];
}

/** Undefined: whoever is named, configured or found. */
function byIn(context: Context, { by, agent, model }: PlanOptions): "rules" | "agent" | undefined | Exit {
  const isNamed = agent !== undefined || model !== undefined;
  if (by === undefined) return undefined;
  if (by === "rules" && isNamed)
    return {
      exit: usage(context, "--by rules asks no agent", "leave out --agent and --model, or --by rules"),
    };
  if (by === "rules" || by === "agent") return by;
  return { exit: usage(context, `--by must be rules or agent, not ${harmless(by, 40)}`) };
}

/** What goes before agents' names in some tools. */
function prefixIn(context: Context, { agentPrefix: given }: PlanOptions): string | undefined | Exit {
  if (given === undefined || given === true) return given && AGENT_PREFIX;
  if (/^[\w.:@/-]{1,80}$/.test(given)) return given;
  return { exit: usage(context, "--agent-prefix must be a word", `--agent-prefix ${AGENT_PREFIX}`) };
}

/** The same for who checks a plan. */
export async function groundsFor(context: Context, folder: string): Promise<Grounds | Exit> {
  const no = (message: string, lines: readonly string[] = [], next?: string): Exit => ({
    exit: refuse(context, EXIT.configuration, {
      kind: "configuration",
      message,
      lines,
      ...(next === undefined ? {} : { next }),
    }),
  });
  if (!existsSync(folder)) return no(`there is no folder ${folder}`);
  const grounds = await groundsOf(folder, AbortSignal.timeout(MAX_LOOK_MS));
  if (hasFailed(grounds)) return no(grounds.failure.message, [], grounds.failure.next);
  return "problems" in grounds
    ? no("the repository's own word lists or limits are invalid", some(grounds.problems), OWN_LISTS)
    : grounds;
}

/** A list that lacks a part lacks many. */
const MAX_PROBLEMS = 8;
const some = (problems: readonly string[]): readonly string[] =>
  problems.length <= MAX_PROBLEMS
    ? problems
    : [...problems.slice(0, MAX_PROBLEMS), `and ${problems.length - MAX_PROBLEMS} more`];

const OWN_LISTS = "start from a full copy of that file in planning/ of Skein, and change it; or remove yours";

/** Looking at a repository takes milliseconds; whatever takes longer hangs. */
const MAX_LOOK_MS = 20_000;

/** A person on a terminal, unless it was said; asked on standard error, so that a plan can be written to a file. */
function personAt({ err, json, input }: Context, { ask }: PlanOptions): TypedInput | undefined {
  if (!(ask ?? (!json && err.size !== undefined))) return undefined;
  const person = input();
  return ask || person.isTerminal ? person : undefined;
}

/** Nobody answers more of them in good humour. */
const MAX_QUESTIONS = 5;

/** The most critical first; each answer may settle others, so the plan is made again. */
async function answer(
  context: Context,
  make: (answers: ReadonlyMap<string, string>) => ExecutionPlan,
  whoAnswers: () => TypedInput | undefined,
): Promise<{ readonly plan: ExecutionPlan; readonly said: readonly string[] }> {
  const said: string[] = [];
  const answers = new Map<string, string>();
  let plan = make(answers);
  let input: TypedInput | undefined;
  for (let asked = 0; asked < MAX_QUESTIONS; asked += 1) {
    const [question] = plan.questions.filter(({ id, blocking }) => blocking && !answers.has(id));
    if (question === undefined) break;
    input ??= whoAnswers();
    if (input === undefined) break;
    context.err.write(`${onPage(context.err, harmless(question.question), "  ")}\n> `);
    const line = await input.line();
    if (line === undefined) context.err.write("\n");
    const words = line?.trim() || question.default;
    answers.set(question.id, words);
    said.push(`${question.question}\n${words}`);
    plan = make(answers);
  }
  await input?.close();
  const left = plan.questions.filter(({ id, blocking }) => blocking && !answers.has(id));
  for (const { id, default: usual } of left) answers.set(id, usual);
  return { plan: settled(left.length === 0 ? plan : make(answers), []), said };
}

/** Without a person to ask the default is taken, and said; the rules say it of every answer. */
const settled = (plan: ExecutionPlan, taken: readonly Question[]): ExecutionPlan => ({
  ...plan,
  questions: plan.questions.filter(({ blocking }) => !blocking),
  assumptions: [
    ...plan.assumptions,
    ...taken
      .filter(({ blocking }) => blocking)
      .map(({ question, default: usual }) => `${question} No one was asked; assumed: ${usual}.`),
  ],
});
