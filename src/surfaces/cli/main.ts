/** What does `skein …` do? Finds out who reads the command line, and answers with an exit code. */
import type { Context } from "./context.ts";
import type { ExitCode } from "./exit-codes.ts";
import { invocationOf } from "./invocation.ts";
import { type Output, processOutput } from "./output.ts";
import { plainPlan } from "./plain-plan.ts";

export async function main(
  args: readonly string[],
  output: Output = processOutput(),
  around: Surroundings = { env: process.env, folder: process.cwd() },
): Promise<ExitCode> {
  const json = wantsJson(args);
  const command = invocationOf(process.argv[1], around.env["PATH"]);
  const context: Context = { ...output, ...around, command, json, now: Date.now };
  const plan = plainPlan(args);
  if (plan) return (await import("./acts/plan.ts")).plan(context, plan);
  return (await import("./program.ts")).perform(args, context);
}

type Surroundings = Pick<Context, "env" | "folder">;

const wantsJson = (args: readonly string[]) => args.slice(0, endOfOptions(args)).includes("--json");
const endOfOptions = (args: readonly string[]) => (args.includes("--") ? args.indexOf("--") : args.length);
