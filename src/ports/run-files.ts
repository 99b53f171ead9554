/** What can be read about a run besides its log? What its jobs wrote, and what a task changed. */
import type { JobId } from "../core/job.ts";
import type { Failed } from "../core/result.ts";
import type { TaskId } from "../core/task.ts";
import type { RunHome } from "./runs.ts";

export type AttemptRefs = {
  readonly run: string;
  /** What the names of the run's branches begin with. */
  readonly branches: string;
  readonly task: TaskId;
  readonly attempt: number;
  /** The change is shown since the newest commit that the attempt shares with the first of these that is there. */
  readonly since: readonly string[];
};

/** `ref`: where it was found, in full. */
export type AttemptChange = { readonly ref: string; readonly commit: string; readonly diff: string };

export type RunFiles = {
  /** The end of what a job has written, then what it adds, until `signal`. Empty if it wrote nothing yet. */
  transcript(home: RunHome, job: JobId, signal: AbortSignal): AsyncIterable<string>;
  /**
   * All that a job or a run of the gate wrote under this name, as far as it was kept; the middle of a long one is left
   * out, with a line that says so. Undefined if there is nothing of that name.
   */
  output(home: RunHome, name: string, signal: AbortSignal): Promise<string | undefined>;
  /** What an attempt made, if a branch or a hidden ref of the run still leads to it; undefined if none does. */
  attempt(of: AttemptRefs, signal: AbortSignal): Promise<AttemptChange | undefined | Failed>;
  /** The change between two commits of the repository, cut after a limit that is said in its last line. */
  diff(from: string, to: string, signal: AbortSignal): Promise<{ readonly diff: string } | Failed>;
};
