/** The port of a run's scratchpad: workers put their results there, a file per task, for people and later tasks. */
import type { Failed } from "../core/result.ts";

/** None of these throws. Names are plain file names that the plan's reader has checked. */
export type Outbox = {
  /** The folder of the scratchpad. */
  readonly folder: string;
  /** Makes an empty file of that name; a file that is already there is kept beside it. */
  prepare(name: string): Promise<{ readonly file: string } | Failed>;
  /** Its text, or what is wrong with it, in words for the worker: missing, empty, a link, not text, too large. */
  read(name: string): Promise<{ readonly text: string } | { readonly problem: string }>;
};
