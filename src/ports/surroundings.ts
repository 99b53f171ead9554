/** The port that gathers facts about a repository for a planner; each part is whole, or says what was cut. */
import type { Failed } from "../core/result.ts";

export type Surroundings = {
  /** The facts as of `commit`. */
  of(commit: string, signal: AbortSignal): Promise<Facts | Failed>;
};

export type Facts = {
  /** Those that exist of SPEC.md, FEATURES.json, AGENTS.md, CLAUDE.md, DECISIONS.md. */
  readonly documents: readonly Document[];
  /** Sorted paths; `filesLeftOut`: how many more there are. */
  readonly files: readonly string[];
  readonly filesLeftOut: number;
  /** "abc1234 subject", the newest first. */
  readonly commits: readonly string[];
};

/** `leftOut`: how many of its characters are not in `text`; 0 if it is whole. */
export type Document = { readonly path: string; readonly text: string; readonly leftOut: number };
