/** Every run of the gate with its end, and every search for the task that breaks it, folded from the log. */
import { isGreen } from "../gate.ts";
import { type JobId, jobId, type Member } from "../job.ts";
import { type Event, type EventOf, type Reactions, react } from "../log/event.ts";
import type { TaskId } from "../task.ts";

/** `stopped`: it ended without an answer. `error`: it could not be run, or the target could not be moved. */
export type GateEnd = "passed" | "failed" | "conflict" | "stopped" | "error";

/** By the run's own clock. `to` and `end` are undefined while it runs. */
export type GatedRun = {
  readonly job: JobId;
  readonly kind: "land" | "check";
  /** Of a check that only asks whether the gate looks at the target. */
  readonly isProbe?: true;
  readonly members: readonly Member[];
  /** Of a candidate that was gated ahead of its turn: on how many others it was built. */
  readonly on: number;
  readonly from: number;
  readonly to?: number;
  readonly end?: GateEnd;
};

/** From the first red run of a candidate until its guilty member is refused, or until the question is dropped. */
export type Search = {
  readonly from: number;
  readonly to?: number;
  readonly members: readonly Member[];
  /** What failed. */
  readonly suspects: readonly string[];
  /** Whether the candidate was taken apart; else it was only gated again. */
  readonly isBisected: boolean;
  /** In the order of their starts; the first is the run that was red. */
  readonly runs: readonly JobId[];
  readonly found: readonly Member[];
};

export type GateStory = {
  /** In the order of their starts. */
  readonly runs: readonly GatedRun[];
  readonly searches: readonly Search[];
  /** Where in `runs` a job's run is. */
  readonly placeOf: ReadonlyMap<JobId, number>;
  /** The places of runs without an end, oldest first: few, however long the run of Skein is. */
  readonly open: ReadonlySet<number>;
};

export const emptyGateStory = (): GateStory => ({
  runs: [],
  searches: [],
  placeOf: new Map(),
  open: new Set(),
});

/** Changes `story` in place. */
export const tellGates = (story: GateStory, event: Event): void => react(TELLERS, story as Draft, event);

type Draft = {
  readonly runs: GatedRun[];
  readonly searches: Search[];
  readonly placeOf: Map<JobId, number>;
  readonly open: Set<number>;
};

const TELLERS: Partial<Reactions<Draft>> = {
  "job.started"(s, { job, at: from }) {
    if (job.kind !== "land" && job.kind !== "check") return;
    if (job.kind === "land" && job.moves !== undefined) return; // It gates nothing.
    const { kind } = job;
    const id = jobId(job);
    const members = kind === "land" ? job.members : [];
    const on = kind === "land" ? (job.on?.length ?? 0) : 0;
    const probe = kind === "check" && job.probe ? { isProbe: true as const } : {};
    const place = s.runs.push({ job: id, kind, members, on, from, ...probe }) - 1;
    s.placeOf.set(id, place);
    s.open.add(place);
    const search = openSearch(s);
    if (search && kind === "land" && isWithin(members, search.members))
      replaceLast(s, { ...search, runs: [...search.runs, id] });
  },
  "job.taken": (s, { job, since }) => change(s, s.placeOf.get(job), { from: since }),
  "job.ended"(s, { job, how, at: to }) {
    const isAnswered = how === "answered" || how === "answered-late";
    change(s, s.placeOf.get(job), { to, ...(!isAnswered && { end: "stopped" }) });
  },
  "batch.landed"(s, { members, turn, proof }) {
    if (proof === "found") return;
    const place = turn === undefined ? newestOpen(s, isAnswerOf(members)) : ofTurn(s, turn);
    if (place !== undefined && s.open.has(place)) change(s, place, { end: "passed" });
  },
  "candidate.passed": (s, { turn }) => change(s, ofTurn(s, turn), { end: "passed" }),
  "candidate.failed": (s, { turn, failed }) =>
    change(s, ofTurn(s, turn), { end: failed.is === "red" ? "failed" : "conflict" }),
  "target.checked": (s, { report }) =>
    change(s, newestOpen(s, isUnjudged("check")), { end: isGreen(report) ? "passed" : "failed" }),
  "target.unchecked": (s) => change(s, newestOpen(s, isUnjudged("check")), { end: "error" }),
  "gate.probed": (s, { probed }) =>
    change(s, newestOpen(s, isUnjudged("check")), { end: probed.is === "unproven" ? "failed" : "passed" }),
  "gate.unprobed": (s) => change(s, newestOpen(s, isUnjudged("check")), { end: "error" }),
  "task.retried": refused,
  "task.failed": refused,
  "landing.turned": turned,
};

/** What the last landing answered, where no earlier event said it. */
function turned(s: Draft, { at, phase, failure, isDiscard }: EventOf<"landing.turned">): void {
  if (!isDiscard) {
    const end = failure ? "error" : phase.is === "open" ? "conflict" : "failed";
    change(s, newestOpen(s, isUnjudged("land")), { end });
  }
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
  const red = s.runs.findLast(isAnswerOf(members));
  s.searches.push({ from: at, members, suspects, isBisected, runs: red ? [red.job] : [], found: [] });
}

function refused(s: Draft, { task, failure }: EventOf<"task.retried" | "task.failed">): void {
  if (failure.kind !== "gate-red") return;
  const place = newestOpen(s, (run) => isUnjudged("land")(run) && has(run.members, task));
  change(s, place, { end: "failed" });
  const search = openSearch(s);
  const member = search?.members.find((one) => one.task === task);
  if (search && member) replaceLast(s, { ...search, found: [...search.found, member] });
}

function newestOpen({ runs, open }: Draft, isIt: (run: GatedRun) => boolean): number | undefined {
  return [...open].findLast((place) => isIt(runs[place]!));
}

const ofTurn = ({ placeOf }: Draft, turn: number): number | undefined => placeOf.get(`land#${turn}` as JobId);

function change({ runs, open }: Draft, place: number | undefined, to: Partial<GatedRun>): void {
  if (place === undefined) return;
  runs[place] = { ...runs[place]!, ...to };
  if (runs[place].end !== undefined) open.delete(place);
}

const replaceLast = ({ searches }: Draft, search: Search): void =>
  void searches.splice(searches.length - 1, 1, search);

const openSearch = ({ searches }: Draft): Search | undefined => {
  const last = searches.at(-1);
  return last?.to === undefined ? last : undefined;
};

/** It has answered, and what it answered is in the events that follow. */
const isUnjudged =
  (kind: GatedRun["kind"]) =>
  (run: GatedRun): boolean =>
    run.kind === kind && run.to !== undefined;

/** It has answered, and these were in its candidate; others were left out of it for a conflict. */
const isAnswerOf =
  (members: readonly Member[]) =>
  (run: GatedRun): boolean =>
    run.kind === "land" && run.to !== undefined && isWithin(members, run.members);

const has = (members: readonly Member[], task: TaskId): boolean => members.some((one) => one.task === task);

const isWithin = (some: readonly Member[], all: readonly Member[]): boolean =>
  some.every(({ task }) => has(all, task));
