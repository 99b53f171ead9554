/** What is a shape? Something in a request that a person would point at and call several tasks. */

import type { PlanLimits } from "../data.ts";
import type { RepositoryFacts } from "../facts.ts";
import type { Tree } from "../paths.ts";
import type { Lexicon } from "./lexicon.ts";

/** One task to be. All words are the request's own but `subject` and `says`. */
export type Part = {
  readonly subject: string;
  /** Pieces of the request, as they were written: the task's own work. */
  readonly words: string;
  /** Which of it this task does, where several have the same words. */
  readonly says?: string;
  /** Of `words`, what it does itself, where others have the same words. */
  readonly text?: string;
  /** Places of earlier parts that must be done first. */
  readonly after: readonly number[];
  /** Files that were shared out to it. */
  readonly files?: readonly string[];
  /** Files that all parts read, beside those that its own words name. */
  readonly reads?: readonly string[];
  /** It changes nothing, whatever its words say: it puts together or reviews what others did. */
  readonly isReport?: true;
  /** It changes each of its files by itself, or none of them. Undefined: its verb says so. */
  readonly isInPlace?: boolean;
};

export type Shaped = {
  readonly parts: readonly Part[];
  /** Sentences that limit or explain all of it: every task carries them. */
  readonly shared: readonly string[];
  /** What trails an order and limits all parts: "each with tests". */
  readonly limits?: readonly string[];
  readonly assumptions: readonly string[];
};

export type ShapeAround = {
  readonly facts: RepositoryFacts;
  readonly tree: Tree;
  readonly lexicon: Lexicon;
  readonly limits: PlanLimits;
  /** Agents at once, from 1. */
  readonly maxConcurrent: number;
};

/** Undefined: the request does not have this shape. */
export type RequestShape = (request: string, around: ShapeAround) => Shaped | undefined;
