/** What follows when a worker calls for a subtask or asks a question, and when a question is answered? */
import { isForLanding } from "./budget.ts";
import { chainOf, chainTop } from "./chain.ts";
import { attemptFailed, stopAnswering } from "./consequences.ts";
import { refused } from "./decide-command.ts";
import type { Fact, NewTask } from "./event.ts";
import { failure, isAccounts, isLoss } from "./failure.ts";
import { cut } from "./handoff.ts";
import { type Job, jobId, type Outcome } from "./job.ts";
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

type WorkJob = Job & { readonly kind: "work" };
type Called = Outcome & { readonly is: "called" };

export function decideCall(
  state: RunState,
  job: WorkJob,
  { call, start, session }: Called,
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
  const at = { task: task.id, attempt: job.attempt, start, ...(session && { session }) };
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
          into: subtaskOf(state, job, { ...call.order, base: start, session: session ?? jobId(job) }, rules),
        },
      ];
    }
  }
}

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
  if (tasks > maxTasks) return chainExhausted(order, "tasks", tasks, maxTasks);
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
  job: WorkJob,
  order: SubtaskOrder & Pick<Spawn, "base" | "session">,
  rules: Rules,
): NewTask {
  const parent = taskOf(state, job.task);
  const { scope, priority, delivers, agent, terms } = parent.spec;
  const ordinal = (state.planners.get(job.task)?.children ?? 0) + 1;
  return {
    id: childId(job.task, ordinal),
    rank: rankOf(parent.order), // As urgent as the task that waits for it.
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
  outcome: Outcome,
  { policy }: Rules,
): readonly Fact[] {
  const question = state.questions.values().find(({ to }) => to === job.task);
  if (!question) return []; // Answered meanwhile.
  const { id } = question;
  const { attempt } = job;
  if (outcome.is === "worked" && outcome.handoff.status === "complete") {
    const text = cut(outcome.handoff.summary, policy.questions.maxTextChars);
    return [{ type: "question.answered", question: id, text, by: { task: job.task, attempt } }];
  }
  const isLost = outcome.is === "failed" && (isLoss(outcome.failure) || isAccounts(outcome.failure));
  if (isLost && question.tries < policy.questions.maxTries)
    return [{ type: "question.passed", question: id, to: job.task }];
  const { spec } = taskOf(state, job.task);
  const isAsked = outcome.is === "called" && outcome.call.is === "question";
  return [
    {
      type: "question.passed",
      question: id,
      to: spec.spawn ? parentId(job.task)! : "person",
      ...(isAsked && { text: cut(outcome.call.question.text, policy.questions.maxTextChars), attempt }),
    },
  ];
}

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
