/** What is said to an agent whose answer cannot be used? What is wrong, and what is wanted instead. */
import type { AskedFor } from "./asked-for.ts";
import { messageFrom } from "./message.ts";

/** Within the same turn: it has its task still in view. */
export function askAgain(asked: AskedFor, why: string): string {
  const { opening, title, wanted } = WORDS[asked];
  return messageFrom(
    opening,
    [
      { title, pieces: [{ head: "- ", as: "line", text: why }] },
      { title: "What to do now", says: wanted },
    ],
    MAX_CHARS,
  );
}

/** It stands next to the whole conversation. */
const MAX_CHARS = 8_000;

const WORDS = {
  plan: {
    opening: "Your plan could not be used.",
    title: "What is wrong with it",
    wanted:
      "Send the whole plan again: by the tool `plan` if you have it, else as one JSON object and nothing else: " +
      '{"scratchpad": "…", "tasks": [{"id": "…", "description": "…", "scope": ["…"], "acceptance": "…"}]}. ' +
      "Do not explore further.",
  },
  "execution-plan": {
    opening: "Your plan could not be used.",
    title: "What is wrong with it",
    wanted:
      "Send the whole plan again: by the tool `plan` if you have it, else as one JSON object and nothing else: " +
      '{"goal": "…", "success_criteria": ["…"], "tasks": [{"id": "…", "subject": "…", "description": "…", ' +
      '"blockedBy": [], "scope": ["…"], "requirements": ["…"], "metadata": {"agent": "…", "depth": 1}}], ' +
      '"assumptions": [], "risks": []}. Do not explore further.',
  },
  task: {
    opening: "Your turn ended without an answer.",
    title: "What is wrong with it",
    wanted:
      "Answer now: by the tool `answer` if you have it, else with one JSON object and nothing else: " +
      '{"status": "COMPLETE" | "CONTINUATION" | "NEEDS_INPUT" | "FAILED", "content": "…", "notes": {}}.',
  },
  work: {
    opening: "Your turn ended without a handoff that can be read.",
    title: "What is wrong with it",
    wanted:
      "Change nothing more. Hand off what there is: by the tool `handoff` if you have it, else with one JSON object " +
      'and nothing else: {"status": "complete" | "partial" | "blocked" | "failed", "summary": "…", ' +
      '"concerns": […], "suggestions": […]}. Say "complete" only if every point of the acceptance holds and you ' +
      "have verified it.",
  },
} as const;
