/** Makes a run's spans as data, from its log and from what is known of each job; adapters send them. */

import { type JobId, slotOfId } from "../job.ts";
import type { Event, NewTask, RunEnd, RunRequest } from "../log/event.ts";
import { ROOT, type TaskId, type TaskSpec } from "../task.ts";
import { foldSpans, isAgents, type JobSpan, type JobSpans, noSpans } from "./job-spans.ts";
import { type JobDetails, spansInside, type TraceSpan } from "./trace-details.ts";
import { ATTRIBUTE, type Attributes, OPERATION, OWN_SPAN, providerName } from "./trace-names.ts";

export type Trace = {
  readonly opened: { readonly at: number; readonly request: RunRequest } | undefined;
  readonly closed: RunEnd | undefined;
  /** When the newest event was decided, and how far the machine's clock was ahead of the run's own time. */
  readonly latest: number;
  readonly aheadMs: number;
  /** Times are by the machine's clock. */
  readonly jobs: JobSpans;
  readonly tasks: ReadonlyMap<TaskId, TracedTask>;
};

type TracedTask = Pick<TaskSpec, "key" | "agent"> & { readonly madeBy: JobId | undefined };

type TraceDraft = { -readonly [field in keyof Trace]: Trace[field] } & {
  readonly tasks: Map<TaskId, TracedTask>;
};

const RUN_SPAN = "run";

export const emptyTrace = (): Trace => ({
  ...{ opened: undefined, closed: undefined, latest: 0, aheadMs: 0 },
  ...{ jobs: noSpans(), tasks: new Map() },
});

/** Changes `trace` in place, as `evolve` does with a state. */
export function traceEvent(trace: Trace, event: Event): void {
  const t = trace as TraceDraft;
  if (event.type === "clock.jumped") t.aheadMs += event.ms;
  t.latest = event.at + t.aheadMs;
  foldSpans(t.jobs, onWall(event, t.aheadMs));
  switch (event.type) {
    case "run.opened":
      t.opened = { at: t.latest, request: event.request };
      t.tasks.set(ROOT, { key: event.spec.key, madeBy: undefined });
      break;
    case "run.closed":
      t.closed = event.how;
      break;
    case "plan.accepted":
      makeTasks(t, event.into, t.jobs.newest.get(`plan:${event.task}`));
      break;
    case "repair.planned":
      makeTasks(t, event.into, t.jobs.newest.get("check"));
      break;
    case "subtask.spawned":
      makeTasks(t, [event.into], t.jobs.byId.get(`work:${event.task}#${event.attempt}` as JobId));
      break;
    default: // Such an event is in no span.
  }
}

/** The event with times by the machine's clock. */
function onWall(event: Event, aheadMs: number): Event {
  if (aheadMs === 0) return event;
  const at = event.at + aheadMs;
  return event.type === "job.taken" ? { ...event, at, since: event.since + aheadMs } : { ...event, at };
}

function makeTasks(t: TraceDraft, tasks: readonly NewTask[], by: JobSpan | undefined): void {
  for (const { id, spec } of tasks)
    t.tasks.set(id, {
      key: spec.key,
      ...(spec.agent !== undefined && { agent: spec.agent }),
      madeBy: by?.job,
    });
}

/** True if a job's span is complete. A job that was aborted may still be calling its model, and reports that later. */
export const isComplete = (span: JobSpan): boolean =>
  span.to !== undefined &&
  (span.spent !== undefined || !isAgents(span) || (span.how !== "expired" && span.how !== "aborted"));

/** The root of the tree; for a run that is going on, up to its newest event. */
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

/** The spans of a job that has ended, with all that happened in it. */
export function jobSpans(trace: Trace, id: JobId, details: JobDetails): readonly TraceSpan[] {
  const traced = trace.jobs.byId.get(id);
  if (traced?.to === undefined || !trace.opened) return [];
  const { kind, from, to } = traced;
  const task = isAgents(traced) ? trace.tasks.get(traced.tasks[0]!) : undefined;
  const conversation = `${trace.opened.request.run}/${kind === "plan" ? slotOfId(id) : id}`;
  const inside = spansInside({ key: id, from, to, conversation }, details);
  const link = task?.madeBy;
  const span: TraceSpan = {
    ...{ key: id, parent: RUN_SPAN, ...(link !== undefined && { link }) },
    ...named(traced, task),
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

function named(span: JobSpan, task: TracedTask | undefined): Pick<TraceSpan, "name"> {
  const { kind } = span;
  const operation = kind === "plan" || kind === "work" ? OPERATION[kind] : OWN_SPAN[kind];
  return { name: task ? `${operation} ${agentOf(span, task)}` : operation };
}

const agentOf = ({ kind, tasks }: JobSpan, { agent }: TracedTask): string =>
  kind === "plan" ? (tasks[0] === ROOT ? "planner" : "subplanner") : (agent ?? "worker");

function attributesOf(span: JobSpan, task: TracedTask | undefined): Attributes {
  const { kind, tasks, how, outcome, machine } = span;
  const error = outcome?.failure ?? (how !== undefined && UNANSWERED.has(how) ? how : undefined);
  const isRed = outcome?.is === "red";
  return {
    ...(task && {
      [ATTRIBUTE.operation]: kind === "plan" ? OPERATION.plan : OPERATION.work,
      [ATTRIBUTE.agent]: agentOf(span, task),
      [ATTRIBUTE.taskKey]: task.key,
    }),
    ...(isAgents(span) && { [ATTRIBUTE.task]: tasks[0]! }),
    ...(kind === "land" && { [ATTRIBUTE.members]: tasks }),
    ...(outcome?.is === "landed" && { [ATTRIBUTE.proof]: outcome.proof }),
    ...(kind === "check" && !span.isProbe && (isRed || hasPassed(outcome)) && { [ATTRIBUTE.green]: !isRed }),
    ...(machine !== undefined && { [ATTRIBUTE.machine]: machine }),
    ...(how !== undefined && { [ATTRIBUTE.jobEnd]: how }),
    ...(error !== undefined && { [ATTRIBUTE.error]: error }),
  };
}

const hasPassed = (outcome: JobSpan["outcome"]): boolean =>
  outcome?.is === "passed" || outcome?.is === "known";

const UNANSWERED: ReadonlySet<string> = new Set(["expired", "interrupted", "aborted"]);

/** Each token is on one span: on its call's, or on the job's if nothing is known of its calls. */
function usageOf({ spent }: JobSpan, { calls }: JobDetails): Attributes {
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
