/** How does a worker run one job of a fleet? Objects come first, then the same job code as anywhere, then what it made. */
import type { Brief } from "../core/brief.ts";
import { failure, messageOf } from "../core/failure.ts";
import type { GateRecord } from "../core/gate.ts";
import type { JobId } from "../core/job.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import { failed, type JobParts } from "../jobs/job-parts.ts";
import { jobRunner } from "../jobs/run-job.ts";
import type { JobResult, OfferedJob, TakenJob, WorkerStore } from "../ports/fleet-jobs.ts";
import type { Keepsake, Workspaces } from "../ports/workspaces.ts";

/** What a machine has for the jobs of one run. */
export type RunBench = {
  readonly jobs: JobParts;
  readonly store: WorkerStore;
  /** Hears of each job before it is begun. */
  readonly begin: (offered: OfferedJob) => void;
  /** Files of earlier jobs that this one goes on from. */
  readonly filesFor: (brief: Brief) => readonly string[];
};

/** Never throws. */
export async function runOffered(
  { offered, tries }: Pick<TakenJob, "offered" | "tries">,
  { jobs, store, filesFor, begin }: RunBench,
  signal: AbortSignal,
): Promise<JobResult> {
  const { permit, job, what } = offered;
  begin(offered);
  const missing = await store.fetchCommits(offered.needs, signal);
  if (missing) return refusedWork(offered, missing);
  if (what.is === "brief") await store.fetchFiles(permit, filesFor(what.brief));
  let kept: KeptWork | undefined;
  const workspaces = recorded(jobs.workspaces, (of, work) => {
    if (of === job) kept = work;
  });
  const stream = setInterval(() => void store.sendTranscripts(offered), STREAM_MS);
  try {
    const result = await run(offered, { ...jobs, workspaces }, signal);
    if (result.is !== "answer" || !kept) return result;
    // Also when the worker is being stopped: the work is done.
    const made = await store.handIn({ offered, tries, ...kept }, AbortSignal.timeout(HAND_IN_MS));
    if (!hasFailed(made)) return { ...result, made };
    // The cost of a job counts, even if what it made could not be handed in.
    return { is: "answer", answer: { ...result.answer, ...failed(made.failure) } };
  } catch (error) {
    return refusedWork(offered, { failure: failure("interrupted", `the worker broke: ${messageOf(error)}`) });
  } finally {
    clearInterval(stream);
    await store.sendFiles(offered);
  }
}

/** People who follow a job see what it wrote after this long. */
const STREAM_MS = 2_000;
const HAND_IN_MS = 15 * 60_000;

async function run({ what }: OfferedJob, jobs: JobParts, signal: AbortSignal): Promise<JobResult> {
  switch (what.is) {
    case "brief":
      return { is: "answer", answer: await jobRunner(jobs)(what.brief, signal) };
    case "gate": {
      const runs: GateRecord[] = [];
      const gated = await jobs.gate.run({ ...what.tree, onRun: (run) => runs.push(run) }, signal);
      return { is: "gated", gated, runs };
    }
    case "probe":
      return { is: "probed", probed: await jobs.gate.probe(what.tree, what.report, signal) };
  }
}

type KeptWork = Pick<Keepsake, "ref"> & { readonly commit: string };

/** What a job keeps is here first: its name says what is to be handed in. */
const recorded = (workspaces: Workspaces, onKept: (job: JobId, work: KeptWork) => void): Workspaces => ({
  take: (want, signal) => workspaces.take(want, signal),
  release: (workspace, isSpoilt) => workspaces.release(workspace, isSpoilt),
  heldBy: (job) => workspaces.heldBy(job),
  leftovers: (workspace, signal) => workspaces.leftovers(workspace, signal),
  keep: async (workspace, as, signal) => {
    const done = await workspaces.keep(workspace, as, signal);
    if (!hasFailed(done) && done.commit !== undefined)
      onKept(workspace.job, { ref: as.ref, commit: done.commit });
    return done;
  },
});

/** A machine that cannot do a job says so, in the words of that kind of job. */
export function refusedWork({ what }: Pick<OfferedJob, "what">, why: Failed): JobResult {
  switch (what.is) {
    case "brief":
      return { is: "answer", answer: failed(why.failure) };
    case "gate":
      return { is: "gated", gated: why };
    case "probe":
      return { is: "probed", probed: why };
  }
}
