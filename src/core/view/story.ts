/** Folds the log into the history that the state does not keep: landings, failed attempts, and times. */

import type { Failure } from "../failure.ts";
import { isGreen } from "../gate.ts";
import { CHECKOUT_CHANGED, checkoutChanged } from "../handoff.ts";
import { type JobId, taskOfJob } from "../job.ts";
import type { Writable } from "../log/draft.ts";
import { type Charge, type Event, type EventOf, type Reactions, type RunEnd, react } from "../log/event.ts";
import type { JobKind } from "../rules/policy.ts";
import { ROOT, type TaskId } from "../task.ts";
import { type Search, tellSearches } from "./gate-searches.ts";
import { foldSpans, type JobSpan, type JobSpans, noSpans, ranMs } from "./job-spans.ts";
import { count, emptyTally, type Tally } from "./tally.ts";

export type Story = {
  readonly events: number;
  /** When the newest event was decided. */
  readonly lastAt: number;
  /** How long no engine drove the run, as far as the log shows; and when that was. */
  readonly idleMs: number;
  readonly stops: readonly { readonly from: number; readonly to: number }[];
  readonly landings: readonly LandedStory[];
  readonly failedAttempts: readonly RetriedAttempt[];
  readonly jobs: Readonly<Record<JobKind, { readonly count: number; readonly ms: number }>>;
  readonly checks: { readonly green: number; readonly red: number };
  /** The concerns of each task's newest attempt. */
  readonly concerns: ReadonlyMap<TaskId, readonly string[]>;
  readonly spans: JobSpans;
  readonly closed: { readonly at: number; readonly how: RunEnd } | undefined;
  /** How long tasks waited for files that another task had. */
  readonly fileWaits: readonly FileWait[];
  /** Tasks that wait for files now, the task that has them, and since when. */
  readonly heldBack: ReadonlyMap<TaskId, { readonly behind: TaskId; readonly at: number }>;
  /** Attempts that were refused for a conflict, with all files that they had changed. */
  readonly conflicts: readonly { readonly task: TaskId; readonly files: readonly string[] }[];
  /** How many questions workers have asked. */
  readonly questions: number;
  /** Ended attempts of workers that reported no cost. */
  readonly unreported: number;
  /** Searches for a task that breaks the gate, oldest first. */
  readonly searches: readonly Search[];
  readonly tally: Tally;
};

export type FileWait = { readonly task: TaskId; readonly behind: TaskId; readonly ms: number };

/** A move of the target, and the proof for it. */
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

type Lists = "landings" | "failedAttempts" | "jobs" | "stops" | "fileWaits" | "conflicts";
type StoryDraft = Writable<Omit<Story, Lists>> & {
  readonly stops: { readonly from: number; readonly to: number }[];
  readonly fileWaits: FileWait[];
  readonly conflicts: { readonly task: TaskId; readonly files: readonly string[] }[];
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
  jobs: {
    plan: { count: 0, ms: 0 },
    work: { count: 0, ms: 0 },
    land: { count: 0, ms: 0 },
    check: { count: 0, ms: 0 },
  },
  checks: { green: 0, red: 0 },
  concerns: new Map(),
  spans: noSpans(),
  closed: undefined,
  fileWaits: [],
  heldBack: new Map(),
  conflicts: [],
  questions: 0,
  unreported: 0,
  searches: [],
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
  const over = foldSpans(s.spans, event);
  if (over) jobOver(s, over);
  count(s.tally, event, { spans: s.spans, over });
  tellSearches(s.searches, event, s.spans);
  react(TELLERS, s, event);
  return story;
}

/** All other facts are in the state. */
const TELLERS: Partial<Reactions<StoryDraft>> = {
  "run.closed"(s, { at, how }) {
    s.closed = { at, how };
  },
  "job.started"(s, { job, at }) {
    s.jobs[job.kind].count += 1;
    if (job.kind === "work") endWait(s, job.task, at);
  },
  "batch.landed"(s, { at, commit, members, proof, flaky, flags }) {
    s.landings.push({ at, commit, members, proof, flaky, ...(flags && { flags }) });
  },
  // A new attempt has its own concerns, but a change of the user's checkout stays on record.
  "task.handed-off": (s, { task, handoff }) => noteConcerns(s, task, handoff.concerns, saysCheckout),
  "task.failed"(s, event) {
    const { task, handoff } = event;
    noteConflict(s, event);
    if (handoff) noteConcerns(s, task, handoff.concerns, saysCheckout);
  },
  "task.done": (s, { task, handoff }) => noteConcerns(s, task, handoff.concerns),
  "checkout.changed"(s, { job, places }) {
    if ((s.concerns.get(ROOT) ?? []).length < MAX_TOLD)
      noteConcerns(s, ROOT, [checkoutChanged(duringOf(job), places)]);
  },
  "task.held-back"(s, { task, behind, at }) {
    endWait(s, task, at); // It keeps waiting, behind another task.
    s.heldBack.set(task, { behind, at });
  },
  "question.asked"(s) {
    s.questions += 1;
  },
  "task.retried"(s, event) {
    const { at, task, attempt, charge, failure } = event;
    noteConflict(s, event);
    s.failedAttempts.push({ at, task, of: "work", attempt, charge, failure });
  },
  "plan.rejected"(s, { at, task, charge, failure }) {
    s.failedAttempts.push({ at, task, of: "plan", charge, failure });
  },
  "target.checked"(s, { report }) {
    const how = isGreen(report) ? "green" : "red";
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

/** Bounded, because a user who works in the checkout changes it again and again. */
const MAX_TOLD = 20;

/** Which part of a job runs commands of the repository, outside of an agent's turn. */
export const duringOf = (job: JobId): string =>
  taskOfJob(job) === undefined ? "a gate ran" : "a set-up command or a criterion ran";

/** Events that only a resuming engine writes. */
const isRestart = (event: Event) =>
  event.type === "run.resumed" || (event.type === "job.ended" && event.how === "interrupted");

function jobOver(s: StoryDraft, span: JobSpan): void {
  const { kind, how, spent } = span;
  if (kind === "work" && how === "answered" && saysNothing(spent)) s.unreported += 1;
  s.jobs[kind].ms += ranMs(span);
}

const saysNothing = (spent: JobSpan["spent"]): boolean =>
  !spent || (spent.tokens === 0 && !spent.microdollars && !spent.unaccounted);
