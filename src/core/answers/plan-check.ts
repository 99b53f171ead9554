/** Does a planner's answer fit what is already known: its scope, its earlier tasks? */
import { OrderedDag } from "../../graph/dag.ts";
import { Lines } from "../../text/lines.ts";
import { freshSlugs, slugOf } from "../../text/slug.ts";
import { ScopeTable } from "../log/scope-table.ts";
import { containing, EVERYTHING, type Scope } from "../scope.ts";
import { childId, type TaskId, type TaskSize, type TaskSpec } from "../task.ts";
import type { AnsweredTask, Deferral, PlanAnswer } from "./plan-answer.ts";

type PlanContext = {
  readonly parent: { readonly id: TaskId; readonly scope: Scope; readonly priority: number };
  /** A subplanner: tasks of one answer may not overlap. The root planner's may, and run one after the other. */
  readonly strict: boolean;
  /** The next child's number: its id is `childId(parent.id, firstOrdinal)`. */
  readonly firstOrdinal: number;
  /** This planner's earlier tasks by the ids that it gave them, and what they covered. */
  readonly known: ReadonlyMap<string, TaskId>;
  readonly coveredBefore: Scope;
  readonly maxTasks: number;
  /** Files that any task may touch, so that none needs them in its scope. */
  readonly sharedFiles: Scope;
};

/** `size` decides about its shape, and is not kept. */
export type PlannedSpec = Omit<TaskSpec, "shape"> & { readonly size?: TaskSize };

type CheckedPlan =
  | {
      readonly is: "accepted";
      /** In the order of their ids, `childId(parent.id, firstOrdinal)` and on. */
      readonly tasks: readonly PlannedSpec[];
      /** Paths of a subplanner's scope that no task, earlier task or deferral names. */
      readonly uncovered: readonly string[];
      /** What was mended here, in words for the planner; what was mended while reading is in the answer. */
      readonly notes: readonly string[];
    }
  | { readonly is: "refused"; readonly reasons: readonly string[] };

/**
 * Paths outside of the planner's scope are removed, tasks that this empties are dropped, and both are said.
 * Everything else that does not fit refuses the answer as a whole, with all reasons, so that it can be sent again.
 */
export function checkPlan(answer: PlanAnswer, context: PlanContext): CheckedPlan {
  const count = answer.tasks.length;
  if (count > context.maxTasks) {
    return refused(`there are ${count} tasks in one answer; at most ${context.maxTasks} are allowed`);
  }
  const notes = new Lines();
  const tasks = withNewIds(answer.tasks, context, notes);
  const { kept, dropped } = fitScopes(tasks, context, notes);
  const isEmptied = tasks.length > 0 && kept.length === 0;
  const reasons = new Lines();
  if (isEmptied) reasons.add("no task is left: none has files inside this task's scope");
  checkIds(tasks, context, reasons);
  checkOrder(kept, dropped, context, reasons);
  checkOverlap(kept, context, { reasons, notes });
  if (!reasons.isEmpty) return refused(...reasons.all(), ...(isEmptied ? notes.all() : []));
  return {
    is: "accepted",
    tasks: specsOf(kept, context),
    uncovered: uncoveredBy(kept, answer.deferred, context),
    notes: notes.all(),
  };
}

const refused = (...reasons: string[]): CheckedPlan => ({ is: "refused", reasons });

/** An id that was made from a description must be new, too. */
function withNewIds(tasks: readonly AnsweredTask[], { known }: PlanContext, notes: Lines) {
  const ids = new Set(tasks.map(({ id }) => id));
  const fresh = freshSlugs({ has: (id) => known.has(id) || ids.has(id) });
  return tasks.map((task) => {
    if (!task.isIdMade || !known.has(task.id)) return task;
    const id = fresh(task.description);
    notes.add(`task "${task.id}" is called "${id}": the other name was given in an earlier answer`);
    return { ...task, id };
  });
}

/** A task, its scope as it will be, and the part of it that must be its own. */
type Fitted = { readonly task: AnsweredTask; readonly scope: Scope; readonly own: Scope };

/** Shared files belong to no task; they stay only in a scope that has nothing else. */
function fitScopes(tasks: readonly AnsweredTask[], context: PlanContext, notes: Lines) {
  const isInside = containing(context.parent.scope);
  const isShared = containing(context.sharedFiles);
  const kept: Fitted[] = [];
  const dropped = new Set<string>();
  for (const task of tasks) {
    const inside = task.scope.filter(isInside);
    const own = inside.filter((path) => !isShared(path));
    const scope = own.length > 0 ? own : inside;
    const outside = task.scope.filter((path) => !isInside(path) && !isShared(path));
    const isDropped = scope.length === 0 && task.delivers === "change";
    if (isDropped)
      notes.add(`task "${task.id}" was dropped: nothing of its scope is inside this task's scope`);
    else if (outside.length > 0)
      notes.add(`task "${task.id}": ${listed(outside)} removed, outside of this plan's scope`);
    if (isDropped) dropped.add(task.id);
    else kept.push({ task, scope, own });
  }
  return { kept, dropped };
}

/** The planner's ids are its own, for as long as it plans: an old one would name two tasks. */
function checkIds(tasks: readonly AnsweredTask[], { known }: PlanContext, reasons: Lines): void {
  const seen = new Set<string>();
  for (const { id } of tasks) {
    if (known.has(id))
      reasons.add(`task "${id}" was already given in an earlier answer; a new task needs a new id`);
    if (seen.has(id)) reasons.add(`two tasks have the id "${id}"; give each its own`);
    seen.add(id);
  }
}

function checkOrder(
  kept: readonly Fitted[],
  dropped: ReadonlySet<string>,
  { known }: PlanContext,
  reasons: Lines,
): void {
  const siblings = new Set(kept.map(({ task }) => task.id));
  const dag = new OrderedDag();
  for (const { task } of kept) {
    if (task.after.includes(task.id)) reasons.add(`task "${task.id}" waits for itself`);
    for (const id of task.after) {
      if (siblings.has(id) || known.has(id)) continue;
      const why = dropped.has(id)
        ? "was dropped, because its scope is outside of this plan's"
        : "does not exist";
      reasons.add(`task "${task.id}" waits for "${id}", which ${why}`);
    }
    const after = task.after.filter((id) => siblings.has(id) && id !== task.id);
    if (!dag.has(task.id)) dag.add(task.id, { after });
  }
  const cycle = dag.cycle();
  if (cycle) reasons.add(`tasks wait for each other: ${listed(cycle, " → ")} → "${cycle[0]}"`);
}

function checkOverlap(
  kept: readonly Fitted[],
  { strict }: PlanContext,
  say: { readonly reasons: Lines; readonly notes: Lines },
): void {
  const table = new ScopeTable();
  for (const [order, { task, own }] of kept.entries()) {
    if (task.delivers === "report" || task.terms?.loose) continue; // It is in nobody's way, as far as is known.
    const after = new Set(task.after); // Asked once a path: with 10,000 of each, a list is too slow.
    for (const path of own) {
      const other = table.blocker([path], order);
      if (other === undefined) continue;
      const both = `tasks "${other}" and "${task.id}" both have ${path} in their scope`;
      if (strict) say.reasons.add(`${both}; give it to one of them`);
      else if (!after.has(other)) say.notes.add(`${both}; one will wait for the other`);
    }
    table.claim(task.id, own, order);
  }
}

function specsOf(kept: readonly Fitted[], { parent, firstOrdinal, known }: PlanContext) {
  const ids = new Map(kept.map(({ task }, index) => [task.id, childId(parent.id, firstOrdinal + index)]));
  return kept.map(({ task, scope }): PlannedSpec => {
    const { id, after, branch, description, acceptance, delivers, agent, needs, size, terms } = task;
    return {
      key: id,
      description,
      acceptance,
      scope,
      after: after.map((key) => ids.get(key) ?? known.get(key)!),
      priority: task.priority ?? parent.priority,
      delivers,
      slug: branch ?? slugOf(description),
      ...(agent !== undefined && { agent }),
      ...(needs !== undefined && { needs }),
      ...(size !== undefined && { size }),
      ...(terms !== undefined && { terms }),
    };
  });
}

/**
 * Nobody knows here which files a folder holds, so one counts as covered when anything in it is. The first
 * answer without tasks leaves nothing out: the task then goes to a worker whole.
 */
function uncoveredBy(
  kept: readonly Fitted[],
  deferred: readonly Deferral[],
  { parent, coveredBefore, sharedFiles, strict }: PlanContext,
): readonly string[] {
  if (!strict || parent.scope.includes(EVERYTHING)) return [];
  if (kept.length === 0 && coveredBefore.length === 0) return [];
  const scopes = [coveredBefore, ...kept.map(({ scope }) => scope), ...deferred.map(({ files }) => files)];
  const named = new ScopeTable();
  named.hold("named", scopes.flat(), 0);
  const isShared = containing(sharedFiles);
  return parent.scope.filter((path) => !isShared(path) && named.blocker([path], 0) === undefined);
}

const MAX_LISTED = 8;

function listed(words: readonly string[], between = ", "): string {
  const few = words.slice(0, MAX_LISTED).map((word) => `"${word}"`);
  return (words.length > MAX_LISTED ? [...few, `${words.length - MAX_LISTED} more`] : few).join(between);
}
