/** How does a model give its answer? By a tool that nobody runs: calling it ends the turn. JSON in words will do, too. */
import type { ToolSet } from "ai";
import { readHandoff } from "../../../core/handoff-answer.ts";
import { readPlanAnswer } from "../../../core/plan-answer.ts";

export const ANSWER_TOOL = { plan: "plan", work: "handoff" } as const;

export async function answerTool(kind: "plan" | "work"): Promise<ToolSet> {
  const [{ tool }, inputs] = await Promise.all([import("ai"), import("../../../prompting/tool-inputs.ts")]);
  return kind === "plan"
    ? {
        plan: tool({
          description:
            "Give your plan. This ends your turn: call it once, at the end, with everything in it.",
          inputSchema: inputs.planToolInput,
        }),
      }
    : {
        handoff: tool({
          description:
            "Hand off your work. This ends your turn: call it once, when you are done or cannot go on.",
          inputSchema: inputs.handoffToolInput,
        }),
      };
}

/** What the engine would say of it; undefined if it can be read. */
export function whyUnreadable(kind: "plan" | "work", text: string): string | undefined {
  if (kind === "plan") {
    const read = readPlanAnswer(text);
    return read.is === "answer" ? undefined : read.reasons.join("; ");
  }
  const read = readHandoff(text, "");
  if (read.is === "handoff") return undefined;
  return read.is === "broken" ? read.reasons.join("; ") : "there is no handoff in it";
}

/** What it cost is counted elsewhere, and not taken from its words. */
export function answerText(input: unknown): string {
  if (typeof input !== "object" || input === null) return JSON.stringify(input);
  const { spent: _spent, metrics: _metrics, ...answer } = input as Readonly<Record<string, unknown>>;
  return JSON.stringify(answer);
}
