/** Finds the gate of a commit, and whether its programs exist. */
import { splitWords } from "../../config/commands.ts";
import type { Failure } from "../../core/failure.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { InspectParts, Settled } from "./parts.ts";

export type GateFacts = {
  /** Where it was found, in words. */
  readonly found: string;
  readonly commands: readonly {
    readonly name: string;
    /** The command line as a person would type it. */
    readonly run: string;
    /** Why its program could not be started; unknown for shell syntax that is not analysed. */
    readonly problem?: Failure;
    /** Its program is a path inside the tree: if that is missing, there is nothing to run yet. */
    readonly isInTree?: true;
  }[];
};

export async function inspectGate(
  { located, config }: Settled,
  commit: string,
  { agents, workspaces }: Pick<InspectParts, "agents" | "workspaces">,
  signal: AbortSignal,
): Promise<GateFacts | Failed> {
  const gate = await workspaces.gate({ located, gate: config.gate, commit }, signal);
  if (hasFailed(gate)) return gate;
  const commands = gate.commands.map(async ({ name, command }) => {
    const isShell = command[0] === "/bin/sh" && command[1] === "-c";
    const run = isShell ? (command[2] ?? "") : command.join(" ");
    const program = isShell ? programOf(run) : command[0];
    const problem =
      program === undefined ? undefined : await agents.programs.unstartable([program], located.top);
    const isInTree = program?.includes("/") && !program.startsWith("/");
    return { name, run, ...(problem && { problem, ...(isInTree && { isInTree }) }) };
  });
  return { found: gate.found, commands: await Promise.all(commands) };
}

/** The program that a command line starts with; undefined if only a shell can tell. */
function programOf(line: string): string | undefined {
  const split = splitWords(line.split("\n")[0] ?? "");
  if (!("words" in split)) return undefined;
  const word = split.words.find((one) => !/^\w+=/.test(one));
  return word === undefined || BUILT_IN.has(word) ? undefined : word;
}

/** Words that a shell executes itself, or that begin a compound command. */
const BUILT_IN: ReadonlySet<string> = new Set([
  ...[
    "!",
    ".",
    ":",
    "[",
    "cd",
    "command",
    "eval",
    "exec",
    "exit",
    "export",
    "set",
    "trap",
    "ulimit",
    "umask",
  ],
  ...["case", "for", "if", "until", "while", "{", "test", "true", "false", "echo", "printf", "unset", "wait"],
]);
