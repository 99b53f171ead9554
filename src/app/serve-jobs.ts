/** Serves jobs as a worker of a fleet: takes jobs, runs each from its brief alone, and sends the results. */
import { messageOf } from "../core/failure.ts";
import { type Failed, failedWith, hasFailed } from "../core/result.ts";
import type { JobResult, JobSource, OfferedJob, TakenJob } from "../ports/fleet-jobs.ts";
import { type RunBench, refusedWork, runOffered } from "./run-offered.ts";

type ServeRequest = {
  /** How many jobs at once. */
  readonly capacity: number;
  /** How many additional gates at once, so that landings do not wait for slow agents. */
  readonly gates: number;
  /** End after one job. */
  readonly once: boolean;
  readonly onJob?: (what: JobNews) => void;
};

export type JobNews = {
  readonly is: "taken" | "answered" | "late" | "unsent";
  readonly run: string;
  readonly job: string;
  readonly ms: number;
  /** For an answer: its outcome in a word. For `unsent`: why. */
  readonly how?: string;
};

type ServeParts = {
  readonly source: JobSource;
  /** Returns the worker's parts for a job's run, which are opened for the first job of the run. */
  readonly benchOf: (offered: OfferedJob) => Promise<RunBench | Failed>;
};

/** `drain`: take no more jobs. `stop`: also end the running ones, keeping their work. */
type ServeSignals = { readonly drain: AbortSignal; readonly stop: AbortSignal };

/** Takes jobs until `drain`, then waits for the running ones. Returns how many it ran. */
export async function serveJobs(
  { capacity, gates, once, onJob }: ServeRequest,
  parts: ServeParts,
  { drain, stop }: ServeSignals,
): Promise<number> {
  let count = 0;
  const enough = new AbortController();
  const lane = async (what: "any" | "gate") => {
    while (!drain.aborted && !enough.signal.aborted) {
      const taken = await parts.source.next(AbortSignal.any([drain, enough.signal]), what);
      if (!taken) return;
      if (once) enough.abort();
      await serveOne(taken, parts, stop, onJob);
      count += 1;
    }
  };
  const lanes = (count: number, what: "any" | "gate") => Array.from({ length: count }, () => lane(what));
  await Promise.all(once ? lanes(1, "any") : [...lanes(capacity, "any"), ...lanes(gates, "gate")]);
  return count;
}

async function serveOne(
  taken: TakenJob,
  { benchOf }: ServeParts,
  stop: AbortSignal,
  onJob: ServeRequest["onJob"],
): Promise<void> {
  const { run, job } = taken.offered;
  const from = performance.now();
  const tell = (is: JobNews["is"], how?: string) =>
    onJob?.({ is, run, job, ms: performance.now() - from, ...(how !== undefined && { how }) });
  tell("taken");
  const signal = AbortSignal.any([stop, taken.lost]);
  const bench = await benchOf(taken.offered).catch(broken);
  const result = hasFailed(bench)
    ? refusedWork(taken.offered, bench)
    : await runOffered(taken, bench, signal);
  const sent = await taken.answer(result);
  if (sent === "taken") tell("answered", wordOf(result));
  else if (sent === "late") tell("late");
  else tell("unsent", sent.failure.message);
}

/** Opens the parts of a run with its first job here, and closes them when the worker ends. */
export class Benches<Opened extends RunBench & { close(): Promise<void> }> implements AsyncDisposable {
  readonly #open: (offered: OfferedJob) => Promise<Opened | Failed>;
  readonly #known = new Map<string, Promise<Opened | Failed>>();

  constructor(open: (offered: OfferedJob) => Promise<Opened | Failed>) {
    this.#open = open;
  }

  async of(offered: OfferedJob): Promise<RunBench | Failed> {
    const { runId } = offered;
    const open = this.#known.get(runId) ?? this.#open(offered);
    this.#known.set(runId, open);
    const bench = await open;
    if (hasFailed(bench)) this.#known.delete(runId); // Opening it may succeed the next time.
    return bench;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const known of this.#known.values()) {
      const bench = await known;
      if (!hasFailed(bench)) await bench.close();
    }
  }
}

const broken = (error: unknown): Failed =>
  failedWith("interrupted", `the worker cannot open the run: ${messageOf(error)}`);

function wordOf(result: JobResult): string {
  switch (result.is) {
    case "answer":
      return result.answer.outcome.is;
    case "gated":
      return hasFailed(result.gated) ? "failed" : "gated";
    case "probed":
      return "failure" in result.probed ? "failed" : result.probed.is;
  }
}
