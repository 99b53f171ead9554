/** Where does a worker put its result for people and later tasks to read? One scratchpad a run, a file a task. */
import type { Failed } from "../core/result.ts";

/** None of these throws. Names are plain file names that the plan's reader has checked. */
export type Outbox = {
  /** The scratchpad. */
  readonly folder: string;
  /** An empty file of that name; what an earlier attempt, or anybody else, had written there is kept beside it. */
  prepare(name: string): Promise<{ readonly file: string } | Failed>;
  /** Its text; or what is wrong with it, in words for the worker: not there, empty, a link, no text, too large. */
  read(name: string): Promise<{ readonly text: string } | { readonly problem: string }>;
};
