/** Counts the gate runs until a batch's one culprit is found, at every place in the batch, in real git. */
import type { Brief } from "../../src/core/brief.ts";
import { type Job, jobId } from "../../src/core/job.ts";
import type { Event } from "../../src/core/log/event.ts";
import { defaultPolicy, type Policy } from "../../src/core/rules/policy.ts";
import type { History, Makes, Planted } from "./plant.ts";
import { type Played, play } from "./play.ts";
import { makePlace, type Place, PROOFS, TARGET } from "./repository.ts";
import { Tally } from "./tally.ts";

export type Found = {
  /** The number of members in the first candidate with the culprit. */
  readonly size: number;
  /** The gate runs of landings and checks, from that candidate's first one until the culprit was refused, inclusive. */
  readonly gateRuns: number;
  /** The keys of all tasks that were refused. */
  readonly refused: readonly string[];
};

export const mostRuns = (size: number): number => Math.ceil(Math.log2(size)) + 4;

/** The number of tasks that have to land before the policy makes large batches. */
const WARM = 40;

const POLICY: Policy = {
  ...defaultPolicy,
  capacity: { plan: 1, work: 128 },
  root: { ...defaultPolicy.root, replanAfter: 1_000 },
  landing: { ...defaultPolicy.landing, maxBatch: 64 },
};

/** The target and its proofs, to be put back there. */
type Refs = readonly (readonly [ref: string, commit: string])[];

/** A run without failures so far, from which any number of bisections can start. */
export class WarmRun implements AsyncDisposable {
  readonly #place: Place;
  readonly #since: readonly Event[];
  readonly #refs: Refs;

  private constructor(place: Place, since: readonly Event[], refs: Refs) {
    this.#place = place;
    this.#since = since;
    this.#refs = refs;
  }

  static async start(): Promise<WarmRun> {
    const place = await makePlace(new Map([["src/first.txt", "text: the first\n"]]));
    const warm = Array.from({ length: WARM }, (_, i) => task(`warm${i}`, 0, { is: "plain" }));
    const stopAt = (brief: Brief) => brief.kind === "plan" && !brief.first;
    const { events, end } = await play(historyOf(warm), place, { stopAt, msOf });
    if (end.is !== "stopped") throw new Error(`the first run did not stop where it should: ${end.is}`);
    const refs = await Promise.all(
      [TARGET, PROOFS].map(async (ref) => [ref, await place.git("rev-parse", ref)] as const),
    );
    return new WarmRun(place, events, refs);
  }

  /** `n` tasks wait while another task is gated, and are then one candidate; the task at `at` is bad. */
  async bisect(n: number, at: number): Promise<Found> {
    const moves = this.#refs.map(([ref, commit]) => `update ${ref} ${commit}\n`);
    await this.#place.gitWith(moves.join(""), "update-ref", "--stdin");
    const first = task(FIRST, 1, { is: "plain" });
    const batch = Array.from({ length: n }, (_, i) =>
      task(`w${i}`, 1, i === at ? { is: "bad", how: "fails", times: 1 } : { is: "plain" }),
    );
    const stopAt = (brief: Brief) => brief.kind === "work" && brief.attempt > 1;
    const played = await play(historyOf([first, ...batch]), this.#place, {
      since: this.#since,
      stopAt,
      msOf,
    });
    return found(played, this.#since.length, `w${at}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#place[Symbol.asyncDispose]();
  }
}

const FIRST = "first";

/** While the first task is gated, all others are made. A gate run is short, so that no sweep comes between. */
const msOf = (brief: Brief): number =>
  brief.kind === "land" || brief.kind === "check"
    ? 1_000
    : brief.kind === "work" && brief.spec.key !== FIRST
      ? 1_500
      : 1_000;

const task = (key: string, sprint: number, makes: Makes): Planted => ({
  key,
  sprint,
  priority: 5,
  after: [],
  makes,
  commits: 1,
});

const historyOf = (tasks: readonly Planted[]): History => ({
  seed: 1,
  policy: POLICY,
  base: new Map(),
  tasks,
  stubborn: new Map(),
  outsiders: [],
  baseMovesAtMs: [],
  flaky: 0,
  outageInRun: undefined,
  staged: false,
  versions: undefined,
  tally: new Tally(),
});

function found({ events, gate }: Played, since: number, culprit: string): Found {
  const fresh = events.slice(since);
  const keys = new Map<string, string>();
  for (const event of events) {
    if (event.type === "plan.accepted") for (const { id, spec } of event.into) keys.set(id, spec.key);
  }
  const isIn = (job: Job) =>
    job.kind === "land" && job.members.some((member) => keys.get(member.task) === culprit);
  const begun = fresh.flatMap((event) =>
    event.type === "job.started" && isIn(event.job) ? [event.job] : [],
  )[0];
  if (begun?.kind !== "land") throw new Error(`${culprit} was never in a candidate`);
  const refused = fresh.flatMap((event, i) =>
    event.type === "task.retried" || event.type === "task.failed" ? [{ key: keys.get(event.task)!, i }] : [],
  );
  const when = refused.find(({ key }) => key === culprit)?.i ?? fresh.length;
  const last = fresh.slice(0, when).findLast((event) => event.type === "job.ended");
  const runOf = (job: string | undefined) => gate.runs.findIndex((run) => run.job === job);
  const gateRuns = runOf(last?.type === "job.ended" ? last.job : undefined) - runOf(jobId(begun)) + 1;
  return { size: begun.members.length, gateRuns, refused: refused.map(({ key }) => key) };
}

/** Gives the problem of one bisection in words; undefined if there is none. */
export function bisectProblem({ size, gateRuns, refused }: Found, at: number): string | undefined {
  if (refused.join() !== `w${at}`) return `refused: ${refused.join(", ") || "nobody"}, and not w${at} alone`;
  const most = mostRuns(size);
  return gateRuns <= most ? undefined : `found in ${gateRuns} gate runs, and ${most} are enough for ${size}`;
}
