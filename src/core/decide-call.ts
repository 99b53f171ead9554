/** What follows when a worker calls for a subtask or asks a question, and when a question is answered? */
import { isForLanding } from "./budget.ts";
import { chainOf, chainTop } from "./chain.ts";
import { attemptFailed, passedUp, stopAnswering, waitMs } from "./consequences.ts";
import { runExhausted } from "./decide-budget.ts";
import { refused } from "./decide-command.ts";
import { setupMet } from "./decide-setup.ts";
import type { Fact, NewTask } from "./event.ts";
import { type Failure, failure, isAccounts, isLoss } from "./failure.ts";
import { cut } from "./handoff.ts";
import type { Ended, Job, Outcome } from "./job.ts";
import type { Rules } from "./policy.ts";
import { slugOf } from "./slug.ts";
import { type RunState, rankOf, taskOf } from "./state.ts";
import {
  type Question,
  type QuestionOrder,
  type Spawn,
  type SubtaskOrder,
  type ToolResponse,
  UNANSWERED,
} from "./subtask.ts";
import { chainExhausted, notBegun } from "./subtask-response.ts";
import { childId, parentId, type Task, type TaskId } from "./task.ts";
import { unreachable } from "./unreachable.ts";

type WorkJob = Job & { readonly kind: "work" };
type Called = Outcome & { readonly is: "called" };

export function decideCall(
  state: RunState,
  job: WorkJob,
  { call, start, session, agent, notes = [] }: Called,
  rules: Rules,
): readonly Fact[] {
  const task = taskOf(state, job.task);
  const { maxContinuations } = rules.policy.subtasks;
  if ((task.goOn?.times ?? 0) >= maxContinuations) {
    const why = failure(
      "agent-failed",
      `it called for a subtask or asked a question more than ${maxContinuations} times`,
      "do the rest of the task yourself",
    );
    return attemptFailed(state, task, job.attempt, { failure: why, charge: "failed" }, rules);
  }
  const noted = notes.length > 0 ? { notes: notes.slice(0, MAX_NOTES).map((note) => cut(note, 500)) } : {};
  const at = { task: task.id, attempt: job.attempt, start, session, ...noted };
  switch (call.is) {
    case "refused":
      return [{ type: "subtask.refused", ...at, response: call.response }];
    case "question":
      return [{ type: "question.asked", ...at, question: questionOf(state, task, call.question, rules) }];
    case "subtask": {
      const response = refusal(state, task, call.order, rules);
      if (response) return [{ type: "subtask.refused", ...at, response }];
      return [
        {
          type: "subtask.spawned",
          ...at,
          into: subtaskOf(
            state,
            task,
            { ...call.order, base: start, session, ...(agent && { agent }) },
            rules,
          ),
        },
      ];
    }
    default:
      return unreachable(call);
  }
}

const MAX_NOTES = 20;

/** Why a subtask is not begun, as the parent is told. */
function refusal(state: RunState, task: Task, order: SubtaskOrder, rules: Rules): ToolResponse | undefined {
  const { maxTasks, maxMs } = rules.policy.subtasks;
  if (levelsFor(task, order, rules) < 1)
    return notBegun(order, "max_depth_exceeded", "the subtask would be deeper than is allowed");
  const twin = ancestorWith(state, task, order.signature);
  if (twin)
    return notBegun(order, "cycle_detected", `${twin} is doing the same: same template, words and inputs`);
  const top = chainTop(state, task);
  const tasks = chainOf(state, top).length;
  if (tasks > maxTasks) return chainExhausted(order, "tasks", tasks - 1, maxTasks);
  const ms = rules.at - (taskOf(state, top).goOn?.since ?? rules.at);
  return ms > maxMs ? chainExhausted(order, "time", ms, maxMs) : undefined;
}

const levelsFor = ({ spec }: Task, { maxDepth }: SubtaskOrder, { policy }: Rules): number =>
  Math.min(spec.spawn?.levels ?? policy.subtasks.maxDepth - 1, maxDepth ?? Number.POSITIVE_INFINITY);

/** Of ancestors alone: siblings may do the same thing twice. */
function ancestorWith(state: RunState, task: Task, signature: string): TaskId | undefined {
  for (let at: Task | undefined = task; at?.spec.spawn; at = taskOf(state, parentId(at.id)!))
    if (at.spec.spawn.signature === signature) return at.id;
  return undefined;
}

function subtaskOf(
  state: RunState,
  parent: Task,
  order: SubtaskOrder & Pick<Spawn, "base" | "session">,
  rules: Rules,
): NewTask {
  const { scope, priority, delivers, terms, agent = order.agent } = parent.spec;
  const ordinal = (state.planners.get(parent.id)?.children ?? 0) + 1;
  const top = taskOf(state, chainTop(state, parent));
  return {
    id: childId(parent.id, ordinal),
    // Before all others that are as urgent as the task that waits for it: that one is under way.
    rank: rankOf(top.order) - 0.5,
    spec: {
      key: `${slugOf(order.type)}-${ordinal}`,
      description: order.description,
      acceptance: "",
      scope,
      after: [],
      priority,
      delivers,
      shape: "work",
      slug: slugOf(order.description),
      ...(agent !== undefined && { agent }),
      ...(terms?.loose && { terms: { loose: true } }),
      spawn: {
        ...order,
        levels: levelsFor(parent, order, rules) - 1,
        ...(isForLanding(parent) && { isForLanding: true }),
      },
    },
  };
}

function questionOf(state: RunState, task: Task, asked: QuestionOrder, { at, policy }: Rules): Question {
  const { waitMs, maxTextChars } = policy.questions;
  return {
    id: `q${state.questionCount + 1}`,
    task: task.id,
    text: cut(asked.text, maxTextChars),
    ...(asked.default !== undefined && { default: cut(asked.default, maxTextChars) }),
    until: at + Math.min(asked.waitMs ?? waitMs, waitMs),
    to: task.spec.spawn ? parentId(task.id)! : "person",
    tries: 0,
  };
}

/** A turn of a task whose subtask asks something: its words are the answer, or the question goes further up. */
export function decideAnswering(
  state: RunState,
  job: WorkJob,
  { outcome, free, notBefore }: Ended,
  rules: Rules,
): readonly Fact[] {
  const question = state.questions.values().find(({ to }) => to === job.task);
  if (!question) return []; // Answered meanwhile.
  const { id, tries } = question;
  const { questions, retry } = rules.policy;
  const isFor = (outcome.is === "answered" || outcome.is === "passed-on") && outcome.question === id;
  if (outcome.is === "answered" && isFor) {
    const text = cut(outcome.text, questions.maxTextChars);
    return [{ type: "question.answered", question: id, text, by: { task: job.task, attempt: job.attempt } }];
  }
  const why = outcome.is === "failed" ? outcome.failure : undefined;
  const noted = why ? [...setupMet(state, why, rules), ...budgetMet(state, job.task, why)] : [];
  const isFree = why !== undefined && (free || isAccounts(why) || why.kind === "setup");
  if (why && (isFree || (isLoss(why) && tries < questions.maxTries))) {
    const wait = isFree ? 0 : waitMs(retry, why, tries + 1, job.task);
    const retryAt = Math.max(rules.at + wait, typeof notBefore === "number" ? notBefore : 0);
    return [
      ...noted,
      { type: "question.passed", question: id, to: job.task, retryAt, ...(isFree && { isFree: true }) },
    ];
  }
  const passed = passedUp(state, question);
  if (outcome.is !== "passed-on" || !isFor) return [...noted, passed];
  const text = outcome.text === undefined ? {} : { text: cut(outcome.text, questions.maxTextChars) };
  return [{ ...passed, attempt: job.attempt, ...text }];
}

const budgetMet = (state: RunState, id: TaskId, why: Failure): readonly Fact[] =>
  why.kind === "budget" && why.budget === "run" ? runExhausted(state, taskOf(state, id)) : [];

/** By a person, whoever was asked. */
export function answerQuestion(
  state: RunState,
  { question: id, text }: { readonly question: string; readonly text: string },
  { policy }: Rules,
): readonly Fact[] {
  const question = state.questions.get(id);
  if (!question) {
    const open = [...state.questions.keys()].join(", ");
    return [refused(`answer ${id}`, open === "" ? "no question waits for an answer" : `open are: ${open}`)];
  }
  if (text.trim() === "" || text.length > policy.questions.maxTextChars)
    return [refused(`answer ${id}`, `an answer has 1 to ${policy.questions.maxTextChars} characters`)];
  return [...stopAnswering(state, question), { type: "question.answered", question: id, text, by: "person" }];
}

/** Its time is up. */
export function answerByDefault(state: RunState, id: string): readonly Fact[] {
  const question = state.questions.get(id);
  if (!question) return [];
  const text = question.default ?? UNANSWERED;
  return [
    ...stopAnswering(state, question),
    { type: "question.answered", question: id, text, by: "default" },
  ];
}
