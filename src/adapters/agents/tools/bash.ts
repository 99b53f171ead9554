/** Runs a shell command for a model in the workspace; all processes that it started end with it. */
import { existsSync } from "node:fs";
import { unreachable } from "../../../core/unreachable.ts";
import type { ProgramEnd } from "../../../ports/programs.ts";
import { runIn, type ToolPlace } from "./place.ts";
import { problem } from "./text.ts";

export async function runCommand(
  place: ToolPlace,
  input: { readonly command: string; readonly timeout_seconds?: number | undefined },
  signal: AbortSignal,
): Promise<string> {
  const { command } = input;
  if (command.includes("\0")) return problem("a command cannot contain a zero byte");
  if (Buffer.byteLength(command) > MAX_COMMAND_BYTES) {
    return problem(
      `the command has more than ${MAX_COMMAND_BYTES} bytes: write it into a file, and run that`,
    );
  }
  const maxMs = Math.min(place.limits.maxCommandMs, Math.max(1, input.timeout_seconds ?? Infinity) * 1_000);
  let heard = "";
  place.write?.(`$ ${command}\n`);
  const end = await runIn(
    place,
    {
      command: [SHELL, "-c", ONE_OUTPUT, SHELL, command],
      maxMs,
      maxOutputBytes: place.limits.maxOutputBytes,
      onOutput: (text) => {
        heard += text;
        place.write?.(text);
      },
    },
    signal,
  );
  return answerOf(end, heard, maxMs);
}

/** Linux takes at most 128 KiB as one argument. */
const MAX_COMMAND_BYTES = 100_000;

/** Joins both outputs at the source: two streams would be mixed in any order. */
const ONE_OUTPUT = 'exec "$0" -c -- "$1" 2>&1';

/** Models write commands for bash. */
const SHELL = ["/bin/bash", "/usr/bin/bash"].find(existsSync) ?? "/bin/sh";

const CUT = "[cut: a process that it left behind still holds the output]";

function answerOf(end: ProgramEnd, heard: string, maxMs: number): string {
  const said = heard.toWellFormed().replaceAll("\0", "");
  const ended = said === "" || said.endsWith("\n") ? said : `${said}\n`;
  const text = "isCut" in end ? `${ended}${CUT}\n` : ended;
  switch (end.is) {
    case "exited":
      if (end.code === 0) return text === "" ? "(no output)" : text;
      return `${text}[exit code ${end.code}]`;
    case "killed":
      return `${text}[killed by ${end.signal}]`;
    case "timed-out":
      return `${text}[stopped: it did not end within ${Math.round(maxMs / 1_000)} s]`;
    case "stopped":
      return `${text}[stopped]`;
    case "unstartable":
      return problem(`the command could not be started: ${end.failure.message}`);
    default:
      return unreachable(end);
  }
}
