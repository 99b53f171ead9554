/** The port of salvaged work: lists it, restores it as a branch, or drops it. Nothing throws. */
import type { Failed } from "../core/result.ts";

export type Salvage = {
  /** The newest first. */
  list(signal: AbortSignal): Promise<readonly Salvaged[] | Failed>;
  /** Makes a branch of it. An existing branch stays as it is, and no checkout changes. */
  restore(entry: Pick<Salvaged, "commit">, branch: string, signal: AbortSignal): Promise<object | Failed>;
  /** Drops it if it is still what was listed. Git keeps the commit for some weeks. */
  drop(entry: Pick<Salvaged, "ref" | "commit">, signal: AbortSignal): Promise<object | Failed>;
};

export type Salvaged = {
  /** The full name of the ref. */
  readonly ref: string;
  readonly run: string;
  readonly task: string;
  /** Undefined if the name does not end in a number. */
  readonly attempt?: number;
  readonly commit: string;
  readonly atMs: number;
  readonly subject: string;
};
