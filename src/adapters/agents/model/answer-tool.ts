/** How does a model give its answer? By a tool that nobody runs: calling it ends the turn. JSON in words will do, too. */
import type { ToolSet } from "ai";
import type { AskedFor } from "../../../prompting/asked-for.ts";

export const ANSWER_TOOL = {
  plan: "plan",
  "execution-plan": "plan",
  work: "handoff",
  task: "answer",
} as const;

export async function answerTool(asked: AskedFor): Promise<ToolSet> {
  const [{ tool }, inputs] = await Promise.all([import("ai"), import("../../../prompting/tool-inputs.ts")]);
  switch (asked) {
    case "plan":
      return { plan: tool({ description: GIVE_PLAN, inputSchema: inputs.planToolInput }) };
    case "execution-plan":
      return { plan: tool({ description: GIVE_PLAN, inputSchema: inputs.executionPlanToolInput }) };
    case "work":
      return { handoff: tool({ description: HAND_OFF, inputSchema: inputs.handoffToolInput }) };
    case "task":
      return { answer: tool({ description: ANSWER, inputSchema: inputs.answerToolInput }) };
  }
}

const GIVE_PLAN = "Give your plan. This ends your turn: call it once, at the end, with everything in it.";
const HAND_OFF = "Hand off your work. This ends your turn: call it once, when you are done or cannot go on.";

const ANSWER =
  "Give the result of your task, ask for a subtask, or ask a question. This ends your turn: call it once, at the end.";

/** What it cost is counted elsewhere, and not taken from its words. */
export function answerText(input: unknown): string {
  if (typeof input !== "object" || input === null) return JSON.stringify(input);
  const { spent: _spent, metrics: _metrics, ...answer } = input as Readonly<Record<string, unknown>>;
  return JSON.stringify(answer);
}
