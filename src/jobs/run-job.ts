/** Who does which kind of job? Each kind is a function of its brief and its ports; none throws. */
import type { Brief } from "../core/brief.ts";
import type { Answer, RunJob } from "../ports/job-queue.ts";
import { check } from "./check.ts";
import { type JobParts, jobIdOf } from "./job-parts.ts";
import { land } from "./land.ts";
import { plan } from "./plan.ts";
import { finishWork, work } from "./work.ts";

export const jobRunner =
  (parts: JobParts): RunJob =>
  (brief, signal) => {
    switch (brief.kind) {
      case "plan":
        return plan(brief, parts, signal);
      case "work":
        return work(brief, parts, signal);
      case "land":
        return land(brief, parts, signal);
      case "check":
        return check(brief, parts, signal);
    }
  };

/**
 * What became of a job whose engine died: its answer, if it had come to one. Nothing of it runs any more; its
 * workspace is given back, with what was in it kept. `wasRunning`: it had to be ended, so that it had not finished.
 */
export async function collectJob(
  brief: Brief,
  parts: JobParts,
  wasRunning: boolean,
): Promise<Answer | undefined> {
  const workspace = await parts.workspaces.heldBy(jobIdOf(brief));
  if (workspace === undefined) return undefined;
  if (brief.kind === "work") return finishWork(brief, { workspace, wasRunning }, parts);
  await parts.workspaces.release(workspace);
  return undefined;
}
