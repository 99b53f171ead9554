/** Where is unfinished work kept, and how does a person get it back or drop it? Nothing throws. */
import type { Failed } from "../core/result.ts";

export type Salvage = {
  /** The newest first. */
  list(signal: AbortSignal): Promise<readonly Salvaged[] | Failed>;
  /** Makes a branch of it. An existing branch stays as it is, and no checkout changes. */
  restore(entry: Pick<Salvaged, "commit">, branch: string, signal: AbortSignal): Promise<object | Failed>;
  /** If it is still what was listed. Git keeps the commit for some weeks. */
  drop(entry: Pick<Salvaged, "ref" | "commit">, signal: AbortSignal): Promise<object | Failed>;
};

export type Salvaged = {
  /** In full. */
  readonly ref: string;
  readonly run: string;
  readonly task: string;
  /** Undefined if the name does not end in one. */
  readonly attempt?: number;
  readonly commit: string;
  readonly atMs: number;
  readonly subject: string;
};
