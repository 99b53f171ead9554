/** Makes the spans of a run as data, from the log and from what is known of each job; adapters send them. */

import type { Failure } from "../failure.ts";
import { isGreen, type Proof } from "../gate.ts";
import { type Job, type JobId, jobId, type Spent, slotOf } from "../job.ts";
import type { Event, NewTask, RunEnd, RunRequest } from "../log/event.ts";
import { isPaid } from "../rules/budget.ts";
import { ROOT, type TaskId, type TaskSpec } from "../task.ts";
import { type JobDetails, spansInside, type TraceSpan } from "./trace-details.ts";
import { ATTRIBUTE, type Attributes, OPERATION, OWN_SPAN, providerName } from "./trace-names.ts";

export type Trace = {
  readonly opened: { readonly at: number; readonly request: RunRequest } | undefined;
  readonly closed: RunEnd | undefined;
  /** When the newest event was decided, and how far the machine's clock was ahead of the run's time. */
  readonly latest: number;
  readonly aheadMs: number;
  readonly jobs: ReadonlyMap<JobId, TracedJob>;
  readonly tasks: ReadonlyMap<TaskId, TracedTask>;
  /** The newest job of each slot. */
  readonly newest: ReadonlyMap<string, TracedJob>;
};

type TracedTask = Pick<TaskSpec, "key" | "agent"> & { readonly madeBy: JobId | undefined };

/** Its owner is the trace, which changes it in place. */
type TracedJob = {
  readonly job: Job;
  readonly from: number;
  to?: number;
  how?: string;
  failure?: Failure["kind"];
  proof?: Proof;
  green?: boolean;
  spent?: Spent;
  machine?: string;
};

type TraceDraft = { -readonly [field in keyof Trace]: Trace[field] } & {
  readonly jobs: Map<JobId, TracedJob>;
  readonly tasks: Map<TaskId, TracedTask>;
  readonly newest: Map<string, TracedJob>;
};

const RUN_SPAN = "run";

export const emptyTrace = (): Trace => ({
  ...{ opened: undefined, closed: undefined, latest: 0, aheadMs: 0 },
  ...{ jobs: new Map(), tasks: new Map(), newest: new Map() },
});

/** Changes `trace` in place, as `evolve` does with a state. */
export function traceEvent(trace: Trace, event: Event): void {
  const t = trace as TraceDraft;
  if (event.type === "clock.jumped") t.aheadMs += event.ms;
  t.latest = event.at + t.aheadMs;
  switch (event.type) {
    case "run.opened":
      t.opened = { at: t.latest, request: event.request };
      t.tasks.set(ROOT, { key: event.spec.key, madeBy: undefined });
      break;
    case "run.closed":
      t.closed = event.how;
      break;
    case "job.started": {
      const job: TracedJob = { job: event.job, from: t.latest };
      t.jobs.set(jobId(event.job), job);
      t.newest.set(slotOf(event.job), job);
      break;
    }
    case "job.taken":
      Object.assign(t.jobs.get(event.job) ?? {}, { machine: event.machine });
      break;
    case "job.ended":
      jobEnded(t, event);
      break;
    case "plan.accepted":
      makeTasks(t, event.into, t.newest.get(`plan:${event.task}`));
      break;
    case "repair.planned":
      makeTasks(t, event.into, t.newest.get("check"));
      break;
    case "subtask.spawned":
      makeTasks(t, [event.into], t.jobs.get(`work:${event.task}#${event.attempt}` as JobId));
      break;
    case "task.retried":
    case "task.failed":
      fail(t, `work:${event.task}`, event.failure);
      break;
    case "plan.rejected":
      fail(t, `plan:${event.task}`, event.failure);
      break;
    case "plan.ended":
      if (event.over !== "finished") fail(t, `plan:${event.task}`, event.over);
      break;
    case "landing.turned":
      fail(t, "land", event.failure);
      break;
    case "target.unchecked":
      fail(t, "check", event.failure);
      break;
    case "batch.landed": {
      const landing = endedNow(t, "land");
      if (landing && event.proof !== "found") landing.proof = event.proof;
      break;
    }
    case "target.checked": {
      const check = endedNow(t, "check");
      if (check) check.green = isGreen(event.report);
      break;
    }
    default: // Nothing of it is in a span.
  }
}

/** A job that expired may say later what it cost; its span ended before. */
function jobEnded(t: TraceDraft, { job: id, how, spent }: Event & { readonly type: "job.ended" }): void {
  const job = t.jobs.get(id);
  if (!job) return;
  job.to ??= t.latest;
  job.how = how;
  if (spent) job.spent = spent;
}

function makeTasks(t: TraceDraft, tasks: readonly NewTask[], by: TracedJob | undefined): void {
  for (const { id, spec } of tasks)
    t.tasks.set(id, {
      key: spec.key,
      ...(spec.agent !== undefined && { agent: spec.agent }),
      madeBy: by && jobId(by.job),
    });
}

/** What follows from a job's end is decided in the same moment: later facts, as a refused landing, are not about it. */
function endedNow(t: TraceDraft, slot: string): TracedJob | undefined {
  const job = t.newest.get(slot);
  return job?.to === t.latest ? job : undefined;
}

function fail(t: TraceDraft, slot: string, failure: Failure | undefined): void {
  const job = endedNow(t, slot);
  if (job && failure) job.failure ??= failure.kind;
}

/** Whether a job's span is complete: one that was called off may still be calling its model, and says so later. */
export const isComplete = ({ job, to, how, spent }: TracedJob): boolean =>
  to !== undefined && (spent !== undefined || !isPaid(job) || (how !== "expired" && how !== "aborted"));

/** The root of the tree; of a run that goes on, up to its newest event. */
export function runSpan({ opened, closed, latest }: Trace, goal?: string): TraceSpan | undefined {
  if (!opened) return undefined;
  const hasFailed = closed === "failed" || closed === "incomplete";
  return {
    key: RUN_SPAN,
    name: `${OPERATION.run} ${WORKFLOW}`,
    kind: "internal",
    from: opened.at,
    to: Math.max(opened.at, latest),
    attributes: {
      [ATTRIBUTE.operation]: OPERATION.run,
      [ATTRIBUTE.workflow]: WORKFLOW,
      [ATTRIBUTE.run]: opened.request.run,
      [ATTRIBUTE.runEnd]: closed ?? "open",
      ...(hasFailed && { [ATTRIBUTE.error]: closed }),
      ...(goal !== undefined && { [ATTRIBUTE.inputMessages]: goal }),
    },
  };
}

/** The conventions ask for a name that is the same for all runs. */
const WORKFLOW = "skein";

/** A job that has ended, with all that happened in it. */
export function jobSpans(trace: Trace, id: JobId, details: JobDetails): readonly TraceSpan[] {
  const traced = trace.jobs.get(id);
  if (traced?.to === undefined || !trace.opened) return [];
  const { job, from, to } = traced;
  const task = job.kind === "plan" || job.kind === "work" ? trace.tasks.get(job.task) : undefined;
  const conversation = `${trace.opened.request.run}/${job.kind === "plan" ? slotOf(job) : id}`;
  const inside = spansInside({ key: id, from, to, conversation }, details);
  const link = task?.madeBy;
  const span: TraceSpan = {
    ...{ key: id, parent: RUN_SPAN, ...(link !== undefined && { link }) },
    ...named(job, task),
    ...{ kind: "internal", from, to: Math.max(from, to) },
    attributes: {
      ...attributesOf(traced, task),
      ...(task && { [ATTRIBUTE.conversation]: conversation }),
      ...usageOf(traced, details),
      ...details.content,
      [ATTRIBUTE.run]: trace.opened.request.run,
      [ATTRIBUTE.job]: id,
    },
  };
  return [span, ...inside];
}

function named(job: Job, task: TracedTask | undefined): Pick<TraceSpan, "name"> {
  const operation = job.kind === "plan" || job.kind === "work" ? OPERATION[job.kind] : OWN_SPAN[job.kind];
  return { name: task ? `${operation} ${agentOf(job, task)}` : operation };
}

const agentOf = (job: Job, { agent }: TracedTask): string =>
  job.kind === "plan" ? (job.task === ROOT ? "planner" : "subplanner") : (agent ?? "worker");

function attributesOf(
  { job, how, failure, proof, green, machine }: TracedJob,
  task: TracedTask | undefined,
): Attributes {
  const error = failure ?? (how !== undefined && UNANSWERED.has(how) ? how : undefined);
  return {
    ...(task && {
      [ATTRIBUTE.operation]: job.kind === "plan" ? OPERATION.plan : OPERATION.work,
      [ATTRIBUTE.agent]: agentOf(job, task),
      [ATTRIBUTE.taskKey]: task.key,
    }),
    ...((job.kind === "plan" || job.kind === "work") && { [ATTRIBUTE.task]: job.task }),
    ...(job.kind === "land" && { [ATTRIBUTE.members]: job.members.map((member) => member.task) }),
    ...(proof !== undefined && { [ATTRIBUTE.proof]: proof }),
    ...(green !== undefined && { [ATTRIBUTE.green]: green }),
    ...(machine !== undefined && { [ATTRIBUTE.machine]: machine }),
    ...(how !== undefined && { [ATTRIBUTE.jobEnd]: how }),
    ...(error !== undefined && { [ATTRIBUTE.error]: error }),
  };
}

const UNANSWERED: ReadonlySet<string> = new Set(["expired", "interrupted", "aborted"]);

/** Each token is on one span: on that of its call, or on the job's where nothing is known of its calls. */
function usageOf({ spent }: TracedJob, { calls }: JobDetails): Attributes {
  if (!spent) return {};
  const { tokens, microdollars, unaccounted, turn } = spent;
  const [provider = "", ...model] = turn?.model.split("/") ?? [];
  const isKnown = calls.some(({ usage }) => usage !== undefined);
  return {
    ...(provider !== "" && { [ATTRIBUTE.provider]: providerName(provider) }),
    ...(model.length > 0 && { [ATTRIBUTE.model]: model.join("/") }),
    ...(!isKnown &&
      tokens > 0 &&
      (turn
        ? { [ATTRIBUTE.inputTokens]: turn.inputTokens, [ATTRIBUTE.outputTokens]: turn.outputTokens }
        : { [ATTRIBUTE.tokens]: tokens })),
    ...(unaccounted && { [ATTRIBUTE.unaccountedTokens]: unaccounted.tokens }),
    ...(microdollars !== undefined && { [ATTRIBUTE.microdollars]: microdollars }),
  };
}
