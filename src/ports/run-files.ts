/** The port that reads a run's files besides its log: transcripts, outputs, and the changes of tasks. */
import type { JobId } from "../core/job.ts";
import type { Failed } from "../core/result.ts";
import type { TaskId } from "../core/task.ts";
import type { RunHome } from "./runs.ts";

export type AttemptRefs = {
  readonly run: string;
  /** The prefix of the run's branches. */
  readonly branches: string;
  readonly task: TaskId;
  readonly attempt: number;
  /**
   * The change is shown since the newest commit that the attempt shares with the first of these commits that exists.
   */
  readonly since: readonly string[];
};

/** `ref`: the full name of the ref where it was found. */
export type AttemptChange = { readonly ref: string; readonly commit: string; readonly diff: string };

export type RunFiles = {
  /** The end of a job's transcript, then what is added, until `signal`. Empty if nothing was written yet. */
  transcript(home: RunHome, job: JobId, signal: AbortSignal): AsyncIterable<string>;
  /**
   * The kept output of a job or a gate run with this name. The middle of a long output is left out, with a line that
   * says so. Undefined if there is none with that name.
   */
  output(home: RunHome, name: string, signal: AbortSignal): Promise<string | undefined>;
  /** An attempt's change, if a branch or a hidden ref of the run still leads to it; else undefined. */
  attempt(of: AttemptRefs, signal: AbortSignal): Promise<AttemptChange | undefined | Failed>;
  /** The change between two commits of the repository. A long one is cut, and its last line says the limit. */
  diff(from: string, to: string, signal: AbortSignal): Promise<{ readonly diff: string } | Failed>;
};
