/** What can be read about a run besides its log? What its jobs wrote, and what a task changed. */
import type { JobId } from "../core/job.ts";
import type { Failed } from "../core/result.ts";
import type { RunHome } from "./runs.ts";

export type RunFiles = {
  /** The end of what a job has written, then what it adds, until `signal`. Empty if it wrote nothing yet. */
  transcript(home: RunHome, job: JobId, signal: AbortSignal): AsyncIterable<string>;
  /** The change between two commits of the repository, cut after a limit that is said in its last line. */
  diff(from: string, to: string, signal: AbortSignal): Promise<{ readonly diff: string } | Failed>;
};
