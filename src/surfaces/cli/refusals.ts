/** Prints why a use case refused, and returns the exit code of that kind of refusal. */
import type { Refused } from "../../app/refused.ts";
import { type Context, refuse } from "./context.ts";
import { EXIT_OF_REFUSAL, type ExitCode } from "./exit-codes.ts";

export function sayRefused(context: Context, { because, failure, lines = [] }: Refused): ExitCode {
  const kind = because === "usage" || because === "configuration" ? because : failure.kind;
  return refuse(context, EXIT_OF_REFUSAL[because], { ...failure, kind, lines });
}
