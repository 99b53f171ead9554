/** The history of a run that the state does not keep: landings, failed attempts, and times. */

import type { Failure } from "../failure.ts";
import { type GateRecord, isGreen } from "../gate.ts";
import { CHECKOUT_CHANGED, checkoutChanged } from "../handoff.ts";
import { type JobId, jobId, type Member, taskOfJob } from "../job.ts";
import type { Writable } from "../log/draft.ts";
import {
  type Charge,
  type Event,
  type EventOf,
  type JobEnd,
  type Reactions,
  type RunEnd,
  react,
} from "../log/event.ts";
import type { JobKind } from "../rules/policy.ts";
import { ROOT, type TaskId } from "../task.ts";
import { emptyGateStory, type GateStory, tellGates } from "./gate-story.ts";
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
  /** When each job that is running was started, or was taken by a machine. */
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
  /** Attempts of workers that ended and said nothing of what they had cost. */
  readonly unreported: number;
  readonly gates: GateStory;
  readonly tally: Tally;
};

export type FileWait = { readonly task: TaskId; readonly behind: TaskId; readonly ms: number };

/** One job's time, by the run's own clock; `to` is undefined while it runs. */
export type JobSpan = {
  readonly job: JobId;
  readonly kind: JobKind;
  readonly tasks: readonly TaskId[];
  readonly number: number;
  /** Of a fleet: the one that took it last. */
  readonly machine?: string;
  readonly from: number;
  readonly to?: number;
  /** At its start: its workspace was made ready, and its agent or gate had not begun. */
  readonly prepareMs?: number;
  readonly how?: JobEnd;
  /** It ended, and to no good: an attempt that did not count, a plan that was rejected, a gate that failed. */
  readonly isFailed?: true;
  readonly tokens: number;
  readonly microdollars: number;
  /** Of a landing or a check: the runs of the gate. */
  readonly gates?: readonly GateRecord[];
};

/** A move of the target, and why it could be made. */
export type LandedStory = Omit<EventOf<"batch.landed">, "type" | "ran">;

/** An attempt of a worker, or a turn of a planner, that failed and was retried. */
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
  unreported: 0,
  gates: emptyGateStory(),
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
  tellGates(s.gates, event);
  react(TELLERS, s, event);
  return story;
}

/** The rest is in the state. */
const TELLERS: Partial<Reactions<StoryDraft>> = {
  "run.closed"(s, { at, how }) {
    s.closed = { at, how };
  },
  "job.started"(s, event) {
    const { job, at } = event;
    s.since.set(jobId(job), at);
    s.jobs[job.kind].count += 1;
    s.spans.push(spanOf(event));
    if (job.kind === "work") endWait(s, job.task, at);
    if (job.kind === "land" && job.moves === undefined)
      s.candidates.push({ job: jobId(job), members: job.members });
  },
  /** What it waited for a machine is not its time. */
  "job.taken"(s, { job, machine, since }) {
    if (s.since.has(job)) s.since.set(job, since);
    const index = s.spans.findLastIndex((span) => span.job === job);
    if (index >= 0) s.spans[index] = { ...s.spans[index]!, machine, from: since };
  },
  /** Nor is the time in which its workspace was made ready. */
  "job.prepared"(s, { job, ms }) {
    const since = s.since.get(job);
    if (since !== undefined) s.since.set(job, since + ms);
    const index = s.spans.findLastIndex((span) => span.job === job);
    if (index >= 0) s.spans[index] = { ...s.spans[index]!, prepareMs: (s.spans[index]!.prepareMs ?? 0) + ms };
  },
  "job.ended": jobEnded,
  "batch.landed"(s, { at, commit, members, proof, flaky, flags }) {
    s.landings.push({ at, commit, members, proof, flaky, ...(flags && { flags }) });
    if (proof !== "found") mark(s, "land", members[0]?.task, undefined);
  },
  "candidate.passed": (s, { passed }) => mark(s, "land", passed.members[0]?.task, undefined),
  // Another attempt answers for itself; that the user's files were touched stays so.
  "task.handed-off": (s, { task, handoff }) => noteConcerns(s, task, handoff.concerns, saysCheckout),
  "task.failed"(s, event) {
    const { task, handoff } = event;
    noteConflict(s, event);
    mark(s, "work", task, true);
    if (handoff) noteConcerns(s, task, handoff.concerns, saysCheckout);
  },
  "task.done": (s, { task, handoff }) => noteConcerns(s, task, handoff.concerns),
  "checkout.changed"(s, { job, places }) {
    if ((s.concerns.get(ROOT) ?? []).length < MAX_TOLD)
      noteConcerns(s, ROOT, [checkoutChanged(duringOf(job), places)]);
  },
  "task.held-back"(s, { task, behind, at }) {
    endWait(s, task, at); // It goes on waiting, behind another.
    s.heldBack.set(task, { behind, at });
  },
  "question.asked"(s) {
    s.questions += 1;
  },
  "task.retried"(s, event) {
    const { at, task, attempt, charge, failure } = event;
    noteConflict(s, event);
    s.failedAttempts.push({ at, task, of: "work", attempt, charge, failure });
    mark(s, "work", task, true);
  },
  "plan.rejected"(s, { at, task, charge, failure }) {
    s.failedAttempts.push({ at, task, of: "plan", charge, failure });
    mark(s, "plan", task, true);
  },
  "target.checked"(s, { report }) {
    const how = isGreen(report) ? "green" : "red";
    if (how === "red") mark(s, "check", undefined, true);
    s.checks = { ...s.checks, [how]: s.checks[how] + 1 };
  },
};

const saysCheckout = (text: string) => text.startsWith(CHECKOUT_CHANGED);

function noteConcerns(
  s: StoryDraft,
  task: TaskId,
  said: readonly string[],
  isKept: (before: string) => boolean = () => true,
): void {
  s.concerns.set(task, [...new Set([...(s.concerns.get(task) ?? []).filter(isKept), ...said])]);
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
function jobEnded(s: StoryDraft, { job, how, at, spent, gates }: EventOf<"job.ended">): void {
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
    ...(gates && { gates }),
    ...((how !== "answered" || span.kind === "land") && { isFailed: true }), // Until it is said to have landed.
  };
  s.since.delete(job);
  if (span.kind === "work" && how === "answered" && saysNothing(spent)) s.unreported += 1;
  if (how !== "interrupted") s.jobs[job.slice(0, job.search(/[:#]/)) as JobKind].ms += at - since;
}

const saysNothing = (spent: EventOf<"job.ended">["spent"]): boolean =>
  !spent || (spent.tokens === 0 && !spent.microdollars && !spent.unaccounted);

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
