/** What is a task while its plan is being made? All that it is by itself; ids, waves and agents follow from all of them. */
import type { Delivers } from "../../core/task.ts";
import type { Work } from "./work.ts";

export type Draft = {
  /** Unique while the plan is made: "2" is the second clause, "2.3" its third part. */
  readonly key: string;
  readonly kind: "understand" | "part" | "tests" | "verify" | "collect";
  readonly work: Work;
  /** The clause that it comes from, by index; undefined: the whole request. */
  readonly clause?: number;
  /** Its subject begins with a verb that can be put in another form. */
  readonly isImperative: boolean;
  readonly subject: string;
  readonly description: string;
  readonly scope: readonly string[];
  readonly reads: readonly string[];
  readonly delivers: Delivers;
  readonly requirements: readonly string[];
  /** What else it is told: what it is a part of, and what is left to others. Nobody can measure it. */
  readonly background?: readonly string[];
  readonly depth: number;
  /** Keys of what must be done first, as far as it is known from the start. */
  readonly after: readonly string[];
  /** What it is about, in a word or two: "login". */
  readonly thing?: string;
  readonly criterion?: string;
  /** Its result is read whole by another task, so that it is written to a file. */
  readonly isCollected?: true;
  /** Those of one group have no file in common. */
  readonly group?: string;
};
