/** The port that tells whether a turn is still at work: its own signs of life and the files that it changes. */
import type { JobId } from "../core/job.ts";
import type { Clock } from "./clock.ts";

export type Signs = {
  readonly clock: Clock;
  /** How long a turn may give no sign before it is reported, and before it is stopped, in ms; undefined: no limit. */
  readonly quiet?: { readonly warnMs: number; readonly stopMs: number };
  /** When something in a folder was last changed, in ms; 0 if that cannot be seen. Must not throw. */
  readonly changedAt: (folder: string, signal: AbortSignal) => Promise<number>;
  /** How long a job has waited for its account in all, in ms: no sign is expected in that time. */
  readonly waitedMs: (job: JobId) => number;
  /**
   * `doing`: the slow step that it is in, if known. `isPrepared`: its workspace is ready, and its agent or gate begins.
   */
  readonly tell: (quiet: {
    readonly job: JobId;
    readonly ms: number;
    readonly doing?: string;
    readonly isPrepared?: true;
  }) => void;
};
