/** When did what happen in a run, real or made up? Its log as times since it was opened. */

import { type JobId, jobId, type Spent, taskOfJob } from "../core/job.ts";
import type { Event, NewTask, RunEnd } from "../core/log/event.ts";
import { parentId, ROOT, type TaskId, type TaskSpec } from "../core/task.ts";
import { NOTHING_USED, type Used, withSpent } from "../core/used.ts";
import type { FileWait } from "../core/view/story.ts";
import { count, emptyTally, type Tally } from "../core/view/tally.ts";

export type Timeline = {
  readonly end: RunEnd | "open";
  readonly left: readonly string[];
  readonly makespanMs: number;
  /** In the order in which they were made. */
  readonly tasks: readonly TimedTask[];
  /** Names, in the order in which they were done. */
  readonly order: readonly string[];
  readonly bars: readonly Bar[];
  readonly landings: readonly { readonly atMs: number; readonly tasks: readonly string[] }[];
  /** Who waited for whose files. */
  readonly fileWaits: readonly FileWait[];
  readonly gateRuns: number;
  /** Attempts that were refused: for a conflict, for a red gate. */
  readonly conflicts: number;
  readonly reds: number;
  readonly failed: number;
  readonly used: Used;
};

export type TimedTask = {
  readonly id: TaskId;
  /** By the keys of its planners: "calendar/grid". */
  readonly name: string;
  readonly spec: TaskSpec;
  /** Of its first attempt, and the end of its last one; undefined where there was none. */
  readonly startMs?: number;
  readonly endMs?: number;
  /** When it was done, that is landed. */
  readonly doneMs?: number;
  readonly attempts: number;
  readonly workMs: number;
};

/** One attempt, in the lane of its worker. */
type Bar = {
  readonly task: string;
  readonly attempt: number;
  readonly lane: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** Nothing came of it. */
  readonly isLost: boolean;
};

export function timelineOf(events: readonly Event[]): Timeline {
  const reader = new Reader(events[0]?.at ?? 0);
  for (const event of events) reader.take(event);
  return reader.timeline(events.at(-1)?.at ?? 0);
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

class Reader {
  readonly #openedAt: number;
  readonly #tasks = new Map<TaskId, Writable<TimedTask>>();
  readonly #since = new Map<JobId, { readonly at: number; readonly lane: number }>();
  readonly #lanes: (JobId | undefined)[] = [];
  readonly #bars: Writable<Bar>[] = [];
  readonly #barOf = new Map<JobId, Writable<Bar>>();
  readonly #order: string[] = [];
  readonly #landings: { readonly atMs: number; readonly tasks: readonly string[] }[] = [];
  readonly #parked = new Map<TaskId, { readonly behind: TaskId; readonly at: number }>();
  readonly #waits: FileWait[] = [];
  readonly #tally: Tally = emptyTally();
  readonly #counts = { conflicts: 0, reds: 0, failed: 0 };
  #used: Used = NOTHING_USED;
  #end: { readonly how: RunEnd; readonly left: readonly string[] } | undefined;

  constructor(openedAt: number) {
    this.#openedAt = openedAt;
  }

  take(event: Event): void {
    count(this.#tally, event);
    switch (event.type) {
      case "plan.accepted":
      case "repair.planned":
        for (const task of event.into) this.#made(task);
        break;
      case "run.opened":
        this.#tasks.set(ROOT, { id: ROOT, name: ROOT, spec: event.spec, attempts: 0, workMs: 0 });
        break;
      case "job.started":
        if (event.job.kind === "work") this.#started(jobId(event.job), event.job.task, event.at);
        break;
      case "job.ended":
        if (event.how === "answered-late") this.#late(event.job, event.at);
        this.#ended(event.job, event.at, event.spent);
        break;
      case "task.held-back":
        this.#heldBack(event.task, event.behind, event.at);
        break;
      case "task.retried":
      case "task.failed":
        this.#lost(event);
        break;
      case "batch.landed": {
        const tasks = event.members.map(({ task }) => this.#done(task, event.at));
        this.#landings.push({ atMs: event.at - this.#openedAt, tasks });
        break;
      }
      case "task.done":
        this.#done(event.task, event.at);
        break;
      case "run.closed":
        this.#end = event;
        break;
      default: // Neither takes time nor is waited for.
    }
  }

  timeline(lastAt: number): Timeline {
    const { how = "open", left = [] } = this.#end ?? {};
    return {
      end: how,
      left,
      makespanMs: lastAt - this.#openedAt,
      tasks: [...this.#tasks.values()],
      order: this.#order,
      bars: this.#bars,
      landings: this.#landings,
      fileWaits: this.#waits,
      gateRuns: this.#tally.gate.runs,
      ...this.#counts,
      used: this.#used,
    };
  }

  #made({ id, spec }: NewTask): void {
    const above = parentId(id);
    const prefix = above === undefined || above === ROOT ? "" : `${this.#tasks.get(above)?.name ?? above}/`;
    this.#tasks.set(id, { id, name: `${prefix}${spec.key}`, spec, attempts: 0, workMs: 0 });
  }

  #started(id: JobId, of: TaskId, at: number): void {
    const free = this.#lanes.indexOf(undefined);
    const lane = free === -1 ? this.#lanes.length : free;
    this.#lanes[lane] = id;
    this.#since.set(id, { at, lane });
    const task = this.#tasks.get(of);
    if (!task) return;
    task.startMs ??= at - this.#openedAt;
    task.attempts += 1;
    const parked = this.#parked.get(of);
    if (!parked) return;
    this.#parked.delete(of);
    this.#waits.push({ task: of, behind: parked.behind, ms: at - parked.at });
  }

  #ended(id: JobId, at: number, spent: Spent | undefined): void {
    if (spent) this.#used = withSpent(this.#used, spent);
    const started = this.#since.get(id);
    const task = this.#tasks.get(taskOfJob(id) ?? ROOT);
    if (!started || !task) return;
    this.#since.delete(id);
    this.#lanes[started.lane] = undefined;
    task.endMs = at - this.#openedAt;
    task.workMs += at - started.at;
    const bar = {
      task: task.name,
      attempt: task.attempts,
      lane: started.lane,
      fromMs: started.at - this.#openedAt,
      toMs: at - this.#openedAt,
      isLost: false,
    };
    this.#bars.push(bar);
    this.#barOf.set(id, bar);
  }

  /** Its time was up, but it had gone on, and what it made counts. */
  #late(id: JobId, at: number): void {
    const bar = this.#barOf.get(id);
    const task = this.#tasks.get(taskOfJob(id) ?? ROOT);
    if (!bar || !task) return;
    task.workMs += at - this.#openedAt - bar.toMs;
    bar.toMs = at - this.#openedAt;
    bar.isLost = false;
    task.endMs = bar.toMs;
  }

  /** The wait goes on if it is held back again, behind another. */
  #heldBack(task: TaskId, behind: TaskId, at: number): void {
    const before = this.#parked.get(task);
    if (before) this.#waits.push({ task, behind: before.behind, ms: at - before.at });
    this.#parked.set(task, { behind, at });
  }

  #lost({ task: id, failure }: Event & { readonly type: "task.retried" | "task.failed" }): void {
    const task = this.#tasks.get(id);
    if (!task || task.attempts === 0) return; // Its parts failed, or it was never begun.
    const bar = this.#bars.findLast((one) => one.task === task.name && !one.isLost);
    if (bar) bar.isLost = true;
    if (failure.kind === "conflict") this.#counts.conflicts += 1;
    else if (failure.kind === "gate-red") this.#counts.reds += 1;
    else this.#counts.failed += 1;
  }

  #done(id: TaskId, at: number): string {
    const task = this.#tasks.get(id);
    const name = task?.name ?? id;
    if (task && task.doneMs === undefined) {
      task.doneMs = at - this.#openedAt;
      this.#order.push(name);
    }
    return name;
  }
}
