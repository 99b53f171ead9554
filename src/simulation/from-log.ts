/** Reads from a run's log what a replay needs: answers, attempts and how they ended, durations, what people said. */

import type { PlanAnswer } from "../core/answers/plan-answer.ts";
import { failuresOf } from "../core/gate.ts";
import { type Job, type JobId, jobId, type Member } from "../core/job.ts";
import type { Writable } from "../core/log/draft.ts";
import { type Event, type EventOf, type NewTask, type Reactions, react } from "../core/log/event.ts";
import { OPEN, type Phase } from "../core/rules/landing.ts";
import type { Problem, ProblemClass } from "../core/rules/repair.ts";
import type { TaskId } from "../core/task.ts";
import type { Message } from "../engine/inbox.ts";
import { endTimes } from "./end-times.ts";
import { median } from "./learnt.ts";
import {
  type End,
  type GateJob,
  NOTHING_MORE,
  type PlannedTurn,
  type RecordedAttempt,
  type Recording,
  TaskNames,
  type Timed,
} from "./recording.ts";

export function recordingOf(events: readonly Event[]): Recording {
  const reader = new Reader(events);
  for (const event of events) reader.take(event);
  return reader.recording();
}

/** A candidate by its members: "calendar/grid#1 leap#2". */
const membersName = (members: readonly Member[], nameOf: (task: TaskId) => string): string =>
  members
    .map(({ task, attempt }) => `${nameOf(task)}#${attempt}`)
    .sort()
    .join(" ");

type Begun = { readonly job: Job; readonly at: number };

/** What a replay does not do as it was, by the event that tells of it. */
const INEXACT: Partial<Record<Event["type"], string>> = {
  "target.moved":
    "the target branch was moved from outside: it is moved at the same time, not at the same step",
  "landing.lost": "landings were taken back: that is not replayed",
  "setup.failed": "the set-up failed and was repaired: that is not replayed",
  "landing.proposed": "a person was asked about a landing: it is replayed without the question",
  "subtask.spawned": "a worker delegated or asked: it is replayed as if it had done everything itself",
  "question.asked": "a worker delegated or asked: it is replayed as if it had done everything itself",
  "account.parked": "an account was rate limited: the jobs that met it are replayed as they ended",
  "account.refused": "an account was rate limited: the jobs that met it are replayed as they ended",
};

class Reader {
  readonly #openedAt: number;
  readonly #endTimes: ReadonlyMap<JobId, number>;
  readonly #names = new TaskNames();
  readonly #keys = new Map<TaskId, string>();
  readonly #begun = new Map<JobId, Begun>();
  readonly #plans = new Map<string, Writable<PlannedTurn>[]>();
  readonly #attempts = new Map<string, Writable<RecordedAttempt>[]>();
  readonly #gate = { land: [] as Writable<GateJob>[], check: [] as Writable<GateJob>[] };
  /** The members of each candidate that was red. */
  readonly #reds: (readonly Member[])[] = [];
  #phase: Phase = OPEN;
  readonly #happened: { readonly at: number; readonly what: Problem | "moved" }[] = [];
  readonly #said: Writable<Recording>["said"][number][] = [];
  readonly #approvals: Writable<Recording>["approvals"][number][] = [];
  readonly #inexact = new Set<string>();
  readonly #problems = new Map<string, Problem>();
  #failing: { readonly at: number; readonly names: readonly string[] } = { at: 0, names: [] };
  #broken: readonly string[] | undefined;
  #proposedAt = 0;
  #lastLand: readonly Member[] = [];
  #opened: EventOf<"run.opened">["request"] | undefined;

  constructor(events: readonly Event[]) {
    this.#openedAt = events[0]?.at ?? 0;
    this.#endTimes = endTimes(events);
  }

  recording(): Recording {
    const { goal = "", flaky = [] } = this.#opened ?? {};
    return {
      goal,
      flaky,
      plans: this.#plans,
      attempts: this.#attempts,
      lands: this.#gate.land,
      checks: this.#gate.check.map((check) => this.#withFlakes(check)),
      usualMs: {
        plan: usual([...this.#plans.values()].flat()),
        work: usual([...this.#attempts.values()].flat()),
        land: usual(this.#gate.land),
        check: usual(this.#gate.check),
      },
      broken: (this.#broken ?? []).flatMap((name) => this.#problems.get(name) ?? []),
      flakes: this.#unexplained(),
      happened: this.#happened,
      said: this.#said,
      approvals: this.#approvals,
      inexact: [...this.#inexact],
    };
  }

  take(event: Event): void {
    const inexact = INEXACT[event.type];
    if (inexact !== undefined) this.#inexact.add(inexact);
    react(Reader.#READERS, this, event);
  }

  /** What is not here follows from the rest. */
  static readonly #READERS: Partial<Reactions<Reader>> = {
    "run.opened"(r, { request }) {
      r.#opened = request;
    },
    "job.started": (r, event) => r.#started(event),
    "job.taken"(r, { job, since }) {
      const begun = r.#begun.get(job);
      if (begun) r.#begun.set(job, { ...begun, at: since });
    },
    "job.ended": (r, event) => r.#ended(event),
    "plan.accepted"(r, event) {
      r.#name(event.into);
      r.#answered(event.task, r.#answerOf(event));
    },
    "plan.kept-whole": (r, { task }) => r.#answered(task, NOTHING_MORE),
    "plan.rejected": (r, { task, failure }) => r.#answered(task, r.#shifted(failure)),
    "plan.ended": (r, { task, over }) => r.#answered(task, over === "finished" ? NOTHING_MORE : over),
    "repair.planned"(r, event) {
      r.#name(event.into);
      r.#repairs(event);
    },
    "task.handed-off": (r, { task, attempt, handoff }) =>
      r.#attempt(task, attempt, { files: handoff.filesChanged }),
    "task.done": (r, { task, handoff }) => r.#attempt(task, undefined, { files: handoff.filesChanged }),
    "task.retried": (r, event) => r.#setBack(event, event.attempt),
    "task.failed": (r, event) => r.#setBack(event, undefined),
    "batch.landed": (r, event) => r.#landed(event),
    "landing.turned": (r, event) => r.#turned(event),
    "target.checked": (r, event) => r.#checked(event),
    "target.unchecked": (r, { failure }) => Object.assign(r.#gate.check.at(-1) ?? {}, { failure }),
    "target.moved": (r, { at }) => r.#happened.push({ at: r.#since(at) - 1, what: "moved" }),
    "run.paused": (r, { at }) => r.#say(at, { type: "pause" }),
    "run.resumed": (r, { at }) => r.#say(at, { type: "resume" }),
    "run.steered": (r, { at, message }) => r.#say(at, { type: "steer", message }),
    "run.cancel-requested": (r, { at, reason }) => r.#say(at, { type: "cancel", reason }),
    "task.cancel-requested": (r, { at, task, reason }) => r.#say(at, { type: "cancel", task, reason }),
    "base.moved": (r, { at, commit }) => r.#say(at, { type: "base-moved", commit }),
    "plan.proposed"(r, { at }) {
      r.#proposedAt = at;
    },
    "plan.approved": (r, { at }) => r.#decide(at, { type: "approve" }),
    "plan.declined": (r, { at, reason }) => r.#decide(at, { type: "decline", reason }),
  };

  #say(at: number, message: Message): void {
    this.#said.push({ at: this.#since(at), message });
  }

  #decide(at: number, message: Message): void {
    this.#approvals.push({ afterMs: at - this.#proposedAt, message });
  }

  #since(at: number): number {
    return at - this.#openedAt;
  }

  #nameOf = (task: TaskId): string => this.#names.of(task);

  #name(into: readonly NewTask[]): void {
    this.#names.add(into);
    for (const { id, spec } of into) this.#keys.set(id, spec.key);
  }

  #started({ job, at }: EventOf<"job.started">): void {
    this.#begun.set(jobId(job), { job, at });
    const timed = { ms: 0, end: "dies" as End };
    if (job.kind === "land") this.#lastLand = job.members;
    if (job.kind === "land" || job.kind === "check") this.#gate[job.kind].push({ ...timed });
    if (job.kind === "plan")
      entriesOf(this.#plans, this.#nameOf(job.task)).push({ ...timed, said: NOTHING_MORE });
    if (job.kind === "work") entriesOf(this.#attempts, this.#nameOf(job.task)).push({ ...timed });
  }

  #ended({ job: id, how, spent }: EventOf<"job.ended">): void {
    const begun = this.#begun.get(id);
    if (!begun) return;
    const { job } = begun;
    const all =
      job.kind === "land" || job.kind === "check"
        ? this.#gate[job.kind]
        : (job.kind === "plan" ? this.#plans : this.#attempts).get(this.#nameOf(job.task));
    const number = job.kind === "work" ? job.attempt : job.turn;
    const entry = all?.[number - 1];
    if (!entry) return;
    if (spent) entry.spent = spent;
    if (how === "dropped") return;
    entry.ms = (this.#endTimes.get(id) ?? begun.at) - begun.at;
    if (how === "answered" || how === "answered-late" || how === "interrupted") entry.end = "answered";
    if (how === "interrupted")
      this.#inexact.add("the run was interrupted and resumed: its jobs are replayed as failed at that time");
  }

  #answered(task: TaskId, said: PlannedTurn["said"]): void {
    const turn = this.#plans.get(this.#nameOf(task))?.at(-1);
    if (turn) turn.said = said;
  }

  #answerOf({ into, said }: EventOf<"plan.accepted">): PlanAnswer {
    return {
      ...NOTHING_MORE,
      scratchpad: said.scratchpad,
      addressed: said.addressed.map(({ concern, by, because }) => ({
        concern,
        ...(by !== undefined && { by: this.#keys.get(by) ?? by }),
        ...(because !== undefined && { because }),
      })),
      deferred: said.deferred ?? [],
      tasks: into.map(({ spec }) => ({
        id: spec.key,
        description: spec.description,
        acceptance: spec.acceptance,
        scope: spec.scope,
        priority: spec.priority,
        after: spec.after.map((id) => this.#keys.get(id) ?? id),
        delivers: spec.delivers,
        branch: spec.slug,
        ...(spec.agent !== undefined && { agent: spec.agent }),
        ...(spec.terms && { terms: spec.terms }),
      })),
    };
  }

  /** Of attempt `number`, else of the newest. */
  #attempt(task: TaskId, number: number | undefined, what: Partial<RecordedAttempt>): void {
    const all = this.#attempts.get(this.#nameOf(task));
    const entry = number === undefined ? all?.at(-1) : all?.[number - 1];
    if (entry) Object.assign(entry, what);
  }

  #setBack({ task, failure }: EventOf<"task.retried" | "task.failed">, attempt: number | undefined): void {
    const refused =
      failure.kind === "conflict" ? "conflict" : failure.kind === "gate-red" ? "red" : undefined;
    this.#attempt(task, attempt, refused ? { refused } : { failure: this.#shifted(failure) });
  }

  /** Times in it are of the log's clock. */
  #shifted<T extends { readonly until?: number }>(failure: T): T {
    return failure.until === undefined ? failure : { ...failure, until: this.#since(failure.until) };
  }

  #landed({ proof }: EventOf<"batch.landed">): void {
    if (proof === "found")
      this.#inexact.add("a landing was found after its job was lost: it is replayed as a landing");
  }

  #turned({ phase, failure }: EventOf<"landing.turned">): void {
    if (failure) Object.assign(this.#gate.land.at(-1) ?? {}, { failure });
    else if (wasRed(this.#phase, phase)) this.#reds.push(this.#lastLand);
    this.#phase = phase;
  }

  /** Candidates that failed the gate though none of their members was ever refused for it. */
  #unexplained(): ReadonlyMap<string, number> {
    const flakes = new Map<string, number>();
    const isBad = ({ task, attempt }: Member) =>
      this.#attempts.get(this.#nameOf(task))?.[attempt - 1]?.refused === "red";
    for (const members of this.#reds) {
      if (members.some(isBad)) continue;
      const name = membersName(members, this.#nameOf);
      flakes.set(name, (flakes.get(name) ?? 0) + 1);
    }
    return flakes;
  }

  #checked({ report, at }: EventOf<"target.checked">): void {
    const names = failuresOf(report);
    this.#broken ??= names;
    this.#failing = { at, names };
    Object.assign(this.#gate.check.at(-1) ?? {}, { flakes: names });
  }

  #withFlakes(check: GateJob): GateJob {
    const flakes = (check.flakes ?? []).filter((name) => !this.#problems.has(name));
    return { ...check, flakes: flakes.map((name) => virtualName(name, "tests")) };
  }

  /** What it repairs, where: the files that a fix may touch are those that the failures named. */
  #repairs({ into, class: kind = "tests" }: EventOf<"repair.planned">): void {
    for (const { spec } of into) {
      for (const name of spec.repairs ?? []) this.#know(name, kind, spec.scope);
    }
    const known = new Set(this.#broken);
    const fresh = into.flatMap(({ spec }) => spec.repairs ?? []).filter((name) => !known.has(name));
    for (const name of fresh)
      this.#happened.push({ at: this.#since(this.#failing.at) - 1, what: this.#problems.get(name)! });
    if (fresh.length > 0)
      this.#inexact.add("the target branch began to fail by itself: it does so just before that was seen");
  }

  #know(name: string, kind: ProblemClass, files: readonly string[]): void {
    this.#problems.set(name, { class: kind, name: virtualName(name, kind), files, message: name });
  }
}

/** A landing's outcome is not in the log; but only a red gate takes a phase further. */
function wasRed(before: Phase, after: Phase): boolean {
  if (before.is === "base") return false; // A look at the target has decided.
  if (after.is === "again") return before.is !== "again" || after.run > before.run;
  if (after.is === "base") return true;
  if (before.is === "again") return after.is === "bisect";
  if (before.is !== "bisect") return false;
  return after.is === "open" ? before.guilty.length === 1 : after.is === "bisect" && after.reds > before.reds;
}

const usual = (all: readonly Timed[]): number => median(all.map(({ ms }) => ms)) ?? 0;

/** The gate that is made up has one command for each class. */
const COMMANDS: Readonly<Record<ProblemClass, string>> = {
  "conflict-markers": "markers",
  build: "build",
  types: "types",
  tests: "test",
};
const virtualName = (name: string, kind: ProblemClass): string => `${COMMANDS[kind]}: ${name}`;

function entriesOf<T>(all: Map<string, T[]>, name: string): T[] {
  const entries = all.get(name) ?? [];
  all.set(name, entries);
  return entries;
}
