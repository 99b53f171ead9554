/** How does a planner ask git? By a list of arguments that are read first; no shell, and nothing that writes. */
import { gitArguments } from "./git-arguments.ts";
import type { ToolPlace } from "./place.ts";
import { dangerIn, quietGit, whyNoAnswer } from "./quiet-git.ts";
import { problem } from "./text.ts";

export type GitInput = { readonly args: readonly string[] };

export async function askGit(place: ToolPlace, { args }: GitInput, signal: AbortSignal): Promise<string> {
  const read = gitArguments(args);
  if ("refused" in read) return problem(read.refused);
  const key = await dangerIn(place, signal);
  if (key !== undefined) {
    return problem(`git is not used here: its settings could start a program or lead elsewhere (${key})`);
  }
  const { maxOutputBytes } = place.limits;
  const { end, heard } = await quietGit(place, read.args, maxOutputBytes, signal);
  const why = whyNoAnswer(end);
  if (why !== undefined || end.is !== "exited") return why ?? "";
  const text = cut(heard.toWellFormed().replaceAll("\0", "\n"), maxOutputBytes);
  if (end.code === 0) return text === "" ? "(no output)" : text;
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}[exit code ${end.code}]`;
}

function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const head = bytes
    .subarray(0, maxBytes)
    .toString()
    .replace(/\uFFFD+$/, "");
  return `${head}\n[cut after ${maxBytes} bytes: ask for less, with -n, --stat or a path]\n`;
}
