/** What follows from a planner's answer, or from its silence? */
import { failTask, waitMs } from "./consequences.ts";
import { budgetSpent, isRuns, runExhausted } from "./decide-budget.ts";
import { setupMet, setupWait } from "./decide-setup.ts";
import type { Addressed, Fact, NewTask, PlanSaid } from "./event.ts";
import { type Failure, failure, isAccounts, isLoss } from "./failure.ts";
import type { Ended, Job } from "./job.ts";
import { type CheckedAddressed, checkAddressed } from "./plan-addressed.ts";
import { DID_YOU_MEAN, type PlanAnswer } from "./plan-answer.ts";
import { checkPlan, type PlannedSpec } from "./plan-check.ts";
import { type PlannerPolicy, type Policy, type Rules, shapeOf } from "./policy.ts";
import { ranksOf } from "./rank.ts";
import { nameOf, type RunState, taskOf } from "./state.ts";
import { childId, depth, isSettled, ROOT, type Task, type TaskId } from "./task.ts";

export function decidePlan(
  state: RunState,
  job: Job & { readonly kind: "plan" },
  { outcome, free, spent, notBefore }: Ended,
  rules: Rules,
): readonly Fact[] {
  const task = taskOf(state, job.task);
  if (isSettled(task)) return [];
  if (outcome.is === "planned") return judge(state, task, outcome.answer, rules);
  const why =
    outcome.is === "failed" ? outcome.failure : failure("agent-failed", `a planner answered "${outcome.is}"`);
  const isOver = why.kind === "budget";
  const runs = isOver && isRuns(state, task, { failure: why, ...(spent && { spent }) }, rules);
  if (isOver && !runs) return budgetSpent(state, task, why);
  // Nothing was answered: what was wrong with the last answer is still to be mended.
  const isSetup = why.kind === "setup";
  const reasons = isLoss(why) || isOver || isSetup ? task.rejected : [why.message];
  const isFree = free || isOver || isSetup || (isAccounts(why) && notBefore !== "unknown");
  const wait = isSetup ? setupWait(state, rules) : notBefore;
  return [
    ...setupMet(state, why, rules),
    ...(runs ? runExhausted(state, task) : []),
    ...planFailed(
      state,
      task,
      { failure: why, reasons, free: isFree, ...(typeof wait === "number" && { notBefore: wait }) },
      rules,
    ),
  ];
}

function judge(state: RunState, task: Task, answer: PlanAnswer, rules: Rules): readonly Fact[] {
  if (answer.tasks.length === 0) return nothingMore(state, task, answer, rules);
  const limits = limitsOf(task.id, rules.policy);
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
    sharedFiles: rules.policy.sharedFiles,
  });
  const names =
    checked.is === "accepted" ? checked.tasks.map(({ key }) => key) : answer.tasks.map(({ id }) => id);
  const made = new Map(names.map((key, i) => [key, childId(task.id, firstOrdinal + i)]));
  const dealt = checkAddressed(state, planner, answer.addressed, made);
  if (checked.is === "refused" || dealt.reasons.length > 0) {
    const wrong = checked.is === "refused" ? checked.reasons : checked.notes; // Notes: it may name what was dropped.
    return refused(state, task, [...dealt.reasons, ...wrong], dealt, rules);
  }
  if (dealt.sentBack.length > 0) return sendBack(task, dealt, rules);
  const into = newTasks(task.id, firstOrdinal, checked.tasks, rules.policy);
  const skips = skippedAtOnce(state, into);
  const skipped = new Set(skips.map(({ task: id }) => id));
  const uncovered = checked.uncovered.map((path) => `${path} is in no task and not deferred`);
  return [
    {
      type: "plan.accepted",
      task: task.id,
      into,
      replanAfter: limits.replanAfter,
      said: said(state, task.id, answer, dealt.addressed),
      notes: [...answer.notes, ...checked.notes, ...dealt.notes, ...uncovered],
    },
    ...skips,
    ...proposal(
      state,
      task.id,
      into.flatMap(({ id }) => (skipped.has(id) ? [] : [id])),
      rules.policy,
    ),
    ...lastAnswer(state, task, limits),
  ];
}

/** What is asked about concerns is told with the reasons, and counts as asked. */
function refused(
  state: RunState,
  task: Task,
  wrong: readonly string[],
  { questions, sentBack }: CheckedAddressed,
  rules: Rules,
): readonly Fact[] {
  const reasons = [...wrong, ...questions];
  const why = failure("plan-invalid", reasons.join("; "), "answer again with these points mended");
  return planFailed(state, task, { failure: why, reasons, sentBack, free: false }, rules);
}

/** Asked at once, and held against nobody: it happens once for each concern. */
function sendBack(task: Task, { questions, sentBack }: CheckedAddressed, { at }: Rules): readonly Fact[] {
  const why = failure("plan-invalid", questions.join("; "), "answer again, and say it");
  const charge = "nothing";
  return [
    { type: "plan.rejected", task: task.id, failure: why, reasons: questions, retryAt: at, charge, sentBack },
  ];
}

/** Only what the root's planner wants: what its subplanners make of it stays within. */
function proposal(
  state: RunState,
  planner: TaskId,
  tasks: readonly TaskId[],
  { approval }: Policy,
): readonly Fact[] {
  const isAsked = approval === "every" || (approval === "first" && !state.approved);
  return isAsked && planner === ROOT && tasks.length > 0 ? [{ type: "plan.proposed", tasks }] : [];
}

/** The i-th task of an answer is the i-th new child: `checkPlan` has resolved `after` by the same numbers. */
function newTasks(
  parent: TaskId,
  firstOrdinal: number,
  specs: readonly PlannedSpec[],
  policy: Policy,
): readonly NewTask[] {
  const ids = specs.map((_, i) => childId(parent, firstOrdinal + i));
  const ranks = ranksOf(ids, specs, policy.order);
  return specs.map(({ size, ...spec }, i) => {
    const id = ids[i]!;
    const shape = shapeOf({ ...spec, ...(size && { size }) }, policy, depth(id));
    return { id, spec: { ...spec, shape }, rank: ranks[i]! };
  });
}

/** No tasks: atomic in the first answer; later done, once nothing is active and everything was heard. */
function nothingMore(state: RunState, task: Task, answer: PlanAnswer, rules: Rules): readonly Fact[] {
  if (task.tries.answers === 0)
    return [{ type: "plan.kept-whole", task: task.id }, ...proposal(state, task.id, [ROOT], rules.policy)];
  const planner = state.planners.get(task.id)!;
  const dealt = checkAddressed(state, planner, answer.addressed, new Map());
  if (dealt.reasons.length > 0) return refused(state, task, dealt.reasons, dealt, rules);
  if (dealt.sentBack.length > 0) return sendBack(task, dealt, rules);
  const heard = said(state, task.id, answer, dealt.addressed);
  const notes = [...answer.notes, ...dealt.notes];
  const unheard =
    planner.news.length > heard.heard || (task.id === ROOT && state.steers.length > heard.steers);
  if (planner.active.size === 0 && !unheard && answer.done === false) {
    const why = failure("plan-invalid", "there are no tasks and nothing is active, but done is false");
    return planFailed(
      state,
      task,
      { failure: why, reasons: ["give tasks, or say that it is done"], free: false },
      rules,
    );
  }
  if (planner.active.size === 0 && !unheard)
    return [{ type: "plan.ended", task: task.id, over: "finished", said: heard }];
  const limits = limitsOf(task.id, rules.policy);
  const { replanAfter } = limits;
  return [
    { type: "plan.accepted", task: task.id, into: [], replanAfter, said: heard, notes },
    ...lastAnswer(state, task, limits),
  ];
}

function said(state: RunState, id: TaskId, answer: PlanAnswer, addressed: readonly Addressed[]): PlanSaid {
  const { told } = state.planners.get(id)!;
  const deferred = answer.deferred.length > 0 ? { deferred: answer.deferred } : {};
  return { scratchpad: answer.scratchpad, addressed, heard: told.news, steers: told.steers, ...deferred };
}

/** A task below one that did not land is skipped at once, and so is what waits for it. */
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
  // A map may grow while it is walked: what is doomed by the doomed is reached in the same pass.
  for (const id of because.keys()) {
    for (const dependent of dependents.get(id) ?? []) if (!because.has(dependent)) because.set(dependent, id);
  }
  return [...because].map(([task, dependency]) => ({ type: "task.skipped", task, because: dependency }));
}

/** After its last allowed answer a planner is not asked again; what it started is finished. */
function lastAnswer(state: RunState, task: Task, limits: PlannerPolicy): readonly Fact[] {
  if (task.tries.answers + 1 < limits.maxAnswers) return [];
  const over = failure(
    "planner-gave-up",
    `the planner of ${nameOf(state, task.id)} was not done after ${limits.maxAnswers} answers`,
    "split the goal, or raise maxAnswers",
  );
  return [{ type: "plan.ended", task: task.id, over }];
}

/** Asked again with the reasons, later if nobody could be reached; given up after too many times in a row. */
function planFailed(
  state: RunState,
  task: Task,
  why: {
    readonly failure: Failure;
    readonly reasons: readonly string[];
    readonly sentBack?: readonly string[];
    readonly free: boolean;
    readonly notBefore?: number;
  },
  { at, policy }: Rules,
): readonly Fact[] {
  const { failure: because, reasons } = why;
  const outage = because.kind === "agent-unreachable" || isAccounts(because);
  const times = outage ? task.tries.unreachable + 1 : task.tries.planErrors + 1;
  const max = outage ? policy.retry.maxUnreachable : limitsOf(task.id, policy).maxErrorsInARow;
  if (!why.free && times >= max) return giveUp(state, task, because, times);
  const charge = why.free ? "nothing" : outage ? "unreachable" : "error";
  const wait = why.free ? 0 : waitMs(policy.retry, because, times, task.id);
  const retryAt = Math.max(at + wait, why.notBefore ?? at);
  const asked = why.sentBack && why.sentBack.length > 0 ? { sentBack: why.sentBack } : {};
  return [{ type: "plan.rejected", task: task.id, failure: because, reasons, retryAt, charge, ...asked }];
}

function giveUp(state: RunState, task: Task, last: Failure, errors: number): readonly Fact[] {
  const over = failure(
    "planner-gave-up",
    `the planner of ${nameOf(state, task.id)} failed ${errors} times in a row, last: ${last.message}`,
    (isLoss(last) || last.next === DID_YOU_MEAN ? last.next : undefined) ??
      "see whether its agent works, then start again",
  );
  return task.state.is === "delegated"
    ? [{ type: "plan.ended", task: task.id, over }]
    : failTask(state, task.id, over);
}

const limitsOf = (id: TaskId, policy: Policy) => (id === ROOT ? policy.root : policy.subplanner);

function childScopes(state: RunState, parent: TaskId): readonly string[] {
  const children = state.planners.get(parent)?.children ?? 0;
  return Array.from({ length: children }, (_, i) => taskOf(state, childId(parent, i + 1)).spec.scope).flat();
}
