/** Says whether a command can ask the person who called it. */
import type { Context } from "../context.ts";
import { processInput, type TypedInput } from "../input.ts";

/** Somebody sits at a terminal, and what is asked there is seen. */
export const canAsk = ({ json, err }: Context, input: () => TypedInput = processInput): boolean =>
  !json && err.size !== undefined && input().isTerminal;
