/** What does `skein …` do? Finds out who reads the command line, and answers with an exit code. */
import type { Context } from "./context.ts";
import type { ExitCode } from "./exit-codes.ts";
import { invocationOf } from "./invocation.ts";
import { type Output, processOutput } from "./output.ts";
import { plainPlan } from "./plain-plan.ts";

export async function main(
  given: readonly string[],
  output: Output = processOutput(),
  around: Surroundings = { env: process.env, folder: currentFolder() },
): Promise<ExitCode> {
  const args = given.map((arg) => (LIST.test(arg) ? ` ${arg}` : arg));
  const json = wantsJson(args);
  const command = invocationOf(process.argv[1], around.env["PATH"]);
  const context: Context = { ...output, ...around, command, json, now: Date.now };
  if (around.folder === "") return homeless(context);
  const plan = plainPlan(args);
  if (plan) return (await import("./acts/plan.ts")).plan(context, plan);
  return (await import("./program.ts")).perform(args, context);
}

/** "- Add a flag" is the first line of a list, and no option. */
const LIST = /^-\s/;

type Surroundings = Pick<Context, "env" | "folder">;

/** Empty if it is not there any more. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return ""; // Deleted, or on a disk that is gone: said as soon as there is somewhere to say it.
  }
}

async function homeless(context: Context): Promise<ExitCode> {
  const [{ refuse }, { EXIT }] = await Promise.all([import("./context.ts"), import("./exit-codes.ts")]);
  const next = `cd to a folder that is there, such as your repository, and call ${context.command} again`;
  return refuse(context, EXIT.configuration, {
    kind: "configuration",
    message: "the current folder was deleted",
    next,
  });
}

const wantsJson = (args: readonly string[]) => args.slice(0, endOfOptions(args)).includes("--json");
const endOfOptions = (args: readonly string[]) => (args.includes("--") ? args.indexOf("--") : args.length);
