/** When did what happen in a run, real or made up? Its log as times since it was opened. */

import { type JobId, jobId, type Spent, taskOfJob } from "../core/job.ts";
import type { Writable } from "../core/log/draft.ts";
import {
  type Event,
  type EventOf,
  type NewTask,
  type Reactions,
  type RunEnd,
  react,
} from "../core/log/event.ts";
import { ROOT, type TaskId, type TaskSpec } from "../core/task.ts";
import { NOTHING_USED, type Used, withSpent } from "../core/used.ts";
import type { FileWait } from "../core/view/story.ts";
import { count, emptyTally, type Tally } from "../core/view/tally.ts";
import { TaskNames } from "./recording.ts";

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

class Reader {
  readonly #openedAt: number;
  readonly #names = new TaskNames();
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
    react(Reader.#READERS, this, event);
  }

  /** What is not here takes no time and is not waited for. */
  static readonly #READERS: Partial<Reactions<Reader>> = {
    "run.opened": (r, { spec }) => r.#tasks.set(ROOT, { id: ROOT, name: ROOT, spec, attempts: 0, workMs: 0 }),
    "plan.accepted": (r, { into }) => r.#made(into),
    "repair.planned": (r, { into }) => r.#made(into),
    "job.started"(r, { job, at }) {
      if (job.kind === "work") r.#started(jobId(job), job.task, at);
    },
    "job.ended"(r, { job, how, at, spent }) {
      if (how === "answered-late") r.#late(job, at);
      r.#ended(job, at, spent);
    },
    "task.held-back": (r, { task, behind, at }) => r.#heldBack(task, behind, at),
    "task.retried": (r, event) => r.#lost(event),
    "task.failed": (r, event) => r.#lost(event),
    "batch.landed"(r, { members, at }) {
      const tasks = members.map(({ task }) => r.#done(task, at));
      r.#landings.push({ atMs: at - r.#openedAt, tasks });
    },
    "task.done": (r, { task, at }) => r.#done(task, at),
    "run.closed"(r, event) {
      r.#end = event;
    },
  };

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

  #made(into: readonly NewTask[]): void {
    this.#names.add(into);
    for (const { id, spec } of into)
      this.#tasks.set(id, { id, name: this.#names.of(id), spec, attempts: 0, workMs: 0 });
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

  #lost({ task: id, failure }: EventOf<"task.retried" | "task.failed">): void {
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
