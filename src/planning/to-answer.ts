/** Makes a planner that answers with the tasks of a given plan. */

import type { AnsweredTask, PlanAnswer } from "../core/answers/plan-answer.ts";
import type { PlanBrief } from "../core/brief.ts";
import { EVERYTHING } from "../core/scope.ts";
import { ROOT, type Terms } from "../core/task.ts";
import { slugOf } from "../text/slug.ts";
import { outputNameIn } from "./files/output-name.ts";
import { AGENT_PREFIX, type ExecutionPlan, GENERAL_PURPOSE, type PlanTask } from "./plan.ts";

/**
 * The root's first answer has all tasks, later answers have none. Concerns that workers reported are marked as
 * addressed; work that they left undone stays open, so that the run ends incomplete.
 */
export function fixedPlanner(plan: ExecutionPlan): (brief: PlanBrief) => PlanAnswer {
  return ({ task, first, concerns }) => ({
    scratchpad: "",
    tasks: task === ROOT && first ? plan.tasks.map((one) => answeredTask(one, plan)) : [],
    deferred: [],
    addressed: concerns.flatMap(({ id, kind }) => (kind === "said" ? [{ concern: id }] : [])),
    done: undefined,
    notes: [],
  });
}

const DEFAULT_PRIORITY = 5;

function answeredTask(task: PlanTask, plan: ExecutionPlan): AnsweredTask {
  const { id, subject, scope, blockedBy, priority = DEFAULT_PRIORITY, delivers, branch, needs } = task;
  const agent = task.metadata.agent.replace(AGENT_PREFIX, "");
  return {
    id,
    description: descriptionOf(task, plan),
    scope: delivers === "change" && scope.length === 0 ? [EVERYTHING] : scope,
    acceptance: acceptanceOf(task, plan),
    priority,
    after: [...new Set(blockedBy)],
    delivers,
    ...(!NOBODY.has(agent) && { agent }),
    ...(needs && { needs }),
    branch: slugOf(hintIn(branch) ?? subject),
    terms: termsOf(task),
  };
}

/** A hint for the branch name; undefined if it has no usable character, so that the subject is used. */
function hintIn(written = ""): string | undefined {
  const hint = written.slice(written.lastIndexOf("/") + 1);
  return /[A-Za-z0-9]/.test(hint) ? hint : undefined;
}

/** Agent names that mean a worker without a role. */
const NOBODY: ReadonlySet<string> = new Set([GENERAL_PURPOSE, "main", ""]);

/** Always present, even if empty: a task of a plan is never split. */
function termsOf({ delivers, scope, reads, success_criterion: criterion, metadata }: PlanTask): Terms {
  const output = metadata.output_file === undefined ? undefined : outputNameIn(metadata.output_file);
  return {
    ...(delivers === "change" && scope.length === 0 && { loose: true as const }),
    ...(output && "name" in output && { output: output.name }),
    ...(reads.length > 0 && { reads }),
    ...(criterion !== undefined && { criterion }),
  };
}

function descriptionOf({ subject, description, requirements, reads }: PlanTask, plan: ExecutionPlan): string {
  return [
    ...(description.startsWith(subject) ? [] : [subject]),
    description,
    listed("Requirements", requirements),
    listed("Read first", reads),
    listed("The plan assumes", plan.assumptions.slice(0, MAX_ASSUMPTIONS).map(shortened)),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** Limited, because they are in every task: the log of a thousand tasks would reach gigabytes. */
const MAX_ASSUMPTIONS = 20;
const MAX_ASSUMPTION_CHARS = 500;

const shortened = (text: string) =>
  text.length <= MAX_ASSUMPTION_CHARS ? text : `${text.slice(0, MAX_ASSUMPTION_CHARS).toWellFormed()}…`;

const listed = (head: string, items: readonly string[]) =>
  items.length === 0 ? "" : [`${head}:`, ...items.map((item) => `- ${item}`)].join("\n");

/** The task's own requirements, else the plan's criteria, else a general sentence: never empty. */
function acceptanceOf({ requirements, success_criterion: command }: PlanTask, plan: ExecutionPlan): string {
  const own = [...requirements, ...(command === undefined ? [] : [`This command passes: ${command}`])];
  const asked = own.length > 0 ? own : plan.success_criteria;
  return asked.length > 0 ? asked.join("\n") : "All that its description asks for is done.";
}
