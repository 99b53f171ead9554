/** Which plan does a markdown text say? What `renderMarkdown` wrote, also after a person has edited it. */
import type { PlanProblem } from "../place.ts";
import type { ExecutionPlan } from "../plan.ts";
import { TITLE } from "./markdown.ts";

export type ParsedMarkdown =
  | { readonly is: "plan"; readonly plan: ExecutionPlan }
  | { readonly is: "broken"; readonly problems: readonly PlanProblem[] }
  /** No plan at all: something else that is written in markdown. */
  | { readonly is: "none" };

/** Never throws, and takes time in proportion to the text. */
export function parseMarkdown(text: string): ParsedMarkdown {
  if (!text.includes(TITLE)) return { is: "none" };
  return { is: "broken", problems: [{ place: "", message: "a plan in markdown cannot be read yet" }] };
}
