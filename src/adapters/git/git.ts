/** Calls git: one process, without hooks, prompts, pagers or harmful settings, and within limits. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { type Failure, failure, messageOf } from "../../core/failure.ts";

export type GitCall = {
  /** A work tree, or the git folder itself. */
  readonly folder: string;
  /**
   * The words after `git`. Text of a model or a person must come after `--` or `--end-of-options`, or be checked
   * before.
   */
  readonly args: readonly string[];
  readonly input?: string | Uint8Array;
  readonly environment?: Readonly<Record<string, string>>;
  readonly maxMs?: number;
  /** The limit of standard output. Above it the call fails, or with `cut` ends git and keeps what was written. */
  readonly maxBytes?: number;
  readonly cut?: boolean;
};

/**
 * `code`: git's exit code; undefined if it did not end by itself. `warnings`: what it wrote to standard error
 * although it succeeded.
 */
export type GitAnswer =
  | { readonly ok: true; readonly out: string; readonly isCut: boolean; readonly warnings: string }
  | {
      readonly ok: false;
      readonly code: number | undefined;
      readonly out: string;
      readonly failure: Failure;
    };

export async function git(call: GitCall, signal?: AbortSignal): Promise<GitAnswer> {
  const { promise, resolve } = Promise.withResolvers<GitAnswer>();
  const { folder, args, input, maxMs = MAX_MS, maxBytes = MAX_BYTES } = call;
  const broken = (why: string, next?: string): GitAnswer => ({
    ok: false,
    code: undefined,
    out: "",
    failure: failure("repository", `git ${args[0]} ${why}`, next),
  });
  if (signal?.aborted) return broken("was not started: stopped");
  const child = tryGit(folder, args, call.environment);
  if ("why" in child) return broken(`could not be started: ${child.why}`, BUSY);
  const out: Buffer[] = [];
  let bytes = 0;
  let err = "";
  let why: string | undefined;
  let isCut = false;
  const end = (reason: string) => {
    why ??= reason;
    child.kill("SIGKILL");
  };
  const timer = setTimeout(() => end(`did not end within ${Math.round(maxMs / 1000)} s`), maxMs);
  const stop = () => end("was stopped");
  signal?.addEventListener("abort", stop, { once: true });
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) out.push(chunk);
    else if (call.cut !== true) end(`wrote more than ${maxBytes} bytes`);
    else if (!isCut) {
      isCut = true;
      out.push(chunk.subarray(0, chunk.length - (bytes - maxBytes)));
      child.kill("SIGKILL");
    }
  });
  child.stderr.on("data", (chunk: Buffer) => {
    if (err.length < MAX_ERROR_CHARS) err += chunk.toString();
  });
  child.stdin.on("error", () => {}); // Git ended before it had read everything: its exit code says why.
  child.stdin.end(input);
  child.on("error", (error: NodeJS.ErrnoException) => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    resolve(
      error.code === "ENOENT"
        ? broken(
            "could not be started: git is not on the PATH, or the folder is gone",
            "install git 2.38 or newer",
          )
        : broken(`could not be started: ${error.message}`, BUSY),
    );
  });
  child.on("close", (code) => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    if (why !== undefined) return resolve(broken(why));
    const text = Buffer.concat(out).toString();
    if (code === 0 || isCut) return resolve({ ok: true, out: text, isCut, warnings: err });
    const said = err.trim() || `ended with ${code ?? "a signal"}`;
    resolve({
      ok: false,
      code: code ?? undefined,
      out: text,
      failure: failure("repository", `git ${args[0]}: ${said.slice(0, MAX_ERROR_CHARS)}`),
    });
  });
  return promise;
}

/** Names the git folder, because the user's settings may forbid git to find one by itself (`safe.bareRepository`). */
export const inGitDir = (gitDir: string): GitPlace => ({ folder: gitDir, environment: { GIT_DIR: gitDir } });

export type GitPlace = Pick<GitCall, "folder" | "environment">;

export const fieldsIn = (out: string, end = "\0"): readonly string[] =>
  out.split(end).filter((field) => field !== "");

function tryGit(...start: Parameters<typeof startGit>): ChildProcessWithoutNullStreams | { why: string } {
  try {
    return startGit(...start);
  } catch (thrown) {
    return { why: messageOf(thrown) };
  }
}

const BUSY = "let other programs end, or raise the limits of open files and processes (ulimit -n, ulimit -u)";

/**
 * Starts git in a session of its own, because Ctrl-C is for Skein, which ends git in order. Throws if the machine
 * has no file or process left: then a child has no pipes.
 */
export function startGit(
  folder: string,
  args: readonly string[],
  environment?: Readonly<Record<string, string>>,
): ChildProcessWithoutNullStreams {
  started += 1;
  const child = spawn("git", [...SETTINGS, ...args], {
    cwd: folder,
    env: gitEnvironment(environment),
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  if (child.stdout as unknown) return child;
  child.on("error", () => {}); // It reports the same error later.
  throw new Error("this process has no file or process left to open");
}

/** A process that waits for questions must not keep this program from exiting. */
export function keepAlive(child: ChildProcessWithoutNullStreams, isAsked: boolean): void {
  for (const held of [child, child.stdin as Socket, child.stdout as Socket, child.stderr as Socket]) {
    if (isAsked) held.ref();
    else held.unref();
  }
}

let started = 0;

/** The number of git processes so far: tests count what a landing costs. */
export const startedGits = (): number => started;

/** Enough to merge in a large repository on a slow disk. */
const MAX_MS = 120_000;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_CHARS = 2_000;

/** No configuration of a repository or a person may start a program or change the meaning of a call. */
const SETTINGS: readonly string[] = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.pager=cat",
  "core.quotePath=false",
  "core.editor=true",
  "gc.auto=0",
  "maintenance.auto=false",
  "commit.gpgSign=false",
  "log.showSignature=false",
  "merge.renames=true",
  "protocol.ext.allow=never",
  "advice.detachedHead=false",
  // Synced when git ends, because the log will say that the objects exist. By default git syncs only packs.
  // Without the index, the work in a workspace could not be kept.
  "core.fsync=objects,reference,index",
  // One sync for all objects of a `git add`.
  "core.fsyncMethod=batch",
].flatMap((setting) => ["-c", setting]);

/** This process's variables, without those that would point git elsewhere. */
function gitEnvironment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")));
  return {
    ...clean,
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    ...extra,
  };
}
