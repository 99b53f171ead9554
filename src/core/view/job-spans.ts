/** Folds the log into the spans of its jobs: when and where each ran, its outcome, and its cost. */

import type { FailureKind } from "../failure.ts";
import type { GateRecord } from "../gate.ts";
import { type Job, type JobId, type JobOutcome, jobId, type Member, type Spent, slotOf } from "../job.ts";
import type { Event, EventOf, JobEnd } from "../log/event.ts";
import type { JobKind } from "../rules/policy.ts";
import type { TaskId } from "../task.ts";

/** One job, in the run's own time. */
export type JobSpan = {
  readonly job: JobId;
  readonly kind: JobKind;
  readonly tasks: readonly TaskId[];
  /** Of a worker the attempt, of all other jobs the turn. */
  readonly number: number;
  /** Of a landing: the members of its candidate. */
  readonly members: readonly Member[];
  /** Of a candidate that was gated ahead of its turn: how many others it was built on. */
  readonly on: number;
  /** A landing that only moves the target: it runs no gate. */
  readonly isMove?: true;
  /** A check that only probes the gate. */
  readonly isProbe?: true;
  /** In a fleet: the machine that took it last. */
  readonly machine?: string;
  /** It waits for a machine of the fleet, or ended while it waited: its time has not begun. */
  readonly isOffered?: true | undefined;
  readonly from: number;
  /** Undefined while it runs. If it answered late: when it expired. */
  readonly to?: number;
  /** When its late answer came. */
  readonly lateAt?: number;
  /** How long its workspace was made ready before its agent or gate began. */
  readonly prepareMs: number;
  readonly how?: JobEnd;
  readonly outcome?: JobOutcome;
  /** Also set for an attempt whose change was refused later: then `failure` says why. */
  readonly isFailed?: true | undefined;
  readonly failure?: FailureKind | undefined;
  /** Undefined until it reports a cost. */
  readonly spent?: Spent;
  /** Of a landing or a check: its gate runs. */
  readonly gates?: readonly GateRecord[];
};

export type JobSpans = {
  /** In the order of their starts. */
  readonly all: readonly JobSpan[];
  readonly byId: ReadonlyMap<JobId, JobSpan>;
  /** The jobs without an end, oldest first: few, however long the run is. */
  readonly open: ReadonlyMap<JobId, JobSpan>;
  /** The newest job of each slot. */
  readonly newest: ReadonlyMap<string, JobSpan>;
};

/** The fold owns its spans and changes them in place. */
type Draft = { -readonly [field in keyof JobSpan]: JobSpan[field] };
type SpansDraft = {
  readonly all: Draft[];
  readonly byId: Map<JobId, Draft>;
  readonly open: Map<JobId, Draft>;
  readonly newest: Map<string, Draft>;
};

export const noSpans = (): JobSpans => ({ all: [], byId: new Map(), open: new Map(), newest: new Map() });

/** Changes `spans` in place, as `evolve` does with a state. Returns the job that ends with this event, if one does. */
export function foldSpans(spans: JobSpans, event: Event): JobSpan | undefined {
  const s = spans as SpansDraft;
  switch (event.type) {
    case "job.started":
      started(s, event);
      break;
    case "job.taken": {
      const { machine, since: from } = event;
      change(s.open.get(event.job), { machine, from, prepareMs: 0, isOffered: undefined });
      break;
    }
    case "job.returned":
      change(s.open.get(event.job), { isOffered: true });
      break;
    case "job.prepared": {
      const span = s.open.get(event.job);
      if (span) span.prepareMs += event.ms;
      break;
    }
    case "job.ended":
      return ended(s, event);
    case "task.retried":
      fail(s.byId.get(jobId({ kind: "work", ...event })), event.failure.kind);
      break;
    case "task.failed":
      fail(s.newest.get(`work:${event.task}`), event.failure.kind);
      break;
    default: // It says nothing about a job.
  }
  return undefined;
}

/** When its agent or its gate began, after its workspace was ready. */
export const beganAt = ({ from, prepareMs }: JobSpan): number => from + prepareMs;

/** True while it waits for a machine of the fleet, and if it was given up while it waited. */
export const isWaiting = ({ isOffered, how }: JobSpan): boolean => isOffered === true && how !== "answered";

/** How long its agent or its gate ran. None if it was interrupted, because the moment of the interruption is unknown. */
export const ranMs = (span: JobSpan): number =>
  span.to === undefined || span.how === "interrupted" || isWaiting(span) ? 0 : span.to - beganAt(span);

/** Since when a job is running or waiting for a machine. */
export const openSince = ({ open }: JobSpans, job: JobId): number | undefined => {
  const span = open.get(job);
  return span && beganAt(span);
};

export const isAgents = ({ kind }: JobSpan): boolean => kind === "work" || kind === "plan";

/** True if the job was to run the gate, on a candidate or on the target. */
export const isGates = ({ kind, isMove }: JobSpan): boolean =>
  kind === "check" || (kind === "land" && !isMove);

/** The result of a gate that ran, or was to run. `error`: it could not be run, or the target could not be moved. */
export type GateEnd = "passed" | "failed" | "conflict" | "stopped" | "error";

/** Undefined while it runs. `stopped`: it ended without an answer, or its candidate was no longer needed. */
export function gateEnd({ to, how, outcome }: JobSpan): GateEnd | undefined {
  if (to === undefined) return undefined;
  if (how !== "answered" && how !== "answered-late") return "stopped";
  return GATE_ENDS[outcome?.is ?? "moved"] ?? "stopped";
}

const GATE_ENDS: Partial<Record<JobOutcome["is"], GateEnd>> = {
  landed: "passed",
  passed: "passed",
  known: "passed",
  red: "failed",
  conflict: "conflict",
  failed: "error",
};

/** True if the job's gate ran to its end. */
export function hasGated({ kind, isMove, isProbe, outcome }: JobSpan): boolean {
  if (isMove || isProbe || !outcome) return false;
  if (kind === "check") return outcome.is === "passed" || outcome.is === "red";
  if (kind !== "land") return false;
  return outcome.is === "red" || (outcome.proof !== undefined && outcome.proof !== "ungated");
}

function started(s: SpansDraft, { job, at, isOffered }: EventOf<"job.started">): void {
  const span: Draft = {
    job: jobId(job),
    kind: job.kind,
    tasks: tasksOf(job),
    number: job.kind === "work" ? job.attempt : job.turn,
    members: job.kind === "land" ? job.members : NO_MEMBERS,
    on: job.kind === "land" ? (job.on?.length ?? 0) : 0,
    ...(job.kind === "land" && job.moves !== undefined && { isMove: true }),
    ...(job.kind === "check" && job.probe && { isProbe: true }),
    ...(isOffered && { isOffered }),
    from: at,
    prepareMs: 0,
  };
  s.all.push(span);
  s.byId.set(span.job, span);
  s.open.set(span.job, span);
  s.newest.set(slotOf(job), span);
}

const NO_MEMBERS: readonly Member[] = [];

const tasksOf = (job: Job): readonly TaskId[] =>
  job.kind === "check" ? [] : job.kind === "land" ? job.members.map(({ task }) => task) : [job.task];

/** An expired job may still answer late, or only report its cost. */
function ended(
  s: SpansDraft,
  { job, how, at, outcome, spent, gates }: EventOf<"job.ended">,
): JobSpan | undefined {
  const span = s.byId.get(job);
  if (!span) return undefined;
  if (spent) span.spent = spent;
  if (gates) span.gates = gates;
  const isFirst = s.open.delete(job);
  if (how === "dropped" && !isFirst) return undefined;
  span.how = how;
  if (isFirst) span.to = at;
  else span.lateAt = at;
  if (outcome) span.outcome = outcome;
  const isAnswered = how === "answered" || how === "answered-late";
  const isFailed = !isAnswered || outcome?.failure !== undefined || FAILED.has(outcome?.is ?? "");
  span.isFailed = isFailed || undefined;
  span.failure = outcome?.failure;
  return isFirst ? span : undefined;
}

const FAILED: ReadonlySet<string> = new Set(["failed", "red", "conflict", "gone", "moved"]);

function change(span: Draft | undefined, to: Partial<Draft>): void {
  if (span) Object.assign(span, to);
}

const fail = (span: Draft | undefined, failure: FailureKind): void =>
  change(span, { isFailed: true, failure });
