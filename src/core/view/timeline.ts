/** Puts the spans of jobs into lanes (planners, workers, gates), each beside those that ran at the same time. */
import { type RunState, wallTime } from "../log/state.ts";
import type { JobKind } from "../rules/policy.ts";
import type { JobSpan } from "./job-spans.ts";
import { openJobLabel, type RunWord } from "./labels.ts";
import type { Seen } from "./standing.ts";
import { type Named, named } from "./view-reasons.ts";
import type { Explained } from "./words.ts";

/** Times by the machine's clock. `number`: of a worker the attempt, of all other jobs the turn. */
export type SpanView = Pick<
  JobSpan,
  "job" | "kind" | "number" | "machine" | "from" | "to" | "how" | "outcome" | "gates"
> & {
  readonly tasks: readonly Named[];
  readonly prepareMs?: number;
  readonly isFailed?: true;
  readonly tokens: number;
  readonly microdollars: number;
  /** It failed without harm: the task was tried again, or the target has passed its gate since. */
  readonly isRetried?: true;
};
/** `number`: among the lanes of its kind, from 1. */
export type LaneView = {
  readonly kind: JobKind;
  readonly number: number;
  readonly spans: readonly SpanView[];
};

const KINDS: readonly JobKind[] = ["plan", "work", "land", "check"];

/** As few lanes of each kind as jobs ran at once. */
export function timelineOf({ state, story }: Seen): readonly LaneView[] {
  const begun = story.spans.all.filter(({ job, to }) => to !== undefined || !isUntaken(state, job));
  const byKind = Map.groupBy(begun, ({ kind }) => kind);
  const isRetried = retriedIn(state);
  return KINDS.flatMap((kind) => {
    const lanes: { end: number; spans: SpanView[] }[] = [];
    for (const span of byKind.get(kind) ?? []) {
      const free = lanes.find(({ end }) => end <= span.from);
      const lane = free ?? { end: 0, spans: [] };
      if (!free) lanes.push(lane);
      lane.end = span.to ?? Number.POSITIVE_INFINITY;
      lane.spans.push(spanView(state, span, isRetried));
    }
    return lanes.map(({ spans }, i) => ({ kind, number: i + 1, spans }));
  });
}

/** The job waits for a machine of the fleet. */
function isUntaken({ running }: RunState, job: JobSpan["job"]): boolean {
  const { isOffered, taken } = running.get(job) ?? {};
  return isOffered === true && taken === undefined;
}

/**
 * A check counts as retried if the target is not red now; another job, unless all its tasks are settled and not done.
 */
function retriedIn(state: RunState): (span: JobSpan) => boolean {
  const isRed = state.target.health === "red" || state.target.health === "suspect";
  const isLost = (task: JobSpan["tasks"][number]) => LOST.has(state.tasks.get(task)?.state.is ?? "");
  return ({ kind, tasks }) => (kind === "check" ? !isRed : !tasks.every(isLost));
}

const LOST: ReadonlySet<string> = new Set(["failed", "skipped", "cancelled"]);

function spanView(state: RunState, span: JobSpan, isRetried: (span: JobSpan) => boolean): SpanView {
  const { job, kind, number, machine, to, prepareMs, how, outcome, isFailed, spent, gates } = span;
  return {
    ...{ job, kind, tasks: span.tasks.map((task) => named(state, task)), number },
    ...(machine !== undefined && { machine }),
    from: wallTime(state, span.from),
    ...(to !== undefined && { to: wallTime(state, to) }),
    ...(prepareMs > 0 && { prepareMs }),
    ...(how && { how }),
    ...(outcome && { outcome }),
    ...(isFailed && { isFailed }),
    ...(isFailed && isRetried(span) && { isRetried: true }),
    tokens: spent?.tokens ?? 0,
    microdollars: spent?.microdollars ?? 0,
    ...(gates && { gates }),
  };
}

export const JOB_NAMES = {
  plan: "planner",
  work: "worker",
  land: "landing",
  check: "check",
} as const satisfies Readonly<Record<JobKind, Explained>>;

/** What the colours of the bars mean. */
export const LEGEND = {
  again: "failed attempt, landing or check; tried again",
  bad: "failed for good",
  running: "running",
} as const;

/** "leap + 4 more": short enough for a bar. */
export function spanName({ kind, tasks }: Pick<SpanView, "kind" | "tasks">): string {
  const [first, ...others] = tasks;
  if (!first) return kind === "check" ? "the target" : JOB_NAMES[kind];
  return others.length === 0 ? first.name : `${first.name} + ${others.length} more`;
}

/** How the job ended, in a few words. */
export function spanEnd({ kind, to, how, isFailed, isRetried }: SpanView, run: RunWord): string {
  if (to === undefined) return openJobLabel(run);
  if (!isFailed) return "done";
  const what = how === undefined || how.startsWith("answered") ? "failed" : how;
  if (!isRetried) return what;
  return kind === "check" ? `${what}, passes since` : `${what}, tried again`;
}
