/** What should a planner know of the repository before it looks for itself? Each part whole, or with a stated cut. */
import type { Failed } from "../core/result.ts";

export type Surroundings = {
  /** As they are in `commit`. */
  of(commit: string, signal: AbortSignal): Promise<Facts | Failed>;
};

export type Facts = {
  /** SPEC.md, FEATURES.json, AGENTS.md, CLAUDE.md, DECISIONS.md: those that are there. */
  readonly documents: readonly Document[];
  /** Paths, sorted; `filesLeftOut` more are not in the list. */
  readonly files: readonly string[];
  readonly filesLeftOut: number;
  /** "abc1234 subject", the newest first. */
  readonly commits: readonly string[];
};

/** `leftOut`: characters of it that are not in `text`; 0 if it is whole. */
export type Document = { readonly path: string; readonly text: string; readonly leftOut: number };
