/** Makes the timeline of a simulated run from its events, with times since the run was opened. */
import type { Event, NewTask, RunEnd } from "../core/log/event.ts";
import { parentId, ROOT, type TaskId, type TaskSpec } from "../core/task.ts";
import { NOTHING_USED, type Used, withSpent } from "../core/used.ts";
import type { JobSpan } from "../core/view/job-spans.ts";
import { emptyStory, type FileWait, tell } from "../core/view/story.ts";

export type Timeline = {
  readonly end: RunEnd | "open";
  readonly left: readonly string[];
  readonly makespanMs: number;
  /** In the order of their creation. */
  readonly tasks: readonly TimedTask[];
  /** Names in the order in which the tasks were done. */
  readonly order: readonly string[];
  readonly bars: readonly Bar[];
  readonly landings: readonly { readonly atMs: number; readonly tasks: readonly string[] }[];
  /** Which tasks waited for which other task's files. */
  readonly fileWaits: readonly FileWait[];
  readonly gateRuns: number;
  /** Refused attempts: because of a merge conflict, because of a red gate. */
  readonly conflicts: number;
  readonly reds: number;
  readonly failed: number;
  readonly used: Used;
};

export type TimedTask = {
  readonly id: TaskId;
  /** Made of its planners' keys: "calendar/grid". */
  readonly name: string;
  readonly spec: TaskSpec;
  /** The start of the first attempt and the end of the last; undefined if there was none. */
  readonly startMs?: number;
  readonly endMs?: number;
  /** When it was done, that is, landed. */
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
  /** The attempt failed, so its result was not used. */
  readonly isLost: boolean;
};

export function timelineOf(events: readonly Event[]): Timeline {
  const openedAt = events[0]?.at ?? 0;
  const { spans, landings, fileWaits, tally } = events.reduce(tell, emptyStory());
  const facts = factsIn(events);
  const nameOf = (task: TaskId) => facts.names.of(task);
  const work = spans.all.filter(({ kind }) => kind === "work");
  const byTask = Map.groupBy(work, ({ tasks }) => tasks[0]!);
  const tasks = [...facts.specs].map(([id, spec]): TimedTask => {
    const own = byTask.get(id) ?? [];
    const ended = own.filter((span) => endOf(span) !== undefined);
    const doneAt = facts.doneAt.get(id);
    return {
      ...{ id, name: nameOf(id), spec, attempts: own.length },
      workMs: ended.reduce((sum, span) => sum + endOf(span)! - span.from, 0),
      ...(own[0] && { startMs: own[0].from - openedAt }),
      ...(ended.length > 0 && { endMs: endOf(ended.at(-1)!)! - openedAt }),
      ...(doneAt !== undefined && { doneMs: doneAt - openedAt }),
    };
  });
  return {
    ...{ end: facts.end, left: facts.left, makespanMs: (events.at(-1)?.at ?? 0) - openedAt, tasks },
    order: [...facts.doneAt.keys()].map(nameOf),
    bars: inLanes(work).flatMap(({ span, lane }) => {
      const { tasks: of, number, from, isFailed = false } = span;
      const bar = { task: nameOf(of[0]!), attempt: number, lane, isLost: isFailed };
      const to = endOf(span);
      return to === undefined ? [] : [{ ...bar, fromMs: from - openedAt, toMs: to - openedAt }];
    }),
    landings: landings.map(({ at, members }) => ({
      atMs: at - openedAt,
      tasks: members.map(({ task }) => nameOf(task)),
    })),
    ...{ fileWaits, gateRuns: tally.gate.runs, ...failuresIn(work), used: facts.used },
  };
}

/** A job may answer after its time limit, and its result still counts. */
const endOf = ({ to, lateAt }: JobSpan): number | undefined => lateAt ?? to;

/** Puts each job into the first lane that is free when it starts. */
function inLanes(spans: readonly JobSpan[]): readonly { readonly span: JobSpan; readonly lane: number }[] {
  const ends: number[] = [];
  return spans.map((span) => {
    const free = ends.findIndex((end) => end <= span.from);
    const lane = free === -1 ? ends.length : free;
    ends[lane] = endOf(span) ?? Number.POSITIVE_INFINITY;
    return { span, lane };
  });
}

/** Collects facts that the run's story view does not keep. */
function factsIn(events: readonly Event[]) {
  const names = new TaskNames();
  const specs = new Map<TaskId, TaskSpec>();
  const doneAt = new Map<TaskId, number>();
  let used: Used = NOTHING_USED;
  let [end, left]: [RunEnd | "open", readonly string[]] = ["open", []];
  const made = (into: readonly NewTask[]) => {
    names.add(into);
    for (const { id, spec } of into) specs.set(id, spec);
  };
  const done = (task: TaskId, at: number) => {
    if (!doneAt.has(task)) doneAt.set(task, at);
  };
  for (const event of events) {
    const { type, at } = event;
    if (type === "run.opened") specs.set(ROOT, event.spec);
    else if (type === "plan.accepted" || type === "repair.planned") made(event.into);
    else if (type === "job.ended") {
      if (event.spent) used = withSpent(used, event.spent);
    } else if (type === "batch.landed") for (const { task } of event.members) done(task, at);
    else if (type === "task.done") done(event.task, at);
    else if (type === "run.closed") [end, left] = [event.how, event.left];
  }
  return { names, specs, doneAt, used, end, left };
}

/** Counts failed attempts by what refused them. */
function failuresIn(work: readonly JobSpan[]): Pick<Timeline, "conflicts" | "reds" | "failed"> {
  const failed = work.filter(({ isFailed, how }) => isFailed && how !== "aborted");
  const of = (kind: JobSpan["failure"]) => failed.filter(({ failure }) => failure === kind).length;
  const [conflicts, reds] = [of("conflict"), of("gate-red")];
  return { conflicts, reds, failed: failed.length - conflicts - reds };
}

/** Full names of tasks made of the planners' keys from the root: "calendar/grid". */
class TaskNames {
  readonly #names = new Map<TaskId, string>([[ROOT, ROOT]]);

  add(into: readonly NewTask[]): void {
    for (const { id, spec } of into) {
      const above = parentId(id) ?? ROOT;
      this.#names.set(id, above === ROOT ? spec.key : `${this.of(above)}/${spec.key}`);
    }
  }

  of(task: TaskId): string {
    return this.#names.get(task) ?? task;
  }
}
