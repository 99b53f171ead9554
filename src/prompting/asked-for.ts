/** Tells which kind of answer a brief asks for, why a text cannot be read as one, and how to ask again. */
import { readHandoff } from "../core/answers/handoff-answer.ts";
import { readPlanAnswer } from "../core/answers/plan-answer.ts";
import { findDraft } from "../core/answers/plan-draft.ts";
import type { PlanBrief, WorkBrief } from "../core/brief.ts";
import { doneAnswer } from "../ports/agent.ts";
import { messageFrom } from "./message.ts";

/**
 * `plan`: the next tasks of a run. `execution-plan`: a plan file, before a run exists. `task`: the result of a subtask.
 */
export type AskedFor = "plan" | "work" | "execution-plan" | "task";

export const askedFor = (brief: PlanBrief | WorkBrief): AskedFor =>
  brief.kind === "plan" && brief.request !== undefined ? "execution-plan" : brief.kind;

/**
 * The reason that the engine would give; undefined if the text can be read. The content of an execution plan is checked
 * after the turn. `output`: the file that a worker's answer must name.
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
      return text.trim() === "" ? "there is nothing in it" : undefined; // Any text is a result.
  }
}

/** Sent within the same turn, while the agent still has its task in its context. */
export function askAgain(asked: AskedFor, why: string): string {
  const { opening, wanted } = WORDS[asked];
  return messageFrom(
    opening,
    [
      { title: "What is wrong with it", pieces: [{ head: "- ", as: "line", text: why }] },
      { title: "What to do now", says: wanted },
    ],
    MAX_CHARS,
  );
}

const MAX_CHARS = 8_000;

const PLAN_AGAIN =
  "Send the whole plan again: by the tool `plan` if you have it, else as one JSON object and nothing else: ";

const WORDS = {
  plan: {
    opening: "Your plan could not be used.",
    wanted:
      `${PLAN_AGAIN}{"scratchpad": "…", "tasks": [{"id": "…", "description": "…", "scope": ["…"], "acceptance": "…"}]}. ` +
      "Do not explore further.",
  },
  "execution-plan": {
    opening: "Your plan could not be used.",
    wanted:
      `${PLAN_AGAIN}{"goal": "…", "success_criteria": ["…"], "tasks": [{"id": "…", "subject": "…", ` +
      '"description": "…", "blockedBy": [], "scope": ["…"], "requirements": ["…"], ' +
      '"metadata": {"agent": "…", "depth": 1}}], "assumptions": [], "risks": [], ' +
      '"coverage": [{"says": "…", "in": ["…"]}]}. Do not explore further.',
  },
  task: {
    opening: "Your turn ended without an answer.",
    wanted:
      "Answer now: by the tool `answer` if you have it, else with one JSON object and nothing else: " +
      '{"status": "COMPLETE" | "CONTINUATION" | "NEEDS_INPUT" | "FAILED", "content": "…", "notes": {}}.',
  },
  work: {
    opening: "Your turn ended without a handoff that can be read.",
    wanted:
      "Change nothing more. Hand off what there is: by the tool `handoff` if you have it, else with one JSON object " +
      'and nothing else: {"status": "complete" | "partial" | "blocked" | "failed", "summary": "…", ' +
      '"concerns": […], "suggestions": […]}. Say "complete" only if every point of the acceptance holds and you ' +
      "have verified it.",
  },
} as const;
