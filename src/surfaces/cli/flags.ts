/** Maps flags of the command line to keys of the configuration. */
import { existsSync } from "node:fs";
import path from "node:path";
import { readAgentText, type splitWords } from "../../config/commands.ts";
import type { RepoOption, SettingOptions } from "./commands/options.ts";
import type { Context } from "./context.ts";

/** The configuration keys of the given flags. A program or a script is relative to the current folder. */
export function flagsOf(
  { folder }: Context,
  given: SettingOptions & Pick<RepoOption, "fleet">,
): Readonly<Record<string, unknown>> {
  const { agent, model, script, planner, workers, gate, gates, approve, deliver } = given;
  const scripted =
    script === undefined ? undefined : { kind: "scripted", script: path.resolve(folder, script) };
  const flags = {
    agent: scripted ?? (agent === undefined ? undefined : agentOf(agent, folder)),
    model,
    planner: planner === undefined ? scripted : planner === "none" ? planner : agentOf(planner, folder),
    workers,
    gates,
    gate: gate?.length === 1 && (gate[0] === "auto" || gate[0] === "none") ? gate[0] : gate,
    approve: approve && "first",
    deliver,
    "fleet.enabled": given.fleet,
  };
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}

/** Jobs run in folders of their own, so `./agent.sh` is made absolute: it is the one in the caller's folder. */
function agentOf(typed: string, folder: string): unknown {
  if (typed.trimStart().startsWith("[")) {
    const words = jsonWords(typed);
    return "words" in words ? anchored(words.words, folder) : typed; // The schema refuses it with its own message.
  }
  const read = readAgentText(typed);
  if ("problem" in read) return typed;
  if (read.kind === "command") return anchored(read.command, folder);
  return read.kind === "acp" ? { ...read, command: anchored(read.command, folder) } : typed;
}

function anchored([first = "", ...rest]: readonly string[], folder: string): readonly string[] {
  const file = path.resolve(folder, first);
  return first.includes("/") && existsSync(file) ? [file, ...rest] : [first, ...rest];
}

function jsonWords(typed: string): ReturnType<typeof splitWords> {
  const problem = { problem: "must be a list of words" };
  try {
    const value: unknown = JSON.parse(typed);
    return Array.isArray(value) && value.every((word) => typeof word === "string")
      ? { words: value }
      : problem;
  } catch {
    return problem; // The schema says what it should be.
  }
}
