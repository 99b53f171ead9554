/** Types of request shapes: a shape recognises a form of request with several tasks, and splits it. */

import type { PlanLimits } from "../data.ts";
import type { RepositoryFacts } from "../facts.ts";
import type { Tree } from "../paths.ts";
import type { Lexicon } from "./lexicon.ts";

/** One future task. All words are the request's own except `subject` and `says`. */
export type Part = {
  readonly subject: string;
  /** Pieces of the request as they were written: the task's own work. */
  readonly words: string;
  /** What this task does of `words`, if several tasks have the same words. */
  readonly says?: string;
  /** The part of `words` that it does itself, if others have the same words. */
  readonly text?: string;
  /** Indexes of earlier parts that must be done first. */
  readonly after: readonly number[];
  /** Files that were assigned to it. */
  readonly files?: readonly string[];
  /** Files that all parts read, besides those that its own words name. */
  readonly reads?: readonly string[];
  /** It changes nothing, whatever its words say: it collects or reviews the work of others. */
  readonly isReport?: true;
  /** True: it changes each of its files by itself. False: it only reads them. Undefined: its verb decides. */
  readonly isInPlace?: boolean;
};

export type Shaped = {
  readonly parts: readonly Part[];
  /** Sentences that limit or explain all of the work: every task carries them. */
  readonly shared: readonly string[];
  /** Limits after an order that apply to all parts: "each with tests". */
  readonly limits?: readonly string[];
  readonly assumptions: readonly string[];
};

export type ShapeAround = {
  readonly facts: RepositoryFacts;
  readonly tree: Tree;
  readonly lexicon: Lexicon;
  readonly limits: PlanLimits;
  /** The number of agents that work at once, from 1. */
  readonly maxConcurrent: number;
};

/** Undefined if the request does not have this shape. */
export type RequestShape = (request: string, around: ShapeAround) => Shaped | undefined;
