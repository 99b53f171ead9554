/** Decides what follows from a planner's answer, or from a turn that gave none. */

import { Lines } from "../../text/lines.ts";
import type { Addressing, PlanAnswer } from "../answers/plan-answer.ts";
import { checkPlan, type PlannedSpec } from "../answers/plan-check.ts";
import { type Failure, failure, isAccounts, isLoss } from "../failure.ts";
import { cut } from "../handoff.ts";
import type { Ended, Job } from "../job.ts";
import type { Addressed, Fact, NewTask, PlanSaid } from "../log/event.ts";
import { type Concern, nameOf, type Planner, type RunState, taskOf } from "../log/state.ts";
import { childId, depth, isSettled, ROOT, type Task, type TaskId } from "../task.ts";
import { budgetSpent, failTask, isRunBudget, type Now, runExhausted } from "./consequences.ts";
import { setupMet, setupWait } from "./decide-setup.ts";
import { NO_REASON } from "./given-up.ts";
import { backoffMs, type PlannerPolicy, type Policy, shapeOf } from "./policy.ts";
import { ranksOf } from "./rank.ts";

export function decidePlan(
  now: Now,
  job: Job & { readonly kind: "plan" },
  { outcome, free, spent, notBefore }: Ended,
): readonly Fact[] {
  const task = taskOf(now.state, job.task);
  if (isSettled(task)) return [];
  if (outcome.is === "planned") return judge(now, task, outcome.answer);
  const why =
    outcome.is === "failed" ? outcome.failure : failure("agent-failed", `a planner answered "${outcome.is}"`);
  const isOver = why.kind === "budget";
  const isRuns = isOver && isRunBudget(now, task, { failure: why, spent });
  if (isOver && !isRuns) return budgetSpent(now.state, task, why);
  // Without an answer, the planner still has to correct its last one.
  const isSetup = why.kind === "setup";
  const reasons = isLoss(why) || isOver || isSetup ? task.rejected : [why.message];
  const isFree = free || isOver || isSetup || (isAccounts(why) && notBefore !== "unknown");
  const wait = isSetup ? setupWait(now) : notBefore;
  const held = typeof wait === "number" ? { notBefore: wait } : {};
  return [
    ...setupMet(now, why),
    ...(isRuns ? runExhausted(now.state, task) : []),
    ...planFailed(now, task, { failure: why, reasons, free: isFree, ...held }),
  ];
}

function judge(now: Now, task: Task, answered: PlanAnswer): readonly Fact[] {
  if (answered.tasks.length === 0) return nothingMore(now, task, answered);
  const { state, policy } = now;
  const answer = onlyAsks(state, task) ? asReports(answered) : answered;
  const limits = limitsOf(task.id, policy);
  const planner = state.planners.get(task.id);
  const strict = task.id !== ROOT;
  const firstOrdinal = (planner?.children ?? 0) + 1;
  const checked = checkPlan(answer, {
    parent: { id: task.id, scope: task.spec.scope, priority: task.spec.priority },
    strict,
    firstOrdinal,
    known: planner?.keys ?? new Map(),
    coveredBefore: strict ? childScopes(state, task.id) : [],
    maxTasks: limits.maxTasksPerAnswer,
    sharedFiles: policy.sharedFiles,
  });
  const names =
    checked.is === "accepted" ? checked.tasks.map(({ key }) => key) : answer.tasks.map(({ id }) => id);
  const ids = names.map((_, i) => childId(task.id, firstOrdinal + i));
  const made = new Map(names.map((key, i) => [key, ids[i]!]));
  const dealt = checkAddressed(state, { planner, answered: answer.addressed, made });
  if (checked.is === "refused" || dealt.reasons.length > 0) {
    const wrong = checked.is === "refused" ? checked.reasons : checked.notes; // The notes name dropped tasks.
    return refused(now, task, { ...dealt, reasons: [...dealt.reasons, ...wrong] });
  }
  if (dealt.sentBack.length > 0) return sendBack(now, task, dealt);
  const into = newTasks(ids, checked.tasks, policy);
  const skips = skippedAtOnce(state, into);
  const skipped = new Set(skips.map(({ task: id }) => id));
  const uncovered = checked.uncovered.map((path) => `${path} is in no task and not deferred`);
  return [
    {
      type: "plan.accepted",
      task: task.id,
      into,
      replanAfter: limits.replanAfter,
      said: said(state, task.id, { answer, addressed: dealt.addressed }),
      notes: [...answer.notes, ...checked.notes, ...dealt.notes, ...uncovered],
    },
    ...skips,
    ...(strict
      ? []
      : proposal(
          now,
          ids.filter((id) => !skipped.has(id)),
        )),
    ...lastAnswer(state, task, limits),
  ];
}

/** Questions about concerns are told together with the reasons, and count as asked. */
function refused(now: Now, task: Task, { reasons: wrong, questions, sentBack }: CheckedAddressed) {
  const message = [...wrong, ...unsaid(now, task, sentBack)].join("; ");
  const why = failure("plan-invalid", message, "answer again with these points corrected");
  return planFailed(now, task, { failure: why, reasons: [...wrong, ...questions], sentBack, free: false });
}

/** The message for people; the planner is told in full what to write. */
const unsaid = ({ state }: Now, { id }: Task, concerns: readonly string[]): readonly string[] =>
  concerns.map((concern) => {
    const text = cut(state.planners.get(id)?.concerns.get(concern)?.text ?? "", 120);
    return `it did not say what replaces ${concern} (${text}), or why it is given up`;
  });

/** The planner is asked again at once. This is no error, because it happens only once for each concern. */
function sendBack(now: Now, task: Task, { questions, sentBack }: CheckedAddressed): readonly Fact[] {
  const why = failure("plan-invalid", unsaid(now, task, sentBack).join("; "), "answer again, and say it");
  const charge = "nothing";
  return [
    {
      type: "plan.rejected",
      task: task.id,
      failure: why,
      reasons: questions,
      retryAt: now.at,
      charge,
      sentBack,
    },
  ];
}

/** Only for the root's planner: subplanners stay inside of what was approved. */
function proposal({ state, policy: { approval } }: Now, tasks: readonly TaskId[]): readonly Fact[] {
  const isAsked = approval === "every" || (approval === "first" && !state.approved);
  return isAsked && tasks.length > 0 ? [{ type: "plan.proposed", tasks }] : [];
}

/** The goal is a question, and the user has not steered the run since. */
const onlyAsks = ({ steers }: RunState, { id, spec, tries }: Task): boolean =>
  id === ROOT && spec.delivers === "report" && tries.answers === 0 && steers.length === 0;

/** A right answer to a question changes no file, and a task that must change something would fail with it. */
const asReports = (answer: PlanAnswer): PlanAnswer => ({
  ...answer,
  tasks: answer.tasks.map((task) => ({ ...task, delivers: "report" })),
  notes: [
    ...answer.notes,
    ...answer.tasks
      .filter(({ delivers }) => delivers === "change")
      .map(({ id }) => `task "${id}" delivers a report: the goal only asks`),
  ],
});

/** The i-th task of an answer is the i-th new child: `checkPlan` resolved `after` with the same numbers. */
function newTasks(ids: readonly TaskId[], specs: readonly PlannedSpec[], policy: Policy): readonly NewTask[] {
  const ranks = ranksOf(ids, specs, policy.order);
  return specs.map(({ size, ...spec }, i) => {
    const id = ids[i]!;
    const shape = shapeOf({ ...spec, ...(size && { size }) }, policy, depth(id));
    return { id, spec: { ...spec, shape }, rank: ranks[i]! };
  });
}

/**
 * An answer without tasks. The first such answer means atomic; a later one means done, once nothing is active and the
 * planner was told everything.
 */
function nothingMore(now: Now, task: Task, answer: PlanAnswer): readonly Fact[] {
  const { state, policy } = now;
  if (task.tries.answers === 0)
    return [{ type: "plan.kept-whole", task: task.id }, ...(task.id === ROOT ? proposal(now, [ROOT]) : [])];
  const planner = state.planners.get(task.id)!;
  const dealt = checkAddressed(state, { planner, answered: answer.addressed, made: new Map() });
  if (dealt.reasons.length > 0) return refused(now, task, dealt);
  if (dealt.sentBack.length > 0) return sendBack(now, task, dealt);
  const heard = said(state, task.id, { answer, addressed: dealt.addressed });
  const unheard =
    planner.news.length > heard.heard || (task.id === ROOT && state.steers.length > heard.steers);
  const isOver = planner.active.size === 0 && !unheard;
  if (isOver && answer.done === false) {
    const why = failure("plan-invalid", "there are no tasks and nothing is active, but done is false");
    return planFailed(now, task, {
      failure: why,
      reasons: ["give tasks, or say that it is done"],
      free: false,
    });
  }
  if (isOver) return [{ type: "plan.ended", task: task.id, over: "finished", said: heard }];
  const limits = limitsOf(task.id, policy);
  const notes = [...answer.notes, ...dealt.notes];
  return [
    {
      type: "plan.accepted",
      task: task.id,
      into: [],
      replanAfter: limits.replanAfter,
      said: heard,
      notes,
    },
    ...lastAnswer(state, task, limits),
  ];
}

function said(
  state: RunState,
  id: TaskId,
  { answer, addressed }: { readonly answer: PlanAnswer; readonly addressed: readonly Addressed[] },
): PlanSaid {
  const { told } = state.planners.get(id)!;
  const deferred = answer.deferred.length > 0 ? { deferred: answer.deferred } : {};
  return { scratchpad: answer.scratchpad, addressed, heard: told.news, steers: told.steers, ...deferred };
}

/** A task that waits for one that did not land is skipped at once, and so are the tasks that wait for it. */
function skippedAtOnce(
  state: RunState,
  into: readonly NewTask[],
): readonly (Fact & { readonly type: "task.skipped" })[] {
  const because = new Map<TaskId, TaskId>();
  const dependents = new Map<TaskId, TaskId[]>();
  for (const { id, spec } of into) {
    for (const dependency of spec.after) {
      const known = state.tasks.get(dependency);
      const others = dependents.get(dependency);
      if (!known && others) others.push(id);
      else if (!known) dependents.set(dependency, [id]);
      else if (isSettled(known) && known.state.is !== "done") because.set(id, dependency);
    }
  }
  // A map may grow while it is iterated: tasks that wait for a skipped task are reached in the same pass.
  for (const id of because.keys()) {
    for (const dependent of dependents.get(id) ?? []) if (!because.has(dependent)) because.set(dependent, id);
  }
  return [...because].map(([task, dependency]) => ({ type: "task.skipped", task, because: dependency }));
}

/** After its last allowed answer a planner is not asked again; the tasks that it started are finished. */
function lastAnswer(state: RunState, task: Task, limits: PlannerPolicy): readonly Fact[] {
  if (task.tries.answers + 1 < limits.maxAnswers) return [];
  const over = failure(
    "planner-gave-up",
    `the planner of ${nameOf(state, task.id)} was not done after ${limits.maxAnswers} answers`,
    "split the goal, or raise maxAnswers",
  );
  return [{ type: "plan.ended", task: task.id, over }];
}

/**
 * The planner is asked again with the reasons, after a wait if the agent could not be reached, up to a limit of
 * failures in a row.
 */
function planFailed(
  { state, at, policy }: Now,
  task: Task,
  why: {
    readonly failure: Failure;
    readonly reasons: readonly string[];
    readonly sentBack?: readonly string[];
    readonly free: boolean;
    readonly notBefore?: number;
  },
): readonly Fact[] {
  const { failure: because, reasons, sentBack = [], free } = why;
  const outage = because.kind === "agent-unreachable" || isAccounts(because);
  const times = outage ? task.tries.unreachable + 1 : task.tries.planErrors + 1;
  const max = outage ? policy.retry.maxUnreachable : limitsOf(task.id, policy).maxErrorsInARow;
  if (!free && times >= max)
    return endPlanning(
      state,
      task,
      failure(
        "planner-gave-up",
        `the planner of ${nameOf(state, task.id)} failed ${times} times in a row, last: ${because.message}`,
        (isLoss(because) || because.kind === "not-a-planner" ? because.next : undefined) ??
          "see whether its agent works, then start again",
      ),
    );
  const charge = free ? "nothing" : outage ? "unreachable" : "error";
  const wait = free || !isLoss(because) ? 0 : backoffMs(policy.retry, times, task.id);
  const retryAt = Math.max(at + wait, why.notBefore ?? at);
  const asked = sentBack.length > 0 ? { sentBack } : {};
  return [{ type: "plan.rejected", task: task.id, failure: because, reasons, retryAt, charge, ...asked }];
}

function endPlanning(state: RunState, task: Task, over: Failure): readonly Fact[] {
  return task.state.is === "delegated"
    ? [{ type: "plan.ended", task: task.id, over }]
    : failTask(state, task.id, over);
}

const limitsOf = (id: TaskId, policy: Policy) => (id === ROOT ? policy.root : policy.subplanner);

function childScopes(state: RunState, parent: TaskId): readonly string[] {
  const children = state.planners.get(parent)?.children ?? 0;
  return Array.from({ length: children }, (_, i) => taskOf(state, childId(parent, i + 1)).spec.scope).flat();
}

type CheckedAddressed = {
  readonly addressed: readonly Addressed[];
  /** Why the answer cannot be used. */
  readonly reasons: readonly string[];
  /** Concerns that were closed by their id alone for the first time, and what is asked about them. */
  readonly sentBack: readonly string[];
  readonly questions: readonly string[];
  readonly notes: readonly string[];
};

/**
 * Naming a "said" concern is enough to close it. An "undone" one needs the task that took its place, or a reason. If
 * only its id is given, the planner is asked once; the second time it counts as given up without a reason. `made`: the
 * tasks of this answer.
 */
function checkAddressed(
  state: RunState,
  {
    planner,
    answered,
    made,
  }: {
    readonly planner: Planner | undefined;
    readonly answered: readonly Addressing[];
    readonly made: ReadonlyMap<string, TaskId>;
  },
): CheckedAddressed {
  const [reasons, questions, notes] = [new Lines(), new Lines(), new Lines()];
  const addressed: Addressed[] = [];
  const sentBack: string[] = [];
  for (const { concern: id, by: key, because } of answered) {
    const concern = planner?.concerns.get(id);
    const reason = because === undefined ? {} : { because };
    if (!planner || !concern)
      notes.add(`"${id}" is not an open concern; nothing was marked as addressed by it`);
    else if (concern.kind === "said") addressed.push({ concern: id, ...reason });
    else if (key !== undefined) {
      const by = made.get(key) ?? planner.keys.get(key);
      const why = by === undefined ? "there is no such task" : unfit(state, concern, by);
      if (why !== undefined) reasons.add(`"${key}" cannot replace ${id}: ${why}`);
      else addressed.push({ concern: id, by: by!, ...reason });
    } else if (because !== undefined) addressed.push({ concern: id, because });
    else if (concern.isSentBack) addressed.push({ concern: id, because: NO_REASON });
    else {
      sentBack.push(id);
      questions.add(question(concern));
    }
  }
  return { addressed, sentBack, reasons: reasons.all(), questions: questions.all(), notes: notes.all() };
}

const question = ({ id, text }: Concern): string =>
  `${id} (${cut(text, 120)}) is about something that was not done: say what replaces it, ` +
  `{"concern": "${id}", "by": "id of your task"}, or why it is given up, {"concern": "${id}", "because": "…"}`;

/** Why `by` cannot have taken the place; undefined if it can. A replacement is always newer, so there are no cycles. */
function unfit(state: RunState, { from, plannedBefore }: Concern, by: TaskId): string | undefined {
  if (by === from) return "it is the task itself";
  if (ordinalOf(by) <= plannedBefore)
    return "that task was given before this was known; give a new one, or a reason";
  if (!state.tasks.has(by)) return undefined; // A task of this same answer.
  const { is } = taskOf(state, by).state;
  const isUndone = is === "failed" || is === "skipped" || is === "cancelled";
  return isUndone ? `it ${is === "failed" ? "failed" : `was ${is}`} itself` : undefined;
}

/** "t.2.7" has the ordinal 7. */
const ordinalOf = (id: TaskId): number => Number(id.slice(id.lastIndexOf(".") + 1));
