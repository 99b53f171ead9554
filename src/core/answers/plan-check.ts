/** Checks a planner's answer against what is known: the planner's scope and its earlier tasks. */
import { OrderedDag } from "../../graph/dag.ts";
import { Lines } from "../../text/lines.ts";
import { freshSlugs, slugOf } from "../../text/slug.ts";
import { ScopeTable } from "../log/scope-table.ts";
import { containing, EVERYTHING, type Scope } from "../scope.ts";
import { childId, type TaskId, type TaskSize, type TaskSpec } from "../task.ts";
import type { AnsweredTask, Deferral, PlanAnswer } from "./plan-answer.ts";

type PlanContext = {
  readonly parent: { readonly id: TaskId; readonly scope: Scope; readonly priority: number };
  /**
   * True for a subplanner: tasks of one answer may not overlap. The root planner's tasks may, and then run one after
   * the other.
   */
  readonly strict: boolean;
  /** The next child's number: its id is `childId(parent.id, firstOrdinal)`. */
  readonly firstOrdinal: number;
  /** This planner's earlier tasks by the ids that it gave them, and the paths that they covered. */
  readonly known: ReadonlyMap<string, TaskId>;
  readonly coveredBefore: Scope;
  readonly maxTasks: number;
  /** Files that any task may change, so that no task needs them in its scope. */
  readonly sharedFiles: Scope;
};

/** `size` decides the task's shape, and is not kept. */
export type PlannedSpec = Omit<TaskSpec, "shape"> & { readonly size?: TaskSize };

type CheckedPlan =
  | {
      readonly is: "accepted";
      /** In the order of their ids, `childId(parent.id, firstOrdinal)` and on. */
      readonly tasks: readonly PlannedSpec[];
      /** Paths of a subplanner's scope that no task, earlier task or deferral names. */
      readonly uncovered: readonly string[];
      /**
       * What was corrected by this check, in words for the planner. Corrections made while reading are in the answer.
       */
      readonly notes: readonly string[];
    }
  | { readonly is: "refused"; readonly reasons: readonly string[] };

/**
 * Removes paths outside of the planner's scope and drops tasks that have no path left; both are noted. Any other
 * mismatch refuses the whole answer with all reasons, so that the planner can send it again.
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

/** An id made from a description must differ from earlier ids. */
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

/** A task, its scope after the check, and the part of that scope that no other task may have. */
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

/** A planner's ids stay taken for as long as it plans: an id used again would name two tasks. */
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
    if (task.delivers === "report" || task.terms?.loose) continue; // It needs no files, or its files are unknown.
    const after = new Set(task.after); // A set: with 10,000 paths and tasks a list is too slow.
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
 * The files inside a folder are not known here, so a folder counts as covered if a task names anything in it. A first
 * answer without tasks leaves nothing uncovered, because the whole task then goes to one worker.
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
