/** How does git run for a model, so that it only looks? No setting of anybody's starts a program or reaches out. */
import type { ProgramEnd } from "../../../ports/programs.ts";
import { type PlaceRun, runIn, type ToolPlace } from "./place.ts";
import { problem } from "./text.ts";

export type GitRun = { readonly end: ProgramEnd; readonly heard: string };

/** `heard` is its first output, both kinds, up to `maxBytes`; the rest is thrown away. */
export async function quietGit(
  place: ToolPlace,
  args: readonly string[],
  maxBytes: number,
  signal: AbortSignal,
): Promise<GitRun> {
  let heard = "";
  const run: PlaceRun = {
    command: ["git", "--no-pager", ...SETTINGS, ...args],
    maxMs: Math.min(MAX_MS, place.limits.maxCommandMs),
    maxOutputBytes: 2 * maxBytes, // Half of it is the beginning, see `Output`.
    environment: environmentFor(place),
    onOutput: (text) => {
      if (heard.length < maxBytes) heard += text;
    },
  };
  const end = await runIn(place, run, signal);
  return { end, heard };
}

/** A search through a large repository takes a second; an expression that explodes, for ever. */
const MAX_MS = 30_000;

/** Everything of its manual that is a command, or fetches, and has a fixed name. */
const SETTINGS: readonly string[] = [
  ...["core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.quotePath=false"],
  ...["core.editor=true", "core.sshCommand=false", "core.askPass=true", "credential.helper="],
  ...[
    "protocol.allow=never",
    "color.ui=false",
    "diff.external=",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
  ],
  ...["diff.autoRefreshIndex=false", "grep.fallbackToNoIndex=false", "gc.auto=0", "maintenance.auto=false"],
  ...["log.showSignature=false", "gpg.program=false", "gpg.ssh.program=false", "gpg.x509.program=false"],
].flatMap((setting) => ["-c", setting]);

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
 * A key in the repository's own settings that would have git start a program which no switch turns off, or work
 * elsewhere; undefined if there is none. Filters run when git compares files, whoever asks for it.
 */
export async function dangerIn(place: ToolPlace, signal: AbortSignal): Promise<string | undefined> {
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

/** What a model reads if git did not come to an end of its own. */
export function whyNoAnswer(end: ProgramEnd): string | undefined {
  if (end.is === "exited") return undefined;
  if (end.is === "timed-out") return problem("it took too long, and was stopped: ask for less");
  if (end.is === "unstartable") return problem(`git could not be started: ${end.failure.message}`);
  return problem(end.is === "stopped" ? "stopped" : `git was killed by ${end.signal}`);
}
