/** Checks that every task that was not done is replaced, or reported at the end, with bookkeeping of its own. */
import type { Event, EventOf } from "../../src/core/log/event.ts";
import { type Concern, isDeclined, type RunState, taskOf } from "../../src/core/log/state.ts";
import { NO_REASON } from "../../src/core/rules/given-up.ts";
import { isRepair, parentId, ROOT, type Task, type TaskId } from "../../src/core/task.ts";
import { must } from "./violation.ts";

/**
 * Before a planner is finished it has said of each task that was not done what replaces it, or why nothing does; it is
 * asked for that once at most. No run is done before every such task is replaced by one that is done.
 */
export class GivenUpInvariants {
  /** The tasks that replace a task, as planners said. */
  readonly #places = new Map<TaskId, TaskId[]>();
  readonly #sentBack = new Set<string>();
  /** The concerns that the root's planner has addressed. */
  readonly #dealt: { readonly concern: Concern; readonly by?: TaskId; readonly because?: string }[] = [];

  /** `state` is the state before the event. */
  before(event: Event, state: RunState): void {
    if (event.type === "plan.rejected") this.#asked(event);
    if (event.type === "plan.accepted" || event.type === "plan.ended") this.#said(event, state);
    if (event.type === "run.closed" && event.how !== "cancelled") this.#closing(event, state);
  }

  #asked({ sentBack = [] }: EventOf<"plan.rejected">): void {
    for (const id of sentBack) {
      must(!this.#sentBack.has(id), `what became of ${id} was asked twice`);
      this.#sentBack.add(id);
    }
  }

  #said(event: EventOf<"plan.accepted" | "plan.ended">, state: RunState): void {
    const made = new Set(event.type === "plan.accepted" ? event.into.map(({ id }) => id) : []);
    for (const { concern: id, by, because } of event.said?.addressed ?? []) {
      const concern = state.planners.get(event.task)?.concerns.get(id);
      must(concern !== undefined, `${id} is addressed and not open`);
      if (concern!.kind === "said") continue;
      must((by ?? because ?? "") !== "", `${id} was closed with neither a task nor a reason`);
      must(because !== NO_REASON || this.#sentBack.has(id), `nobody was asked for a reason for ${id}`);
      if (by !== undefined) this.#takesPlace(concern!.from, by, { state, made });
      if (event.task === ROOT)
        this.#dealt.push({ concern: concern!, ...(by && { by }), ...(because !== undefined && { because }) });
    }
  }

  #takesPlace(
    from: TaskId,
    by: TaskId,
    { state, made }: { readonly state: RunState; readonly made: ReadonlySet<TaskId> },
  ): void {
    must(by !== from && !from.startsWith(`${by}.`), `${by} took its own place`);
    if (!made.has(by)) {
      const { is } = taskOf(state, by).state;
      must(is !== "failed" && is !== "skipped" && is !== "cancelled", `${by} took a place and is ${is}`);
    }
    this.#places.set(from, [...(this.#places.get(from) ?? []), by]);
  }

  #isReplaced(state: RunState, id: TaskId): boolean {
    const reached = new Set(this.#places.get(id));
    for (const by of reached) {
      if (taskOf(state, by).state.is === "done") return true;
      for (const next of this.#places.get(by) ?? []) reached.add(next);
    }
    return false;
  }

  #closing({ how, left, givenUp = [] }: EventOf<"run.closed">, state: RunState): void {
    if (how === "done") {
      must(givenUp.length === 0, "a run that is done gave nothing up");
      for (const task of state.tasks.values())
        must(this.#isMadeGood(state, task), `the run is done, ${task.id} is not, and nothing took its place`);
    }
    for (const { concern, by } of this.#dealt) {
      const { from, text } = concern;
      if (by !== undefined && (this.#isReplaced(state, from) || !isOver(taskOf(state, by)))) continue;
      if (text.includes("was taken back") && ![...state.lost.values()].flat().includes(from)) continue;
      must(
        left.some((one) => one.includes(text)),
        `${from} was given up, and nothing left says so: ${left.join("; ")}`,
      );
      must(
        givenUp.some(({ task }) => task === from),
        `${from} was given up, and is not among what was`,
      );
    }
  }

  /**
   * Whether the task needs no replacement, or it or a task above it was cancelled or replaced by a task that is done.
   */
  #isMadeGood(state: RunState, task: Task): boolean {
    const { is } = task.state;
    if ((is !== "failed" && is !== "skipped") || isRepair(task) || isDeclined(state, task)) return true;
    // The parent of a subtask was told how it ended, and has done its own task all the same.
    if (task.spec.spawn) return true;
    for (let id: TaskId | undefined = task.id; id !== undefined; id = parentId(id)) {
      if (this.#isReplaced(state, id) || taskOf(state, id).state.is === "cancelled") return true;
    }
    return false;
  }
}

const isOver = ({ state }: Task): boolean =>
  state.is === "failed" || state.is === "skipped" || state.is === "cancelled";
