/** Could anybody work on this run? Better said before it begins than by its tenth planner. */
import path from "node:path";
import { agentProblem, type Project } from "../../../compose.ts";
import type { Config } from "../../../config/index.ts";
import { readScript } from "../../../core/agent-script.ts";
import { messageOf } from "../../../core/failure.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { isMissing, readBounded } from "./configuration.ts";

/** Said why, if nobody could. */
export async function refuseAgents(
  context: Context,
  project: Project,
  config: Config,
): Promise<ExitCode | undefined> {
  const problem = await agentProblem(project, config, context.env);
  if (problem) return refuse(context, EXIT.agentUnavailable, problem);
  for (const spec of [config.agent, config.planner]) {
    if (typeof spec !== "object" || spec.kind !== "scripted") continue;
    const problems = await scriptProblems(path.resolve(project.located.top, spec.script));
    if (problems.length === 0) continue;
    if (problems === "missing") {
      const message = `there is no script ${spec.script}`;
      const next = "name a file that is there; skein demo makes one, to look at";
      return refuse(context, EXIT.configuration, { kind: "configuration", message, next });
    }
    const message = `the script ${spec.script} cannot be used`;
    return refuse(context, EXIT.configuration, { kind: "configuration", message, lines: problems });
  }
  return undefined;
}

/** More than any script that somebody writes. */
const MAX_SCRIPT_BYTES = 64_000_000;

/** In words; nothing if it can be used. */
export async function scriptProblems(file: string): Promise<readonly string[] | "missing"> {
  try {
    const read = readScript(await readBounded(file, MAX_SCRIPT_BYTES));
    return read.is === "broken" ? read.problems : [];
  } catch (error) {
    return isMissing(error) ? "missing" : [messageOf(error)];
  }
}
