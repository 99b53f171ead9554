/** Folds the log into searches for a task that breaks the gate: which candidates each one gated, and what it found. */
import type { JobId, Member } from "../job.ts";
import { type Event, type EventOf, type Reactions, react } from "../log/event.ts";
import type { TaskId } from "../task.ts";
import { isGates, type JobSpans } from "./job-spans.ts";

/** From the first red run of a candidate until its guilty member is refused, or until the search is dropped. */
export type Search = {
  readonly from: number;
  readonly to?: number;
  readonly members: readonly Member[];
  /** The failures that the search is about. */
  readonly suspects: readonly string[];
  /** True if the candidate was bisected; else it was only gated again. */
  readonly isBisected: boolean;
  /** In the order of their starts; the first is the run that was red. */
  readonly runs: readonly JobId[];
  readonly found: readonly Member[];
};

type Draft = { readonly searches: Search[]; readonly spans: JobSpans };

/** Changes `searches` in place; `spans` are the jobs after this event. */
export const tellSearches = (searches: readonly Search[], event: Event, spans: JobSpans): void =>
  react(TELLERS, { searches: searches as Search[], spans }, event);

const TELLERS: Partial<Reactions<Draft>> = {
  "job.started"(s) {
    const run = s.spans.all.at(-1)!;
    const search = openSearch(s);
    if (search && run.kind === "land" && isGates(run) && isWithin(run.members, search.members))
      replaceLast(s, { ...search, runs: [...search.runs, run.job] });
  },
  "task.retried": refused,
  "task.failed": refused,
  "landing.turned": turned,
};

function turned(s: Draft, { at, phase }: EventOf<"landing.turned">): void {
  const search = openSearch(s);
  if (phase.is === "open") {
    if (search) replaceLast(s, { ...search, to: at });
    return;
  }
  const members = phase.is === "bisect" ? phase.guilty : phase.members;
  const isBisected = phase.is === "bisect";
  if (search && isWithin(members, search.members)) {
    if (isBisected) replaceLast(s, { ...search, isBisected });
    return;
  }
  if (search) replaceLast(s, { ...search, to: at });
  const suspects = phase.is === "again" ? phase.failures : phase.suspects;
  const red = s.spans.all.findLast(
    (run) => run.kind === "land" && isGates(run) && run.to !== undefined && isWithin(members, run.members),
  );
  s.searches.push({ from: at, members, suspects, isBisected, runs: red ? [red.job] : [], found: [] });
}

function refused(s: Draft, { task, failure }: EventOf<"task.retried" | "task.failed">): void {
  if (failure.kind !== "gate-red") return;
  const search = openSearch(s);
  const member = search?.members.find((one) => one.task === task);
  if (search && member) replaceLast(s, { ...search, found: [...search.found, member] });
}

const replaceLast = ({ searches }: Draft, search: Search): void =>
  void searches.splice(searches.length - 1, 1, search);

const openSearch = ({ searches }: Draft): Search | undefined => {
  const last = searches.at(-1);
  return last?.to === undefined ? last : undefined;
};

const has = (members: readonly Member[], task: TaskId): boolean => members.some((one) => one.task === task);

const isWithin = (some: readonly Member[], all: readonly Member[]): boolean =>
  some.every(({ task }) => has(all, task));
