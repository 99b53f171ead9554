/** Runs one job of a fleet on a worker: fetches its objects, runs the usual job code, and hands in what it made. */
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
  /** Called for each job before it begins. */
  readonly begin: (offered: OfferedJob) => void;
  /** Files of earlier jobs that this job continues. */
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
    // Not `signal`: finished work is handed in even while the worker is being stopped.
    const made = await store.handIn({ offered, tries, ...kept }, AbortSignal.timeout(HAND_IN_MS));
    if (!hasFailed(made)) return { ...result, made };
    // The job's cost counts even if its work could not be handed in.
    return { is: "answer", answer: { ...result.answer, ...failed(made.failure) } };
  } catch (error) {
    return refusedWork(offered, { failure: failure("interrupted", `the worker broke: ${messageOf(error)}`) });
  } finally {
    clearInterval(stream);
    await store.sendFiles(offered);
  }
}

/** In ms: how old the output is, at most, that people see when they follow a job. */
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

/** Notes the last work that each job keeps, whose ref is then handed in. */
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

/** The result of a job that this machine cannot do, in the form of that kind of job. */
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
