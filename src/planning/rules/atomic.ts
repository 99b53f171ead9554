/** Is a task one unit of work? If not, why: each reason is one to split it, or to say why it cannot be. */

import type { PlanLimits } from "../limits.ts";
import type { Draft } from "./draft.ts";

export type Atomicity =
  | { readonly is: "atomic" }
  | { readonly is: "too-large"; readonly reasons: readonly string[] };

/** What it is asked about. */
export type AtomicAsked = Pick<
  Draft,
  "scope" | "reads" | "depth" | "description" | "requirements" | "delivers"
> & {
  /** How many operations and results it has, as far as the words say. */
  readonly operations: number;
};

export function atomicityOf(
  task: AtomicAsked,
  {
    minDepth,
    limits,
    bytes,
  }: { readonly minDepth: number; readonly limits: PlanLimits; readonly bytes: ReadonlyMap<string, number> },
): Atomicity {
  // What is not split often enough is split before anything else is asked.
  if (task.depth < minDepth)
    return { is: "too-large", reasons: [`it was split ${task.depth} times of ${minDepth}`] };
  const reasons = [
    task.operations > 1 ? `it has ${task.operations} operations` : "",
    task.scope.length > limits.maxFilesModified ? `it changes ${task.scope.length} files` : "",
    ...inputOf(task, limits, bytes),
    task.description.trim() === "" ? "it does not say what to do" : "",
  ].filter((reason) => reason !== "");
  return reasons.length === 0 ? { is: "atomic" } : { is: "too-large", reasons };
}

/** A folder is as many files as are in it; of one that is not listed nobody knows. */
function inputOf(
  { reads }: AtomicAsked,
  limits: PlanLimits,
  bytes: ReadonlyMap<string, number>,
): readonly string[] {
  const folders = reads.filter((path) => path.endsWith("/")).length;
  const lines = Math.ceil(reads.reduce((sum, path) => sum + (bytes.get(path) ?? 0), 0) / limits.bytesALine);
  return [
    reads.length > limits.maxFilesRead ? `it reads ${reads.length} files` : "",
    folders > 0 ? `it reads ${folders === 1 ? "a whole folder" : `${folders} whole folders`}` : "",
    lines > limits.maxLinesRead ? `it reads about ${lines} lines` : "",
  ];
}
