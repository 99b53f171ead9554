/** The tools of a model's turn: those that work in its folder, and those that end the turn. */
import { type Tool, type ToolSet, tool } from "ai";
import type { WorkBrief } from "../../../core/brief.ts";
import type { Ask } from "../../../ports/agent.ts";
import type { Programs } from "../../../ports/programs.ts";
import type { AskedFor } from "../../../prompting/asked-for.ts";
import {
  answerToolInput,
  askToolInput,
  executionPlanToolInput,
  fleetPlanToolInput,
  handoffToolInput,
  planToolInput,
  spawnToolInput,
} from "../../../prompting/tool-inputs.ts";
import type { Sandbox } from "../../sandboxes/sandbox.ts";
import type { ToolLimits } from "../tools/place.ts";
import { isProblem } from "../tools/text.ts";
import { plannerTools, workerTools } from "../tools/tools.ts";
import { scratchpadVariables } from "../turn-files.ts";
import type { ToolUse } from "./ledger.ts";

export type ToolParts = {
  readonly programs: Programs;
  readonly sandbox: Sandbox;
  readonly limits: ToolLimits;
  readonly onSign: () => void;
  readonly write: (text: string) => void;
};

export function toolsFor(ask: Ask, parts: ToolParts, signal: AbortSignal): ToolSet {
  const { job, brief, folder, role, scratchpad } = ask;
  const environment = { ...ask.environment, ...scratchpadVariables(scratchpad) };
  const place = { ...parts, job, folder, scratchpad, environment, signal };
  if (brief.kind === "plan") return plannerTools(place);
  const calls = callTools(brief);
  return brief.goOn?.isAnswering ? calls : { ...workerTools(place, role?.tools), ...calls };
}

/** The same tools; each reports its use to `onEnd` when it has run. */
export const timedTools = (
  tools: ToolSet,
  now: () => number,
  onEnd: (use: ToolUse) => Promise<void>,
): ToolSet =>
  Object.fromEntries(
    Object.entries(tools).map(([name, given]) => {
      const { execute } = given;
      if (!execute) return [name, given];
      const timed: typeof execute = async (input, options) => {
        const from = now();
        const result: unknown = await execute(input, options);
        await onEnd({ id: options.toolCallId, name, from, ...(isProblem(result) && { hasFailed: true }) });
        return result;
      };
      return [name, { ...given, execute: timed } as Tool];
    }),
  );

/** The tools of a task outside of a run: it may only read, because its changes would be thrown away. */
export const readingTools = plannerTools;

/** Tools that Skein does not execute: a call ends the turn, and its result comes in the next one. */
function callTools({ goOn }: WorkBrief): ToolSet {
  const ask: ToolSet = { ask: tool({ description: ASK, inputSchema: askToolInput }) };
  if (goOn?.isAnswering) return ask; // A worker that answers its subtask's question has that subtask already.
  return { spawn_subtask: tool({ description: SPAWN, inputSchema: spawnToolInput }), ...ask };
}

const SPAWN =
  "Have a part of your task done by another worker, which starts from your folder as it is now. This ends your turn: " +
  "you go on here when its result is there, and then your folder holds its change, too.";

const ASK =
  "Ask the planner or person who gave you the task. This ends your turn: you go on here with the answer, or with the " +
  "default if no answer comes in time.";

/** `hasLabels`: whether a task of the plan may ask for a machine's label. */
export function answerTool(asked: AskedFor, hasLabels = false): ToolSet {
  switch (asked) {
    case "plan": {
      const inputSchema = hasLabels ? fleetPlanToolInput : planToolInput;
      return { plan: tool({ description: GIVE_PLAN, inputSchema }) };
    }
    case "execution-plan":
      return { plan: tool({ description: GIVE_PLAN, inputSchema: executionPlanToolInput }) };
    case "work":
      return { handoff: tool({ description: HAND_OFF, inputSchema: handoffToolInput }) };
    case "task":
      return { answer: tool({ description: ANSWER, inputSchema: answerToolInput }) };
  }
}

const GIVE_PLAN = "Give your plan. This ends your turn: call it once, at the end, with everything in it.";
const HAND_OFF = "Hand off your work. This ends your turn: call it once, when you are done or cannot go on.";
const ANSWER =
  "Give the result of your task, ask for a subtask, or ask a question. This ends your turn: call it once, at the end.";
