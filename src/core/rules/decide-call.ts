/** Decides what follows when a worker calls for a subtask or asks a question, and when a question is answered. */

import { slugOf } from "../../text/slug.ts";
import { type Failure, failure, isAccounts, isLoss } from "../failure.ts";
import { cut } from "../handoff.ts";
import type { Ended, Job, Outcome } from "../job.ts";
import type { Fact, NewTask } from "../log/event.ts";
import { type RunState, rankOf, taskOf } from "../log/state.ts";
import {
  type QuestionOrder,
  type Spawn,
  type SubtaskOrder,
  type SubtaskQuestion,
  type ToolResponse,
  UNANSWERED,
} from "../subtask.ts";
import { childId, parentId, type Task, type TaskId } from "../task.ts";
import { unreachable } from "../unreachable.ts";
import { isForLanding } from "./budget.ts";
import { chainOf, chainTop } from "./chain.ts";
import { attemptFailed, type Now, passedUp, runExhausted, stopAnswering } from "./consequences.ts";
import { refused } from "./decide-command.ts";
import { setupMet } from "./decide-setup.ts";
import { backoffMs } from "./policy.ts";
import { chainExhausted, notBegun } from "./subtask-response.ts";

type WorkJob = Job & { readonly kind: "work" };

export function decideCall(
  now: Now,
  job: WorkJob,
  { call, start, session, agent, notes = [] }: Outcome & { readonly is: "called" },
): readonly Fact[] {
  const task = taskOf(now.state, job.task);
  const { maxContinuations } = now.policy.subtasks;
  if ((task.goOn?.times ?? 0) >= maxContinuations) {
    const why = failure(
      "agent-failed",
      `it called for a subtask or asked a question more than ${maxContinuations} times`,
      "do the rest of the task yourself",
    );
    return attemptFailed(now, job, { failure: why, charge: "failed" });
  }
  const noted = notes.length > 0 ? { notes: notes.slice(0, MAX_NOTES).map((note) => cut(note, 500)) } : {};
  const at = { task: task.id, attempt: job.attempt, start, session, ...noted };
  switch (call.is) {
    case "refused":
      return [{ type: "subtask.refused", ...at, response: call.response }];
    case "question":
      return [{ type: "question.asked", ...at, question: questionOf(now, task, call.question) }];
    case "subtask": {
      const response = refusal(now, task, call.order);
      if (response) return [{ type: "subtask.refused", ...at, response }];
      const order = { ...call.order, base: start, session, ...(agent && { agent }) };
      return [{ type: "subtask.spawned", ...at, into: subtaskOf(now, task, order) }];
    }
    default:
      return unreachable(call);
  }
}

const MAX_NOTES = 20;

/** Why a subtask is not begun, in the response to its parent. */
function refusal(now: Now, task: Task, order: SubtaskOrder): ToolResponse | undefined {
  const { state, at } = now;
  const { maxTasks, maxMs } = now.policy.subtasks;
  if (levelsFor(now, task, order) < 1)
    return notBegun(order, "max_depth_exceeded", "the subtask would be deeper than is allowed");
  const twin = ancestorWith(state, task, order.signature);
  if (twin)
    return notBegun(order, "cycle_detected", `${twin} is doing the same: same template, words and inputs`);
  const top = chainTop(state, task);
  const tasks = chainOf(state, top).length;
  if (tasks > maxTasks) return chainExhausted(order, { resource: "tasks", used: tasks - 1, limit: maxTasks });
  const ms = at - (taskOf(state, top).goOn?.since ?? at);
  return ms > maxMs ? chainExhausted(order, { resource: "time", used: ms, limit: maxMs }) : undefined;
}

const levelsFor = ({ policy }: Now, { spec }: Task, { maxDepth }: SubtaskOrder): number =>
  Math.min(spec.spawn?.levels ?? policy.subtasks.maxDepth - 1, maxDepth ?? Number.POSITIVE_INFINITY);

/** Looks at ancestors only: siblings may do the same thing twice. */
function ancestorWith(state: RunState, task: Task, signature: string): TaskId | undefined {
  for (let at: Task | undefined = task; at?.spec.spawn; at = taskOf(state, parentId(at.id)!))
    if (at.spec.spawn.signature === signature) return at.id;
  return undefined;
}

function subtaskOf(now: Now, parent: Task, order: SubtaskOrder & Pick<Spawn, "base" | "session">): NewTask {
  const { state } = now;
  const { scope, priority, delivers, terms, agent = order.agent } = parent.spec;
  const ordinal = (state.planners.get(parent.id)?.children ?? 0) + 1;
  const top = taskOf(state, chainTop(state, parent));
  return {
    id: childId(parent.id, ordinal),
    // Before all other tasks of the same urgency: the task that waits for it is under way.
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
        levels: levelsFor(now, parent, order) - 1,
        ...(isForLanding(parent) && { isForLanding: true }),
      },
    },
  };
}

function questionOf({ state, at, policy }: Now, task: Task, asked: QuestionOrder): SubtaskQuestion {
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

/** Takes in the turn of a task that its subtask asked: the turn gives the answer, or the question goes further up. */
export function decideAnswering(
  now: Now,
  job: WorkJob,
  { outcome, free, notBefore }: Ended,
): readonly Fact[] {
  const { state, at } = now;
  const question = state.questions.values().find(({ to }) => to === job.task);
  if (!question) return []; // The question has been answered meanwhile.
  const { id, tries } = question;
  const { questions, retry } = now.policy;
  const isFor = (outcome.is === "answered" || outcome.is === "passed-on") && outcome.question === id;
  if (outcome.is === "answered" && isFor) {
    const text = cut(outcome.text, questions.maxTextChars);
    return [{ type: "question.answered", question: id, text, by: { task: job.task, attempt: job.attempt } }];
  }
  const why = outcome.is === "failed" ? outcome.failure : undefined;
  const noted = why ? [...setupMet(now, why), ...budgetMet(state, job.task, why)] : [];
  const isFree = why !== undefined && (free || isAccounts(why) || why.kind === "setup");
  if (why && (isFree || (isLoss(why) && tries < questions.maxTries))) {
    const wait = isFree ? 0 : backoffMs(retry, tries + 1, job.task);
    const retryAt = Math.max(at + wait, typeof notBefore === "number" ? notBefore : 0);
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

/** A person answers; allowed even if the question was not put to a person. */
export function answerQuestion(
  { state, policy: { questions } }: Now,
  { question: id, text }: { readonly question: string; readonly text: string },
): readonly Fact[] {
  const question = state.questions.get(id);
  if (!question) {
    const open = [...state.questions.keys()].join(", ");
    return [refused(`answer ${id}`, open === "" ? "no question waits for an answer" : `open are: ${open}`)];
  }
  if (text.trim() === "" || text.length > questions.maxTextChars)
    return [refused(`answer ${id}`, `an answer has 1 to ${questions.maxTextChars} characters`)];
  return [...stopAnswering(state, question), { type: "question.answered", question: id, text, by: "person" }];
}

/** The time for answering is up. */
export function answerByDefault(state: RunState, id: string): readonly Fact[] {
  const question = state.questions.get(id);
  if (!question) return [];
  const text = question.default ?? UNANSWERED;
  return [
    ...stopAnswering(state, question),
    { type: "question.answered", question: id, text, by: "default" },
  ];
}
