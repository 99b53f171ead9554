/** Is a turn still at work? What it says of itself are signs; where none come, what it changed is looked for. */
import type { JobId } from "../core/job.ts";
import type { Clock } from "./clock.ts";

export type Signs = {
  readonly clock: Clock;
  /** How long a turn may give no sign before people are told, and before it is stopped; undefined: it is let be. */
  readonly quiet?: { readonly warnMs: number; readonly stopMs: number };
  /** When something in a folder was last changed, in ms; 0 if that cannot be seen. Must not throw. */
  readonly changedAt: (folder: string, signal: AbortSignal) => Promise<number>;
  /** How long a job has waited for its account in all: it owes no sign in that time. */
  readonly waitedMs: (job: JobId) => number;
  /** `doing`: what it is slow in, where that is known. `isPrepared`: that is over, and its agent or gate begins. */
  readonly tell: (quiet: {
    readonly job: JobId;
    readonly ms: number;
    readonly doing?: string;
    readonly isPrepared?: true;
  }) => void;
};
