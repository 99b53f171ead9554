/** Which kind of answer does a brief ask for, and why can a text not be read as one? */
import type { PlanBrief, WorkBrief } from "../core/brief.ts";
import { readHandoff } from "../core/handoff-answer.ts";
import { readPlanAnswer } from "../core/plan-answer.ts";
import { findDraft } from "../core/plan-draft.ts";
import { doneAnswer } from "../ports/agent.ts";

/** `plan`: the next tasks of a run. `execution-plan`: a plan file, before any run. `task`: the result of a subtask. */
export type AskedFor = "plan" | "work" | "execution-plan" | "task";

export const askedFor = (brief: PlanBrief | WorkBrief): AskedFor =>
  brief.kind === "plan" && brief.request !== undefined ? "execution-plan" : brief.kind;

/**
 * What the engine would say of it; undefined if it can be read. What an execution plan says is judged after the turn.
 * `output`: the file that a worker's answer must name.
 */
export function whyUnreadable(asked: AskedFor, text: string, output?: string): string | undefined {
  switch (asked) {
    case "plan": {
      const read = readPlanAnswer(text);
      return read.is === "answer" ? undefined : read.reasons.join("; ");
    }
    case "execution-plan": {
      const found = findDraft(text);
      return found.is === "draft" && !found.isCut ? undefined : "there is no whole plan in it";
    }
    case "work": {
      const done = output === undefined ? undefined : doneAnswer(output);
      if (text.trim() === done) return undefined;
      const read = readHandoff(text, "");
      if (read.is === "broken") return read.reasons.join("; ");
      if (read.is === "none")
        return `there is no handoff in it${done ? `, and it is not exactly ${done}` : ""}`;
      const { status, summary } = read.handoff;
      return done !== undefined && status === "complete" && summary !== done
        ? `"summary" must be exactly ${done}`
        : undefined;
    }
    case "task":
      return text.trim() === "" ? "there is nothing in it" : undefined; // Any words are a result.
  }
}
