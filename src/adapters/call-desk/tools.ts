/** Skein's own tools that a worker can call, and what the worker is told about its call. */
import * as z from "zod";
import type { Called } from "../../ports/agent.ts";

type CallTool = Called["tool"];

export type Call = Pick<Called, "tool" | "input">;

export const CALL_TOOLS: readonly CallTool[] = ["spawn_subtask", "ask"];

export const isCallTool = (name: unknown): name is CallTool => CALL_TOOLS.some((tool) => tool === name);

export const TAKEN =
  "Taken. End your turn now: do nothing more and say nothing more. You will be prompted again with the result, and go " +
  "on from there with what is in your folder then.";

export const takenBefore = (tool: CallTool): string =>
  `Refused: this turn has called ${tool} already, and one call ends a turn. End your turn now; call again when you go on.`;

type ToolWords = { readonly description: string; readonly inputSchema: z.ZodObject };

/**
 * The schemas are lenient, because the response explains to the worker what is wrong with a call. A host that
 * checks inputs by a strict schema would hide that explanation.
 */
export const TOOL_WORDS: Readonly<Record<CallTool, ToolWords>> = {
  spawn_subtask: {
    description:
      "Hands a part of your task to another worker, which starts from your folder as it is now. The call ends your turn. " +
      "You are prompted again, in this conversation, when the subtask has ended: its result comes as the message, and " +
      "what it changed is in your folder. Use it for a part of another kind (a check, a search, a separate change), " +
      "not for what you can do yourself in a few steps.",
    inputSchema: z.looseObject({
      type: z.string().describe('What kind of subtask it is, such as "verification"'),
      description: z.string().describe("What to do: all that the other worker will know"),
      inputs: z.looseObject({}).optional().describe("Values that it needs, by name"),
      template_hints: z.array(z.string()).optional().describe("Words by which a template is found"),
      return_expectations: z
        .unknown() // A text or an object: some providers refuse unions.
        .optional()
        .describe(
          "What the result must look like: a JSON Schema, json, text, markdown, list, number, boolean",
        ),
      max_depth: z.number().optional().describe("How many levels of subtasks it may use, its own included"),
      subtype: z.string().optional(),
      file_paths: z.array(z.string()).optional().describe("Files that it is given to read"),
      context_management: z
        .looseObject({})
        .optional()
        .describe(
          'Such as {"inherit_context": "full"}: what it gets of this conversation; nothing unless told',
        ),
    }),
  },
  ask: {
    description:
      "Asks a question that you cannot answer from the task or the repository. The call ends your turn. You are " +
      "prompted again, in this conversation, with the answer, or with your default if no answer comes in time. Give a " +
      "default whenever you can.",
    inputSchema: z.looseObject({
      question: z.string().describe("The question, with all that is needed to answer it"),
      default: z.string().optional().describe("What is used if no answer comes in time"),
      wait_s: z.number().optional().describe("How many seconds to wait for an answer"),
    }),
  },
};
