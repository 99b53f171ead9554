/** Decides which files a task keeps from others while it is at work, and until it is settled. */
import type { Scope } from "../scope.ts";
import type { Task } from "../task.ts";

/**
 * The task's scope. A loose task has no known files before an attempt was refused; after that, the files that the
 * attempt changed, so that it does not meet other tasks in the same file again.
 */
export function filesOf({ spec, past }: Pick<Task, "spec" | "past">): Scope {
  if (spec.delivers === "report") return NONE;
  if (!spec.terms?.loose) return spec.scope;
  return past.findLast(({ handoff }) => handoff)?.handoff?.filesChanged ?? NONE;
}

const NONE: Scope = Object.freeze([]);

/**
 * A loose task gives its files up whenever an attempt ends, and takes others for the next: if it held files while it
 * waited, two could deadlock.
 */
export const isLoose = ({ spec }: Pick<Task, "spec">): boolean => spec.terms?.loose === true;
