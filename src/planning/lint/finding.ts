/** What can be wrong with a plan that can be read? */
import type { PlanProblem } from "../files/place.ts";

/** With an error the plan must not be run; a warning is advice. */
export type Finding = PlanProblem & { readonly level: "error" | "warning" };

export const error = (place: string, message: string, next?: string): Finding => ({
  level: "error",
  place,
  message,
  ...(next !== undefined && { next }),
});

export const warning = (place: string, message: string, next?: string): Finding => ({
  ...error(place, message, next),
  level: "warning",
});
