/** Types of the ids of tasks and jobs. */

/** The path from the root: "t", then "t.2", then "t.2.1". */
export type TaskId = string & { readonly __brand: "TaskId" };

/** Names one attempt or turn, so that an answer to an older one is recognised. */
export type JobId = string & { readonly __brand: "JobId" };
