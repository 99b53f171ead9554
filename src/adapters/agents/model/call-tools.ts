/** How does a worker call for a subtask, or ask? By tools that nobody runs: a call ends the turn, its response comes later. */
import type { ToolSet } from "ai";
import type { WorkBrief } from "../../../core/brief.ts";
import type { ToolResponse } from "../../../core/subtask.ts";
import type { Called } from "../../../ports/agent.ts";

export type CallTool = Called["tool"];

export const isCallTool = (name: string): name is CallTool => name === "spawn_subtask" || name === "ask";

/** The tool whose call a response belongs to. */
export const CALL_FOR: Readonly<Record<ToolResponse["name"], CallTool>> = {
  subtask: "spawn_subtask",
  question: "spawn_subtask",
  answer: "ask",
};

/** Whoever only answers its subtask has that subtask already. */
export async function callTools({ goOn }: WorkBrief): Promise<ToolSet> {
  const [{ tool }, inputs] = await Promise.all([import("ai"), import("../../../prompting/tool-inputs.ts")]);
  const ask: ToolSet = { ask: tool({ description: ASK, inputSchema: inputs.askToolInput }) };
  if (goOn?.isAnswering) return ask;
  return { spawn_subtask: tool({ description: SPAWN, inputSchema: inputs.spawnToolInput }), ...ask };
}

const SPAWN =
  "Have a part of your task done by another worker, which starts from your folder as it is now. This ends your turn: " +
  "you go on here when its result is there, and then your folder holds its change, too.";

const ASK =
  "Ask whoever gave you the task. This ends your turn: you go on here with the answer, or with the default if no answer " +
  "comes in time.";
