/** Says whether a command can ask the person who called it. */
import type { Context } from "../context.ts";
import { processInput, type TypedInput } from "../input.ts";

/** True if a person is at a terminal and can see the question there. */
export const canAsk = ({ json, err }: Context, input: () => TypedInput = processInput): boolean =>
  !json && err.size !== undefined && input().isTerminal;
