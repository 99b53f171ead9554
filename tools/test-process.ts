/** Runs test files one after the other in one process, and ends that process if it stops printing. */
import { spawn } from "node:child_process";

export type TestsEnd = { readonly code: number; readonly failures: string };

export type TestsOptions = {
  /** Options of `node --test`. */
  readonly options?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** The limit of tests that name none of their own. */
  readonly maxTestMs?: number;
  readonly maxSilentMs?: number;
  readonly write?: (output: Buffer | string) => void;
};

/** The slowest test without a limit of its own takes 90 s on a busy machine; the largest limit of a test is 7 min. */
const MAX_TEST_MS = 300_000;
/**
 * A hanging test fails at its limit, but its process may not end: a thread that opens a named pipe waits for the other
 * end and ignores any request to stop. Such a process stops printing, so it is told to stop after this silence, then
 * killed.
 */
const MAX_SILENT_MS = 600_000;
const GRACE_MS = 10_000;

/** All files in one process: starting a process per file would take longer than most files run. */
export function runTests(files: readonly string[], options: TestsOptions = {}): Promise<TestsEnd> {
  const { maxSilentMs = MAX_SILENT_MS, write = (output) => void process.stdout.write(output) } = options;
  const { promise, resolve } = Promise.withResolvers<TestsEnd>();
  const limit = `--test-timeout=${options.maxTestMs ?? MAX_TEST_MS}`;
  const child = spawn(
    process.execPath,
    ["--test", "--test-isolation=none", limit, ...(options.options ?? []), ...files],
    { stdio: ["ignore", "pipe", "inherit"], env: options.env ?? process.env },
  );
  let killing: NodeJS.Timeout | undefined;
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal); // The process still says which tests failed before it ends, or hangs.
    killing ??= setTimeout(() => {
      child.kill("SIGKILL");
      child.stdout.destroy(); // Processes that the tests left behind may hold it open.
    }, GRACE_MS);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  const said: Buffer[] = [];
  let silence = "";
  const silent = setTimeout(() => {
    silence = `stopped after ${maxSilentMs / 1000} s without a word, among: ${files.join(" ")}`;
    stop("SIGTERM");
  }, maxSilentMs);
  child.stdout.on("data", (text: Buffer) => {
    silent.refresh();
    said.push(text);
  });
  child.once("close", (code) => {
    clearTimeout(silent);
    clearTimeout(killing);
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
    const output = Buffer.concat(said);
    write(output); // As a whole, so that the outputs of two processes do not mix.
    if (silence) write(`${silence}\n`);
    const start = output.lastIndexOf("✖ failing tests:");
    const failures = start < 0 ? "" : output.toString("utf8", start);
    resolve({ code: code ?? 1, failures: [failures, silence].filter(Boolean).join("\n") });
  });
  child.once("error", (error) => {
    clearTimeout(silent);
    resolve({ code: 1, failures: `the tests could not be started: ${error.message}` });
  });
  return promise;
}
