/** Cleans up after a killed process: ends its programs, and keeps what its jobs had made. */
import type { Brief, WorkBrief } from "../core/brief.ts";
import type { JobId, Spent } from "../core/job.ts";
import { hasFailed } from "../core/result.ts";
import type { TaskId } from "../core/task.ts";
import { type JobParts, jobIdOf } from "../jobs/job-parts.ts";
import { collectJob, isCut } from "../jobs/run-job.ts";
import { recallUnkept, salvageRefOf } from "../jobs/work.ts";
import type { Answer } from "../ports/job-queue.ts";
import type { Programs } from "../ports/programs.ts";
import type { DiskSpace, Want, Workspace, Workspaces } from "../ports/workspaces.ts";

export type Leftovers = {
  readonly run: string;
  readonly files: JobRecords;
  readonly programs: Pick<Programs, "endLeftovers"> & { endAll(): Promise<number> };
  readonly workspaces: HeldWorkspaces;
  readonly jobs: JobParts;
  /** The run is over: other runs may use what was reserved for it. */
  readonly leave: () => void;
};

/** The records of a run's jobs on the disk. */
type JobRecords = {
  open(): Promise<readonly OpenJob[]>;
  end(id: JobId, answer: Answer): Promise<void>;
  cut(id: JobId, spent: Spent): Promise<void>;
  answerOf(id: JobId): Promise<Answer | undefined>;
  briefOf(id: JobId): Promise<Brief | undefined>;
};

/**
 * `isOfEarlierBoot`: the machine was restarted since, so files that the job's programs wrote may be missing or empty.
 */
type OpenJob = { readonly id: JobId; readonly brief: Brief; readonly isOfEarlierBoot: boolean };

type HeldWorkspaces = Workspaces & {
  holders(): Promise<readonly Pick<Want, "job" | "use">[]>;
  /** Removes workspaces that no process uses. Returns what stays, and why. */
  close(): Promise<readonly string[]>;
  space(): Promise<DiskSpace>;
};

const NEVER = new AbortController().signal;

/**
 * Ends programs that are still running, keeps finished work as an answer, and gives every workspace back. Jobs are
 * collected side by side, because criteria may take long. If `signal` aborts, the rest is left to the next engine.
 */
export async function collectLeftovers(left: Leftovers, signal: AbortSignal): Promise<void> {
  const { files, programs, jobs } = left;
  const collect = async ({ id, brief, isOfEarlierBoot }: OpenJob) => {
    const isEnded = (await programs.endLeftovers(id)) === 0;
    const wasRunning = isOfEarlierBoot || !(isEnded || (await hasCalled(brief, jobs)));
    const found = await collectJob(brief, jobs, wasRunning, signal);
    if (found && isCut(found)) await files.cut(id, found.spent);
    else if (found && !(signal.aborted && isInterrupted(found))) await files.end(id, found);
  };
  await Promise.all((await files.open()).map(collect));
  if (signal.aborted) return;
  await programs.endAll();
  await keepHeld(left, { isOver: false });
}

/** Its call was acknowledged, so it only had to exit. */
const hasCalled = async (brief: Brief, { worker }: JobParts): Promise<boolean> =>
  brief.kind === "work" && (await worker.collect(jobIdOf(brief)))?.is === "called";

const isInterrupted = ({ outcome }: Answer): boolean =>
  outcome.is === "failed" && outcome.failure.kind === "interrupted";

/** At the end of a run: removes its workspaces, except for work that could not be kept. Returns what stays, and why. */
export async function giveBackAll(left: Leftovers): Promise<readonly string[]> {
  left.leave();
  await keepHeld(left, { isOver: true });
  return left.workspaces.close();
}

/**
 * Tries again to keep work that could not be kept when its job ended; if that fails, it stays where it is. While the
 * run goes on, the work of a turn that succeeded is left to the next attempt at its task.
 */
async function keepHeld(
  { run, files, workspaces, jobs }: Leftovers,
  { isOver }: { readonly isOver: boolean },
): Promise<void> {
  for (const { job, use } of await workspaces.holders()) {
    const brief = use === "agent" ? await files.briefOf(job) : undefined;
    const workspace = await workspaces.heldBy(job);
    const outcome = (await files.answerOf(job))?.outcome;
    // Work that was handed in is a branch already, and a gate's workspace holds no work.
    const isKept = use !== "agent" || (outcome !== undefined && KEPT.has(outcome.is));
    const isMachines = outcome?.is === "failed" && outcome.failure.kind === "repository";
    const isFinished =
      !isOver && isMachines && brief?.kind === "work" && !(await hasLaterResult(brief, files));
    if (workspace && isKept) await workspaces.release(workspace);
    else if (workspace && isFinished && (await recallUnkept(brief, workspace, jobs))) continue;
    else if (brief) await collectJob(brief, jobs, true, NEVER);
    else if (workspace && (await isSalvaged(run, workspace, workspaces))) await workspaces.release(workspace);
  }
}

/** `answered`, `passed-on`: a worker that only answered its subtask has no work of its own. */
const KEPT: ReadonlySet<string> = new Set<Answer["outcome"]["is"]>([
  "worked",
  "called",
  "answered",
  "passed-on",
]);

/** True if a later attempt has handed that work in, and its engine was killed before it released the workspace. */
async function hasLaterResult(brief: WorkBrief, files: JobRecords): Promise<boolean> {
  for (let attempt = brief.attempt + 1; ; attempt += 1) {
    const job = jobIdOf({ ...brief, attempt });
    if ((await files.briefOf(job)) === undefined) return false;
    const outcome = (await files.answerOf(job))?.outcome.is;
    if (outcome === "worked" || outcome === "called") return true;
  }
}

/** Salvages work under the name of its job if the brief is lost. A planner's changes are not kept. */
async function isSalvaged(run: string, workspace: Workspace, workspaces: Workspaces): Promise<boolean> {
  const [, task, attempt] = /^work:(.+)#(\d+)$/.exec(workspace.job) ?? [];
  if (task === undefined) return true;
  const ref = salvageRefOf({ run, task: task as TaskId, attempt: Number(attempt) });
  const message = `Found in the workspace of ${workspace.job}, whose brief is lost`;
  return !hasFailed(await workspaces.keep(workspace, { ref, message }, NEVER));
}
