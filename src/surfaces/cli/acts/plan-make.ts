/** From a request to a plan that is ready: made, asked about, and with what was taken for granted in it. */
import { existsSync } from "node:fs";
import path from "node:path";
import { type Grounds, groundsOf } from "../../../compose/planning.ts";
import { AGENT_PREFIX, type ExecutionPlan, type Question } from "../../../planning/plan.ts";
import { sizeNotice } from "../../../planning/size.ts";
import { hasFailed } from "../../../ports/repository.ts";
import { type Context, refuse, usage } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import type { PlanOptions } from "../verbs/options.ts";
import { asJson, harmless, onPage } from "../words.ts";
import type { Input, OpenInput } from "./plan-input.ts";
import type { WhoPlans, whoPlans } from "./plan-who.ts";
import { maxConcurrentOf } from "./plan-workers.ts";
import type { Exit } from "./project.ts";

export type Made = {
  readonly plan: ExecutionPlan;
  readonly grounds: Grounds;
  /** For people: what came in between. */
  readonly notices: readonly string[];
};

const hasExit = (result: object): result is Exit => "exit" in result;

export async function makePlan(
  context: Context,
  wanted: PlanOptions & { readonly request: string },
  input: OpenInput,
): Promise<Made | Exit> {
  const by = byIn(context, wanted);
  if (typeof by === "object") return by;
  const prefix = prefixIn(context, wanted);
  if (typeof prefix === "object") return prefix;
  const folder = path.resolve(context.folder, wanted.repo ?? ".");
  // The rules are loaded while the repository is looked at.
  const [grounds, { planByRules }] = await Promise.all([
    groundsFor(context, folder),
    import("../../../planning/by-rules.ts"),
  ]);
  if (hasExit(grounds)) return grounds;
  const { facts, data, agents, top, notices } = grounds;
  const usual = data.limits.maxConcurrent;
  const maxConcurrent = await maxConcurrentOf(context, wanted, { top, usual });
  if (typeof maxConcurrent === "object") return maxConcurrent;
  const around = { facts, data, agents, maxConcurrent, ...(prefix === undefined ? {} : { prefix }) };
  const make = (answers: ReadonlyMap<string, string>): ExecutionPlan =>
    planByRules(wanted.request, { ...around, answers });
  const answered = await answer(context, make, personAt(context, wanted, input));
  const plan = {
    ...answered.plan,
    assumptions: [...answered.plan.assumptions, ...grounds.assumptions],
  };
  if (plan.tasks.length === 0)
    return { exit: usage(context, "the request names nothing that could be done", "say what is to be done") };
  const who = by === "rules" ? RULES : await whoIs(context, wanted, { top, open: input });
  if (hasExit(who)) return who;
  if (who.is === "rules") return { plan, grounds, notices: [...notices, ...saidUnasked(context, who)] };
  const { askAgent } = await import("./plan-agent.ts");
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

/** What it takes to look for agents is loaded only where somebody may be asked. */
const whoIs = async (...asked: Parameters<typeof whoPlans>): Promise<WhoPlans | Exit> =>
  (await import("./plan-who.ts")).whoPlans(...asked);

/** An agent that was only found is not called without a word; that it could be is said. */
function saidUnasked(context: Context, { unasked }: WhoPlans & { readonly is: "rules" }): readonly string[] {
  if (unasked === undefined) return [];
  const message = `this is the rules' plan: ${unasked.message}`;
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
    ? no("the repository's own word lists or limits cannot be used", some(grounds.problems), OWN_LISTS)
    : grounds;
}

/** A list that lacks a part lacks many. */
const MAX_PROBLEMS = 8;
const some = (problems: readonly string[]): readonly string[] =>
  problems.length <= MAX_PROBLEMS
    ? problems
    : [...problems.slice(0, MAX_PROBLEMS), `and ${problems.length - MAX_PROBLEMS} more`];

const OWN_LISTS =
  "begin with a whole copy of the file of that name in planning/ of Skein, and change that; or remove yours";

/** Looking at a repository takes milliseconds; whatever takes longer hangs. */
const MAX_LOOK_MS = 20_000;

/** A person on a terminal, unless it was said; asked on standard error, so that a plan can be written to a file. */
const personAt =
  ({ err, json }: Context, { ask }: PlanOptions, open: OpenInput) =>
  async () => {
    if (!(ask ?? (!json && err.size !== undefined))) return undefined;
    const input = await open();
    return ask || input.isTerminal ? input : undefined;
  };

/** Nobody answers more of them in good humour. */
const MAX_QUESTIONS = 5;

/** The most critical first; each answer may settle others, so the plan is made again. */
async function answer(
  context: Context,
  make: (answers: ReadonlyMap<string, string>) => ExecutionPlan,
  whoAnswers: () => Promise<Input | undefined>,
): Promise<{ readonly plan: ExecutionPlan; readonly said: readonly string[] }> {
  const said: string[] = [];
  const answers = new Map<string, string>();
  let plan = make(answers);
  let input: Input | undefined;
  for (let asked = 0; asked < MAX_QUESTIONS; asked += 1) {
    const [question] = plan.questions.filter(({ id, blocking }) => blocking && !answers.has(id));
    if (question === undefined) break;
    input ??= await whoAnswers();
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
      .map(({ question, default: usual }) => `${question} Nobody was asked; taken: ${usual}.`),
  ],
});
