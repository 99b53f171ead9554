/** Where in a plan file is something wrong, and what? */

export type PlanProblem = {
  /** As in `tasks[3].metadata.output_file`; empty for the plan as a whole. */
  readonly place: string;
  readonly message: string;
  /** What to try. */
  readonly next?: string;
};
