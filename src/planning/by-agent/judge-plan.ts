/** Reads and checks an agent's plan like any plan file, and refuses it with reasons that the agent can act on. */
import { Lines } from "../../text/lines.ts";
import { asksOnly } from "../asks-only.ts";
import type { Words } from "../data.ts";
import type { PlanProblem } from "../files/place.ts";
import { readPlan } from "../files/read-plan.ts";
import { lintPlan } from "../lint.ts";
import { visible } from "../plain.ts";
import type { ExecutionPlan } from "../plan.ts";
import { lexiconOf } from "../shapes/lexicon.ts";
import { answerJson } from "./answer-json.ts";
import { leftOut } from "./coverage.ts";

export type JudgedPlan =
  /**
   * `warnings`: possible improvements. `gaps`: parts of the request that the plan left out, which the agent may add in
   * one more turn.
   */
  | {
      readonly is: "plan";
      readonly plan: ExecutionPlan;
      readonly warnings: readonly string[];
      readonly gaps?: RefusedPlan;
    }
  /** `json` is the refused plan; empty if the answer had none. */
  | { readonly is: "refused"; readonly reasons: readonly string[]; readonly json: string };

export type RefusedPlan = Extract<JudgedPlan, { readonly is: "refused" }>;

type Judging = {
  readonly name: string;
  /** The exact words of the request: the plan must cover them. */
  readonly request: string;
  readonly words: Words;
  readonly agents: readonly { readonly name: string; readonly isReadOnly: boolean }[];
  readonly rulesPlan: ExecutionPlan;
  readonly maxConcurrent: number;
};

export function judgePlan(text: string, judging: Judging): JudgedPlan {
  const found = answerJson(text);
  if (found.is === "none") return { is: "refused", reasons: [found.reason], json: "" };
  const { agents, maxConcurrent } = judging;
  const readOnlyAgents = agents.flatMap(({ name, isReadOnly }) => (isReadOnly ? [name] : []));
  const read = readPlan(found.text, { maxConcurrent, readOnlyAgents });
  if (read.is === "broken") return refused(read.problems, found.text);
  const whole = completed(read.plan, judging);
  const missing = leftOut(judging.request, whole, lexiconOf(judging.words)).slice(0, MAX_MISSING).map(shown);
  const plan = missing.length === 0 ? whole : { ...whole, not_covered: missing };
  const findings = lintPlan(plan, { agents });
  const problems = [...missingIn(plan), ...changesIn(plan, judging.request), ...findings.filter(isAgainst)];
  if (problems.length > 0) return refused(problems, found.text);
  const warnings = said(findings.filter(({ level }) => level === "warning"));
  if (missing.length === 0) return { is: "plan", plan, warnings };
  return { is: "plan", plan, warnings, gaps: { is: "refused", reasons: missing.map(gap), json: found.text } };
}

/** Limited, because each is shown to the planner and to people. */
const MAX_MISSING = 20;

const gap = (sentence: string): string =>
  shown(
    `coverage: no task and no assumption has this of the request: ${JSON.stringify(sentence)} (put it into the task that ` +
      "does it, with its paths, quoted words, numbers and names; or into assumptions, with the reason why not)",
  );

/** Questions are not an error of the agent: a person answers them when the plan is shown. */
const isAgainst = ({ level, place }: PlanProblem & { readonly level: string }): boolean =>
  level === "error" && !place.startsWith("questions");

const missingIn = ({ tasks }: ExecutionPlan): readonly PlanProblem[] =>
  tasks.length > 0
    ? []
    : [{ place: "tasks", message: "there are none", next: "a trivial request has one task" }];

/** If the request only asks for an answer, a task that must change something would fail with a right answer. */
const changesIn = ({ tasks }: ExecutionPlan, request: string): readonly PlanProblem[] =>
  asksOnly(request)
    ? tasks.flatMap(({ delivers }, at) =>
        delivers === "change"
          ? [
              {
                place: `tasks[${at}].delivers`,
                message: "the request only asks, and this task changes something",
                next: 'deliver a "report", with an empty scope, that answers it',
              },
            ]
          : [],
      )
    : [];

/**
 * Replaces what the agent must not decide: the request's complexity score, the uncovered sentences, and the number of
 * agents.
 */
function completed(plan: ExecutionPlan, { name, rulesPlan, maxConcurrent }: Judging): ExecutionPlan {
  const { score: _claimed, not_covered: _unasked, ...rest } = plan;
  return {
    ...rest,
    goal: plan.goal.trim() === "" ? rulesPlan.goal : plan.goal,
    planner: `agent ${name}`,
    max_concurrent: maxConcurrent,
    ...(rulesPlan.score && { score: rulesPlan.score }),
    success_criteria: plan.success_criteria.length === 0 ? rulesPlan.success_criteria : plan.success_criteria,
  };
}

const refused = (problems: readonly PlanProblem[], json: string): JudgedPlan => ({
  is: "refused",
  reasons: said(problems),
  json,
});

function said(problems: readonly PlanProblem[]): readonly string[] {
  const lines = new Lines();
  for (const { place, message, next } of problems)
    lines.add(shown([place, message].filter((part) => part !== "").join(": ") + (next ? ` (${next})` : "")));
  return lines.all();
}

const MAX_CHARS = 500;

const shown = (reason: string): string => {
  const line = visible(reason).replace(/\s+/g, " ");
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS)}…` : line;
};
