/** An agent that answers from a script, with a real process for each turn, so that its crashes are real. */
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Agent } from "../../ports/agent.ts";
import { CommandAgent, type CommandOptions } from "./command.ts";

/** The script's format is `Script` in `ports/agent-script.ts`; see docs/agents.md. */
export const scripted = (script: string, options: Omit<CommandOptions, "command">): Agent =>
  new CommandAgent({
    ...options,
    command: [process.execPath, PROGRAM, path.resolve(script)],
    name: "the scripted agent",
    // Stripping types costs 80 ms a start; with a cache of earlier turns' compiled code, a turn starts in 45 ms,
    // not 125.
    environment: { NODE_COMPILE_CACHE: path.join(options.folder, ".compiled") },
  });

/** In this file's folder and with this file's extension: TypeScript in a checkout, JavaScript in a package. */
const PROGRAM = fileURLToPath(new URL(`./scripted-program${path.extname(import.meta.url)}`, import.meta.url));
