/** How is a refusal of a use case said? With the exit code that its kind has. */
import type { Refused } from "../../app/refused.ts";
import { type Context, refuse } from "./context.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";

const CODES: Readonly<Record<Refused["because"], ExitCode>> = {
  usage: EXIT.usage,
  "unknown-run": EXIT.usage,
  configuration: EXIT.configuration,
  repository: EXIT.configuration,
  agent: EXIT.agentUnavailable,
  key: EXIT.authentication,
  run: EXIT.notAllDone,
  stopped: EXIT.interrupted,
};

export function sayRefused(context: Context, { because, failure, lines = [] }: Refused): ExitCode {
  const kind = because === "usage" || because === "configuration" ? because : failure.kind;
  return refuse(context, CODES[because], { ...failure, kind, lines });
}
