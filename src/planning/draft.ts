/** What is a task while its plan by rules is being made? */
import type { PlanTask } from "./plan.ts";

/** A task without what only all of them together say: its id, its wave, the name of its output file. */
export type Draft = Pick<
  PlanTask,
  "subject" | "description" | "scope" | "reads" | "delivers" | "requirements"
> & {
  /**
   * The request's own words that are this task's: the specialist is chosen by these. Of a request that is one task, the
   * first sentence: a long text has two keywords of any specialist by chance.
   */
  readonly words: string;
  readonly isImperative: boolean;
  /** Places of earlier drafts that must be done first. */
  readonly after: readonly number[];
  /** Its words are those of other tasks, too: parts of one thing. */
  readonly isShared: boolean;
  /** Another task reads its result, so that it is written to a file. */
  readonly isCollected: boolean;
};
