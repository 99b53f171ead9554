/** What has happened so far that the state does not keep? Landings, attempts that came to nothing, and times. */

import type { Failure } from "../failure.ts";
import type { Proof } from "../gate.ts";
import { CHECKOUT_CHANGED, checkoutChanged } from "../handoff.ts";
import { type JobId, jobId, type Member, taskOfJob } from "../job.ts";
import type { Writable } from "../log/draft.ts";
import type { Charge, Event, EventOf, JobEnd, RunEnd } from "../log/event.ts";
import type { JobKind } from "../rules/policy.ts";
import { ROOT, type TaskId } from "../task.ts";
import { count, emptyTally, type Tally } from "./tally.ts";

export type Story = {
  readonly events: number;
  /** When the newest event was decided. */
  readonly lastAt: number;
  /** How long no engine was at it, as far as the log shows; and when. */
  readonly idleMs: number;
  readonly stops: readonly { readonly from: number; readonly to: number }[];
  readonly landings: readonly LandedStory[];
  readonly failedAttempts: readonly RetriedAttempt[];
  /** When each job that is running was started. */
  readonly since: ReadonlyMap<JobId, number>;
  readonly jobs: Readonly<Record<JobKind, { readonly count: number; readonly ms: number }>>;
  readonly checks: { readonly green: number; readonly red: number };
  /** What the newest attempt of each task was concerned about. */
  readonly concerns: ReadonlyMap<TaskId, readonly string[]>;
  /** Which landings had which tasks in their candidate, oldest first. */
  readonly candidates: readonly { readonly job: JobId; readonly members: readonly Member[] }[];
  /** Every job, in the order of their starts. */
  readonly spans: readonly JobSpan[];
  readonly closed: { readonly at: number; readonly how: RunEnd } | undefined;
  /** How long a task waited for files that another one had. */
  readonly fileWaits: readonly FileWait[];
  /** Tasks that wait for files now, behind whom, and since when. */
  readonly heldBack: ReadonlyMap<TaskId, { readonly behind: TaskId; readonly at: number }>;
  /** Attempts that were refused for a conflict, with all that they had changed. */
  readonly conflicts: readonly { readonly task: TaskId; readonly files: readonly string[] }[];
  /** How many questions workers have asked. */
  readonly questions: number;
  readonly tally: Tally;
};

export type FileWait = { readonly task: TaskId; readonly behind: TaskId; readonly ms: number };

/** One job's time, by the run's own clock; `to` is undefined while it runs. */
export type JobSpan = {
  readonly job: JobId;
  readonly kind: JobKind;
  readonly tasks: readonly TaskId[];
  readonly number: number;
  readonly from: number;
  readonly to?: number;
  readonly how?: JobEnd;
  /** It ended, and to no good: an attempt that did not count, a plan that was rejected, a gate that failed. */
  readonly isFailed?: true;
  readonly tokens: number;
  readonly microdollars: number;
};

/** A move of the target, and why it could be made. */
export type LandedStory = {
  readonly at: number;
  readonly commit: string;
  readonly members: readonly Member[];
  readonly proof: Proof | "found";
  readonly flaky: readonly string[];
};

/** An attempt of a worker, or a turn of a planner, that came to nothing and was made again. */
export type RetriedAttempt = {
  readonly at: number;
  readonly task: TaskId;
  readonly of: "work" | "plan";
  /** Of a worker. */
  readonly attempt?: number;
  readonly charge: Charge | "error";
  readonly failure: Failure;
};

type Lists =
  | "landings"
  | "failedAttempts"
  | "jobs"
  | "candidates"
  | "spans"
  | "stops"
  | "fileWaits"
  | "conflicts";
type StoryDraft = Writable<Omit<Story, Lists>> & {
  readonly stops: { readonly from: number; readonly to: number }[];
  readonly fileWaits: FileWait[];
  readonly conflicts: { readonly task: TaskId; readonly files: readonly string[] }[];
  readonly candidates: { readonly job: JobId; readonly members: readonly Member[] }[];
  readonly spans: JobSpan[];
  readonly landings: LandedStory[];
  readonly failedAttempts: RetriedAttempt[];
  readonly jobs: Record<JobKind, { count: number; ms: number }>;
};

export const emptyStory = (): Story => ({
  events: 0,
  lastAt: 0,
  idleMs: 0,
  stops: [],
  landings: [],
  failedAttempts: [],
  since: new Map(),
  jobs: {
    plan: { count: 0, ms: 0 },
    work: { count: 0, ms: 0 },
    land: { count: 0, ms: 0 },
    check: { count: 0, ms: 0 },
  },
  checks: { green: 0, red: 0 },
  concerns: new Map(),
  candidates: [],
  spans: [],
  closed: undefined,
  fileWaits: [],
  heldBack: new Map(),
  conflicts: [],
  questions: 0,
  tally: emptyTally(),
});

/** Changes `story` in place, as `evolve` does with a state. */
export function tell(story: Story, event: Event): Story {
  const s = story as StoryDraft;
  s.events += 1;
  if (isRestart(event) && s.events > 1 && event.at > s.lastAt) {
    s.idleMs += event.at - s.lastAt;
    s.stops.push({ from: s.lastAt, to: event.at });
  }
  s.lastAt = event.at;
  count(s.tally, event);
  if (event.type === "task.retried" || event.type === "task.failed") noteConflict(s, event);
  switch (event.type) {
    case "run.closed":
      s.closed = { at: event.at, how: event.how };
      break;
    case "job.started":
      s.since.set(jobId(event.job), event.at);
      s.jobs[event.job.kind].count += 1;
      s.spans.push(spanOf(event));
      if (event.job.kind === "work") endWait(s, event.job.task, event.at);
      if (event.job.kind === "land") s.candidates.push({ job: jobId(event.job), members: event.job.members });
      break;
    case "job.ended":
      jobEnded(s, event);
      break;
    case "batch.landed": {
      const { at, commit, members, proof, flaky } = event;
      s.landings.push({ at, commit, members, proof, flaky });
      if (proof !== "found") mark(s, "land", members[0]?.task, undefined);
      break;
    }
    case "task.handed-off":
    case "task.failed":
    case "task.done": {
      if (event.type === "task.failed") mark(s, "work", event.task, true);
      if (event.handoff === undefined) break;
      const said = event.handoff.concerns;
      const before = s.concerns.get(event.task) ?? [];
      // Another attempt answers for itself; that the user's files were touched stays so.
      const kept =
        event.type === "task.done" ? before : before.filter((text) => text.startsWith(CHECKOUT_CHANGED));
      s.concerns.set(event.task, [...new Set([...kept, ...said])]);
      break;
    }
    case "checkout.changed": {
      const before = s.concerns.get(ROOT) ?? [];
      const said = checkoutChanged(duringOf(event.job), event.places);
      if (before.length < MAX_TOLD) s.concerns.set(ROOT, [...new Set([...before, said])]);
      break;
    }
    case "task.held-back":
      endWait(s, event.task, event.at); // It goes on waiting, behind another.
      s.heldBack.set(event.task, { behind: event.behind, at: event.at });
      break;
    case "question.asked":
      s.questions += 1;
      break;
    case "task.retried": {
      const { at, task, attempt, charge, failure } = event;
      s.failedAttempts.push({ at, task, of: "work", attempt, charge, failure });
      mark(s, "work", task, true);
      break;
    }
    case "plan.rejected": {
      const { at, task, charge, failure } = event;
      s.failedAttempts.push({ at, task, of: "plan", charge, failure });
      mark(s, "plan", task, true);
      break;
    }
    case "target.checked": {
      const green = event.report.commands.every((command) => command.green);
      if (!green) mark(s, "check", undefined, true);
      s.checks = { green: s.checks.green + (green ? 1 : 0), red: s.checks.red + (green ? 0 : 1) };
      break;
    }
    default: // The rest is in the state.
  }
  return story;
}

function noteConflict(s: StoryDraft, { task, failure, handoff }: EventOf<"task.retried" | "task.failed">) {
  if (failure.kind === "conflict" && handoff) s.conflicts.push({ task, files: handoff.filesChanged });
}

function endWait(s: StoryDraft, task: TaskId, at: number): void {
  const held = s.heldBack.get(task);
  if (!held) return;
  s.heldBack.delete(task);
  s.fileWaits.push({ task, behind: held.behind, ms: at - held.at });
}

/** Who works in the checkout meanwhile changes it again and again. */
const MAX_TOLD = 20;

/** What of a job runs commands of the repository, outside of an agent's turn. */
export const duringOf = (job: JobId): string =>
  taskOfJob(job) === undefined ? "a gate ran" : "a set-up command or a criterion ran";

/** What only an engine that takes up an old run says. */
const isRestart = (event: Event) =>
  event.type === "run.resumed" || (event.type === "job.ended" && event.how === "interrupted");

/** Until when a job was at work that nobody saw end is not known, so its time is not counted. */
function jobEnded(s: StoryDraft, { job, how, at, spent }: EventOf<"job.ended">): void {
  const since = s.since.get(job);
  if (since === undefined) return;
  const index = s.spans.findLastIndex((span) => span.job === job);
  const span = s.spans[index]!;
  s.spans[index] = {
    ...span,
    to: at,
    how,
    tokens: spent?.tokens ?? 0,
    microdollars: spent?.microdollars ?? 0,
    ...((how !== "answered" || span.kind === "land") && { isFailed: true }), // Until it is said to have landed.
  };
  s.since.delete(job);
  if (how !== "interrupted") s.jobs[job.slice(0, job.search(/[:#]/)) as JobKind].ms += at - since;
}

/** Of the newest job of a kind, for a task. */
function mark(s: StoryDraft, kind: JobKind, task: TaskId | undefined, isFailed: true | undefined): void {
  const index = s.spans.findLastIndex(
    (span) => span.kind === kind && (task === undefined || span.tasks.includes(task)),
  );
  const { isFailed: _, ...span } = s.spans[index] ?? {};
  if (index >= 0) s.spans[index] = { ...(span as JobSpan), ...(isFailed && { isFailed }) };
}

const spanOf = ({ job, at }: EventOf<"job.started">): JobSpan => ({
  job: jobId(job),
  kind: job.kind,
  tasks: job.kind === "check" ? [] : job.kind === "land" ? job.members.map(({ task }) => task) : [job.task],
  number: job.kind === "work" ? job.attempt : job.turn,
  from: at,
  tokens: 0,
  microdollars: 0,
});
