/** What is a model given for a turn? Instructions, one message, and tools in its folder. */
import type { ToolSet } from "ai";
import type { Ask } from "../../../ports/agent.ts";
import type { Programs } from "../../../ports/programs.ts";
import type { Prompts } from "../../../ports/prompts.ts";
import { MAX_MESSAGE_CHARS } from "../../../prompting/message.ts";
import { systemPrompt } from "../../../prompting/system-prompt.ts";
import type { Sandbox } from "../../sandboxes/sandbox.ts";
import { scratchpadVariables } from "../scratchpad.ts";
import type { ToolLimits } from "../tools/place.ts";
import { callTools } from "./call-tools.ts";

export const systemFor = (prompts: Prompts, ask: Ask): string => systemPrompt(prompts, ask);

/** A third of what the model can hold, at three characters a token, so that there is room to work. */
export const maxMessageChars = (contextTokens: number): number =>
  Math.min(MAX_MESSAGE_CHARS, Math.max(MIN_MESSAGE_CHARS, contextTokens));
/** Less says nothing any more. */
const MIN_MESSAGE_CHARS = 8_000;

export type ToolParts = {
  readonly programs: Programs;
  readonly sandbox: Sandbox;
  readonly limits: ToolLimits;
  readonly onSign: () => void;
  readonly write: (text: string) => void;
};

export async function toolsFor(ask: Ask, parts: ToolParts, signal: AbortSignal): Promise<ToolSet> {
  const { plannerTools, workerTools } = await import("../tools/tools.ts");
  const { programs, sandbox, limits, onSign, write } = parts;
  const { job, brief, folder, role, scratchpad } = ask;
  const environment = { ...ask.environment, ...scratchpadVariables(scratchpad) };
  const place = { job, folder, scratchpad, environment, programs, sandbox, limits, onSign, write, signal };
  if (brief.kind === "plan") return plannerTools(place);
  const calls = await callTools(brief);
  return brief.goOn?.isAnswering ? calls : { ...workerTools(place, role?.tools), ...calls };
}
