/** Which files does a task keep from others while it is at work, and until it is settled? */
import type { Scope } from "../scope.ts";
import type { Task } from "../task.ts";

/**
 * Its scope. Of a loose task nobody knows the files before an attempt was refused: then those that it had changed, so
 * that those who met in one file do not meet there again.
 */
export function filesOf({ spec, past }: Pick<Task, "spec" | "past">): Scope {
  if (spec.delivers === "report") return NONE;
  if (!spec.terms?.loose) return spec.scope;
  return past.findLast(({ handoff }) => handoff)?.handoff?.filesChanged ?? NONE;
}

const NONE: Scope = Object.freeze([]);

/** It gives its files up whenever an attempt ends, and takes others for the next: who held and waited could wait for ever. */
export const isLoose = ({ spec }: Pick<Task, "spec">): boolean => spec.terms?.loose === true;
