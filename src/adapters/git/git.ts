/** How is git asked? By one process, without hooks, prompts, pagers or the user's surprises, and within limits. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { type Failure, failure, messageOf } from "../../core/failure.ts";

export type GitCall = {
  /** Where: the work tree or the git folder itself. */
  readonly folder: string;
  /** After `git`; what a model or a person wrote stands behind `--` or `--end-of-options`, or was checked. */
  readonly args: readonly string[];
  readonly input?: string | Uint8Array;
  readonly environment?: Readonly<Record<string, string>>;
  readonly maxMs?: number;
  /** Of standard output: beyond it the call fails, unless `cut`, which ends git and keeps what came. */
  readonly maxBytes?: number;
  readonly cut?: boolean;
};

/** `code` is git's own; undefined if it did not come so far. `warnings`: what it wrote besides, although it did it. */
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
  child.stdin.on("error", () => {}); // It ended before it had read everything: its exit code says why.
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

function tryGit(...start: Parameters<typeof startGit>): ChildProcessWithoutNullStreams | { why: string } {
  try {
    return startGit(...start);
  } catch (thrown) {
    return { why: messageOf(thrown) };
  }
}

const BUSY = "let other programs end, or raise the limits of open files and processes (ulimit -n, ulimit -u)";

/**
 * In a session of its own: a Ctrl-C is for Skein, which decides what still ends in order. Throws if the machine has no
 * file or process left: a child has no pipes then.
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
  child.on("error", () => {}); // It says the same, later.
  throw new Error("this process has no file or process left to open");
}

let started = 0;

/** How many git processes this one has started: what a landing costs is counted in them. */
export const startedGits = (): number => started;

/** A merge of a large repository on a slow disk; whatever takes longer hangs. */
const MAX_MS = 120_000;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_CHARS = 2_000;

/** Nothing in a repository's or a person's configuration may start a program, or change what is meant. */
export const SETTINGS: readonly string[] = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.pager=cat",
  "core.quotePath=false",
  "core.editor=true",
  "gc.auto=0",
  "maintenance.auto=false",
  "commit.gpgSign=false",
  "merge.renames=true",
  "protocol.ext.allow=never",
  "advice.detachedHead=false",
  // Objects and refs are on the disk when git ends, because the log says that they exist; git itself syncs only packs.
  // The index, because without it the work in a workspace cannot be kept.
  "core.fsync=objects,reference,index",
  // The objects of one `git add` with one sync, and not one each.
  "core.fsyncMethod=batch",
].flatMap((setting) => ["-c", setting]);

/** The process's own, less what would point git elsewhere. */
export function gitEnvironment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
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
