/** Makes a plan that is ready from a request: by rules or by an agent, after questions, with its assumptions stated. */
import { hasFailed } from "../core/result.ts";
import { planByRules } from "../planning/by-rules.ts";
import type { ExecutionPlan, Question } from "../planning/plan.ts";
import { sizeNotice } from "../planning/risks.ts";
import type { AgentRequest, MakePlanParts, PlanMade } from "./ask-planner.ts";
import { misused, type Refused } from "./refused.ts";
import type { PlannerWanted } from "./who-plans.ts";

/** "rules" is always offline, and needs no configuration. */
export type MakePlanRequest = (PlannerWanted | { readonly by: "rules" }) &
  AgentRequest & {
    /** The prefix of agents' names in the plan. */
    readonly prefix?: string;
    /** Opens a conversation with a person who can answer; called only if there is a question. */
    readonly person: () => PlanPerson | undefined;
  };

type PlanPerson = {
  /** Undefined: no answer will come. */
  readonly answer: (question: string) => Promise<string | undefined>;
  readonly close: () => Promise<void>;
};

export async function makePlan(
  request: MakePlanRequest,
  parts: MakePlanParts,
  signal: AbortSignal,
): Promise<PlanMade | Refused> {
  const { grounds, maxConcurrent, prefix } = request;
  const { facts, data, agents } = grounds;
  const around = { facts, data, agents, maxConcurrent, ...(prefix === undefined ? {} : { prefix }) };
  const answered = await askQuestions(
    (answers) => planByRules(request.request, { ...around, answers }),
    request.person,
  );
  const plan = {
    ...answered.plan,
    assumptions: [...answered.plan.assumptions, ...grounds.assumptions],
  };
  if (plan.tasks.length === 0) return misused("the request names nothing to do", "say what should be done");
  if (request.by === "rules") return { plan, notices: grounds.notices };
  const { askPlanner } = await import("./ask-planner.ts"); // The modules for agents take long to load.
  const ask = (said: readonly string[]) => askPlanner({ ...request, plan, said }, parts, signal);
  const first = await ask(answered.said);
  if (hasFailed(first)) return first;
  const reply = first.plan === plan ? "default" : await replyTo(first.plan, request.person);
  const asked = reply === "default" ? first : await ask([...answered.said, reply]);
  if (hasFailed(asked)) return asked;
  const size = asked.plan.planner === "rules" ? undefined : sizeNotice(asked.plan.tasks.length);
  return {
    ...asked,
    plan: asked.plan === plan ? plan : settled(asked.plan, asked.plan.questions),
    notices: [...grounds.notices, ...asked.notices, ...(size === undefined ? [] : [size])],
  };
}

/** People do not like to answer more. */
const MAX_QUESTIONS = 5;

/** Asks the most critical question first. An answer may settle others, so the plan is made again after each. */
async function askQuestions(
  make: (answers: ReadonlyMap<string, string>) => ExecutionPlan,
  whoAnswers: () => PlanPerson | undefined,
): Promise<{ readonly plan: ExecutionPlan; readonly said: readonly string[] }> {
  const said: string[] = [];
  const answers = new Map<string, string>();
  let plan = make(answers);
  let person: PlanPerson | undefined;
  for (let asked = 0; asked < MAX_QUESTIONS; asked += 1) {
    const [question] = plan.questions.filter(({ id, blocking }) => blocking && !answers.has(id));
    if (question === undefined) break;
    person ??= whoAnswers();
    if (person === undefined) break;
    const words = (await person.answer(question.question))?.trim() || question.default;
    answers.set(question.id, words);
    said.push(`${question.question}\n${words}`);
    plan = make(answers);
  }
  await person?.close();
  const left = plan.questions.filter(({ id, blocking }) => blocking && !answers.has(id));
  for (const { id, default: usual } of left) answers.set(id, usual);
  return { plan: settled(left.length === 0 ? plan : make(answers), []), said };
}

/** Asks one question of an agent's plan, if a person can answer. The plan as it is already assumes the default. */
async function replyTo(
  { questions }: ExecutionPlan,
  whoAnswers: () => PlanPerson | undefined,
): Promise<"default" | string> {
  const question = questions.find(({ blocking }) => blocking);
  const person = question && whoAnswers();
  if (!question || !person) return "default";
  const words = (await person.answer(withDefault(question)))?.trim() ?? "";
  await person.close();
  return words === "" || words === question.default ? "default" : `${question.question}\n${words}`;
}

const withDefault = ({ question, default: usual }: Question): string =>
  usual === "" || question.includes("(Default: ") ? question : `${question} (Default: ${usual})`;

/** If a default was taken, adds it as an assumption; plans made by rules contain their answers already. */
const settled = (plan: ExecutionPlan, taken: readonly Question[]): ExecutionPlan => ({
  ...plan,
  questions: plan.questions.filter(({ blocking }) => !blocking),
  assumptions: [
    ...plan.assumptions,
    ...taken
      .filter(({ blocking }) => blocking)
      .map(({ question, default: usual }) => `${question} Assumed: ${usual}.`),
  ],
});
