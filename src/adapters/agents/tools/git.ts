/** Runs git for a model so that it only reads: no setting starts a program or reaches the network. */
import type { ProgramEnd } from "../../../ports/programs.ts";
import { gitArguments } from "./git-arguments.ts";
import { runIn, type ToolPlace } from "./place.ts";
import { problem } from "./text.ts";

/** Checks the arguments first, and uses no shell. */
export async function askGit(
  place: ToolPlace,
  { args }: { readonly args: readonly string[] },
  signal: AbortSignal,
): Promise<string> {
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

/** Runs git. `heard`: the beginning of both outputs, up to `maxBytes`; the rest is dropped. */
export async function quietGit(
  place: ToolPlace,
  args: readonly string[],
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ readonly end: ProgramEnd; readonly heard: string }> {
  let heard = "";
  const end = await runIn(
    place,
    {
      command: ["git", "--no-pager", ...SETTINGS, ...args],
      maxMs: Math.min(MAX_MS, place.limits.maxCommandMs),
      maxOutputBytes: 2 * maxBytes, // Half of it is the beginning, see `Output`.
      environment: environmentFor(place),
      onOutput: (text) => {
        if (heard.length < maxBytes) heard += text;
      },
    },
    signal,
  );
  return { end, heard };
}

/** A search through a large repository takes a second; a pattern that backtracks without end would never finish. */
const MAX_MS = 30_000;

/** Every setting in git's manual that has a fixed name and is a command, or that fetches. */
const SETTINGS: readonly string[] = `
  core.fsmonitor=false core.hooksPath=/dev/null core.pager=cat core.quotePath=false core.editor=true
  core.sshCommand=false core.askPass=true credential.helper= protocol.allow=never color.ui=false
  diff.external= diff.ignoreSubmodules=all diff.autoRefreshIndex=false submodule.recurse=false
  grep.fallbackToNoIndex=false gc.auto=0 maintenance.auto=false log.showSignature=false
  gpg.program=false gpg.ssh.program=false gpg.x509.program=false`
  .trim()
  .split(/\s+/)
  .flatMap((setting) => ["-c", setting]);

function environmentFor(place: ToolPlace): Record<string, string> {
  const plain = Object.entries(place.environment).filter(
    ([name]) => !name.startsWith("GIT_") || name === "GIT_CEILING_DIRECTORIES",
  );
  return { ...Object.fromEntries(plain), ...FORCED };
}

const FORCED = {
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_NO_LAZY_FETCH: "1",
  GIT_PAGER: "cat",
};

/**
 * Finds a setting of the repository that would start a program which no option turns off, or make git work
 * elsewhere; undefined if there is none. Filters run whenever git compares files.
 */
async function dangerIn(place: ToolPlace, signal: AbortSignal): Promise<string | undefined> {
  const args = ["config", "--list", "--name-only", "--show-scope"];
  const { end, heard } = await quietGit(place, args, MAX_KEYS_BYTES, signal);
  if (end.is !== "exited" || end.code !== 0 || end.isCut) return "they cannot be read";
  if (heard.length >= MAX_KEYS_BYTES) return "they are too long";
  const keys = heard.split("\n").map((line) => line.split("\t"));
  return keys.find(([scope, key = ""]) => scope !== "command" && DANGER.test(key))?.[1];
}

const MAX_KEYS_BYTES = 200_000;

const DANGER =
  /^(?:filter\..+\.(?:clean|smudge|process)|diff\..+\.(?:command|textconv)|core\.(?:worktree|alternaterefscommand))$/i;

/** What a model reads if git did not end by itself. */
export function whyNoAnswer(end: ProgramEnd): string | undefined {
  if (end.is === "exited") return undefined;
  if (end.is === "timed-out") return problem("it took too long, and was stopped: ask for less");
  if (end.is === "unstartable") return problem(`git could not be started: ${end.failure.message}`);
  return problem(end.is === "stopped" ? "stopped" : `git was killed by ${end.signal}`);
}
