/** How did a program end, by what its process and we ourselves know? What nobody knows did not go well. */
import type { ChildProcess } from "node:child_process";
import type { ProgramEnd, Texts } from "../../ports/programs.ts";

export function endOf(
  { exitCode, signalCode }: Pick<ChildProcess, "exitCode" | "signalCode">,
  why: "timed-out" | "stopped" | undefined,
  texts: Texts,
): ProgramEnd {
  if (why) return { is: why, ...texts };
  if (exitCode !== null && signalCode === null) return { is: "exited", code: exitCode, ...texts };
  return { is: "killed", signal: signalCode ?? "an unknown signal", ...texts };
}
