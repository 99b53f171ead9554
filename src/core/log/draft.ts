/** Types through which `evolve` may change a run's state; all other code sees the state as readonly. */

import type { Task, TaskId, Tries } from "../task.ts";
import type { Reactions } from "./event.ts";
import { LANE, type Planner, type RunState, type Waiter } from "./state.ts";

/** What each type of event changes. */
export type Evolvers = Reactions<StateDraft>;

/** Fields can be set, maps and sets can be changed; lists are replaced. */
export type Writable<T> = {
  -readonly [K in keyof T]: T[K] extends ReadonlyMap<infer Key, infer Value>
    ? Map<Key, Value>
    : T[K] extends ReadonlySet<infer Value>
      ? Set<Value>
      : T[K];
};

export type TaskDraft = Writable<Omit<Task, "tries">> & { readonly tries: Writable<Tries> };

export type PlannerDraft = Writable<Omit<Planner, "news">> & { readonly news: TaskId[] };

type Parts = {
  readonly tasks: Map<TaskId, TaskDraft>;
  readonly planners: Map<TaskId, PlannerDraft>;
  readonly waiting: Map<TaskId, Waiter[]>;
  readonly count: Writable<RunState["count"]>;
  readonly turns: Writable<RunState["turns"]>;
  readonly target: Writable<RunState["target"]>;
  readonly setup: Writable<RunState["setup"]>;
  readonly repair: Writable<RunState["repair"]>;
  readonly spent: Writable<RunState["spent"]>;
};

export type StateDraft = Writable<Omit<RunState, keyof Parts>> & Parts;

export function taskIn(s: StateDraft, id: TaskId): TaskDraft {
  const task = s.tasks.get(id);
  if (!task) throw new Error(`there is no task ${id}`);
  return task;
}

/** The task can go on: it becomes ready for its next kind of job. */
export function release(s: StateDraft, { id, state, spec }: TaskDraft): void {
  const isPlanned = state.is === "delegated" || spec.shape === "plan";
  s.dag.release(id, { lane: state.is === "landing" ? LANE.land : isPlanned ? LANE.plan : LANE.work });
}
