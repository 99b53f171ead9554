/** Makes a place to test the command in: a repository, a state folder, an agent, and `bin/skein`. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { main } from "../../src/surfaces/cli/main.ts";
import {
  type Files,
  makeRepository,
  plainEnvironment,
  type TestRepository,
} from "../support/repositories.ts";

const SKEIN = fileURLToPath(new URL("../../bin/skein", import.meta.url));

export type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

export type Place = AsyncDisposable & {
  readonly repository: TestRepository;
  /** A folder outside of the repository: for the agent, the state folder, and other files of the test. */
  readonly folder: string;
  readonly agent: string;
  /** The folder of the runs' state; it does not exist before the first run. */
  readonly state: string;
  with(where: Elsewhere): Pick<Place, "skein" | "start">;
  /** Calls the command in this process, which saves starting one (0.3 s). */
  skein(...args: readonly string[]): Promise<Ended>;
  /** Starts the command in a process of its own, for tests of signals, pipes, or its death. */
  start(...args: readonly string[]): Started;
};

/** Another working folder, more environment variables, and a time limit. */
export type Elsewhere = {
  readonly folder?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly maxMs?: number;
};

/** A command that is still running. */
export type Started = {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves once standard output contains `text` that many times; fails if the command ends before. */
  readonly says: (text: string, times?: number) => Promise<void>;
  /** Closes the reading end of its standard output. */
  readonly hangUp: () => void;
};

/**
 * `work` is a shell script that the agent runs for a task; `$SKEIN_TASK` is the task. `isTrusted`: a person has agreed
 * to what the repository's files ask for.
 */
export async function makePlace(
  options: {
    readonly files?: Files;
    readonly work?: string;
    readonly name?: string;
    readonly isTrusted?: true;
  } = {},
): Promise<Place> {
  const { files = { "README.md": "# here\n" }, name } = options;
  const repository = await makeRepository({ files, ...(name === undefined ? {} : { name }) });
  const folder = await mkdtemp(path.join(tmpdir(), "skein-cli-"));
  await mkdir(path.join(folder, "home"));
  const agent = path.join(folder, "agent.sh");
  await writeFile(agent, agentText(options.work ?? ""), { mode: 0o755 });
  const state = path.join(folder, "state");
  const usual = { ...plainEnvironment(), HOME: path.join(folder, "home"), SKEIN_STATE_DIR: state };
  const going = new Set<Started>();
  const elsewhere = ({ folder: at = repository.folder, env = {}, maxMs }: Elsewhere) => {
    const start = (...args: readonly string[]) => {
      const live = startSkein(args, at, { ...usual, ...env }, maxMs);
      going.add(live);
      void live.ended.then(() => going.delete(live));
      return live;
    };
    return { start, skein: (...args: readonly string[]) => callSkein(args, at, { ...usual, ...env }) };
  };
  if (options.isTrusted) await agree(elsewhere({}));
  return {
    repository,
    folder,
    agent,
    state,
    ...elsewhere({}),
    with: elsewhere,
    [Symbol.asyncDispose]: async () => {
      // Commands that a failed test has left running are stopped, with all that they started.
      for (const live of going) for (const signal of ["SIGINT", "SIGTERM"] as const) live.kill(signal);
      await Promise.all([...going].map(({ ended }) => ended));
      await repository[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** The files of a state folder, except those that record what a person agreed to. */
export const keptIn = (state: string): readonly string[] =>
  existsSync(state)
    ? readdirSync(state, { recursive: true, withFileTypes: true })
        .filter((one) => !one.isDirectory() && path.basename(one.parentPath) !== "trust")
        .map(({ name }) => name)
    : [];

/** Agrees, as a person would, to what the files of the place's repository ask for. */
export async function agree({ skein }: Pick<Place, "skein">, ...args: readonly string[]): Promise<void> {
  const { hash } = JSON.parse((await skein("trust", "--show", "--json", ...args)).out) as {
    readonly hash: string;
  };
  const agreed = await skein("trust", "--trust", hash, ...args);
  assert.equal(agreed.code, 0, agreed.err);
}

/** An agent that plans two tasks, each with a file of its own; the second waits for the first. */
const agentText = (work: string) => `#!/bin/sh
if [ "$SKEIN_KIND" = plan ]; then
  if grep -q '"first":true'; then
    echo '{"scratchpad":"","tasks":[
      {"id":"one","description":"write one","acceptance":"it is there","scope":["t.1.txt"]},
      {"id":"two","description":"write two","acceptance":"it is there","scope":["t.2.txt"],"after":["one"]}]}'
  else
    echo '{"scratchpad":"","tasks":[]}'
  fi
  exit 0
fi
${work}
echo "made by $SKEIN_TASK" > "$SKEIN_TASK.txt"
echo '{"status":"complete","summary":"wrote it","concerns":[]}'
`;

export async function callSkein(
  args: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<Ended> {
  const written = { out: "", err: "" };
  const sink = (name: "out" | "err") => ({
    hasColours: false,
    write: (text: string) => {
      written[name] += text;
    },
  });
  const code = await main(args, { out: sink("out"), err: sink("err") }, { env, folder });
  return { code, ...written };
}

/** The longest time for a command: what hangs is killed, and has no exit code then. */
const MAX_MS = 150_000;

export function startSkein(
  args: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv,
  maxMs: number = MAX_MS,
): Started {
  const child = spawn(process.execPath, [SKEIN, ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: maxMs,
    killSignal: "SIGKILL",
  });
  let out = "";
  let err = "";
  const waiting = new Set<() => void>();
  const { promise: ended, resolve } = Promise.withResolvers<Ended>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    for (const look of waiting) look();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  child.on("close", (code) => {
    resolve({ code, out, err });
    for (const look of waiting) look();
  });
  const says = (text: string, times = 1) => {
    const { promise, resolve: found, reject } = Promise.withResolvers<void>();
    const look = () => {
      if (out.split(text).length > times) found();
      else if (child.exitCode !== null || child.signalCode !== null)
        reject(new Error(`it ended without saying ${JSON.stringify(text)}:\n${out}${err}`));
    };
    waiting.add(look);
    look();
    return promise.finally(() => waiting.delete(look));
  };
  return {
    pid: child.pid!,
    ended,
    kill: (signal) => child.kill(signal),
    says,
    hangUp: () => child.stdout.destroy(),
  };
}

/** A barrier by a named pipe: readers wait until `open` is called, and later readers do not wait. */
export async function makeBarrier(
  folder: string,
): Promise<{ readonly wait: string; readonly open: () => Promise<void> }> {
  const [pipe, done] = [path.join(folder, "barrier"), path.join(folder, "barrier-open")];
  await promisify(execFile)("mkfifo", [pipe]);
  return {
    wait: `[ -e '${done}' ] || read _ < '${pipe}'`,
    open: async () => {
      await writeFile(done, "");
      // A pipe that is opened for reading and writing does not wait for another process.
      await promisify(execFile)("sh", ["-c", `exec 3<> '${pipe}'; echo >&3; echo >&3`]);
    },
  };
}
