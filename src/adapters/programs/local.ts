/** How is a program run on this machine, so that nothing of it stays, whatever happens to us? */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { closeSync } from "node:fs";
import type { Socket } from "node:net";
import { basename } from "node:path";
import type { Writable } from "node:stream";
import { type Failure, failure, messageOf } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
import type { Program, ProgramEnd, Programs } from "../../ports/programs.ts";
import { whyUnstartable } from "./command.ts";
import { endOf } from "./end.ts";
import { Output } from "./output.ts";
import { openPipes, type Pipes, removePipes } from "./pipes.ts";
import { startOf } from "./process-start.ts";
import { bootId, endFamily, type Family, MARK } from "./processes.ts";
import { type ProgramRecord, readRecords, removeRecord, writeRecord } from "./records.ts";
import { shellArguments } from "./shell.ts";
import { comesSoon } from "./soon.ts";
import { type Conversation, conversation } from "./talk.ts";

export type LocalProgramsOptions = {
  /** Where it is on record what may be running: of this run alone, and there after a crash. */
  readonly folder: string;
};

export class LocalPrograms implements Programs {
  readonly #folder: string;

  constructor(options: LocalProgramsOptions) {
    this.#folder = options.folder;
  }

  async run(program: Program, signal: AbortSignal): Promise<ProgramEnd> {
    if (signal.aborted) return { is: "stopped", output: "", tail: "" };
    const why = await whyUnstartable(program);
    if (why) return { is: "unstartable", failure: why };
    const mark = `${this.#markOf(program.job)}${randomUUID().slice(0, 8)}`;
    let pipes: Pipes;
    try {
      pipes = await openPipes(this.#folder, mark, program.talk ? undefined : (program.input ?? ""));
    } catch (thrown) {
      return { is: "unstartable", failure: unrecorded(program, this.#folder, thrown) };
    }
    const waiting = await spawnWaiting(program, mark, pipes);
    if ("failure" in waiting) {
      closePipes(pipes);
      return { is: "unstartable", failure: waiting.failure };
    }
    const { group } = waiting;
    const start = await startOf(group);
    let path: string;
    try {
      path = await this.#record(program, { mark, group, start });
    } catch (thrown) {
      waiting.child.kill("SIGKILL");
      closePipes(pipes);
      return { is: "unstartable", failure: unrecorded(program, this.#folder, thrown) };
    }
    const family = { group, isGroupOurs: true, mark, since: sinceOf(start) };
    const { end, isGone } = await live(waiting, program, family, signal);
    if (isGone) await removeRecord(path).catch(() => {}); // Left behind, it names a group that is gone: harmless.
    return end;
  }

  /** Also what a program of this engine is running for the job. */
  async endLeftovers(job: JobId): Promise<number> {
    return this.#endRecorded((record) => record.job === job);
  }

  /** After a crash: whatever is on record, but for the jobs that go on. */
  async endAll(except: ReadonlySet<JobId> = new Set()): Promise<number> {
    const ended = await this.#endRecorded((record) => !except.has(record.job));
    if (except.size === 0) await removePipes(this.#folder);
    return ended;
  }

  async #endRecorded(isWanted: (record: ProgramRecord) => boolean): Promise<number> {
    const records = [...(await readRecords(this.#folder))].filter(([, record]) => isWanted(record));
    const counts = records.map(async ([path, record]) => {
      const { count, isGone } = await endRecord(record);
      if (isGone) await removeRecord(path).catch(() => {}); // It names a group that is gone: harmless.
      return count;
    });
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  #record(program: Program, process_: Pick<ProgramRecord, "mark" | "group" | "start">): Promise<string> {
    const command = basename(program.command[0]);
    const record = { job: program.job, command, boot: bootId(), ...process_ };
    return writeRecord(this.#folder, process_.mark, record);
  }

  /** The same for every program of a job, in this folder and in no other. */
  #markOf(job: JobId): string {
    return `${createHash("sha256").update(`${this.#folder}\0${job}`).digest("hex").slice(0, 24)}.`;
  }
}

async function endRecord(record: ProgramRecord): Promise<{ count: number; isGone: boolean }> {
  if (record.boot !== bootId()) return { count: 0, isGone: true };
  const start = await startOf(record.group);
  // Without /proc a mark cannot be seen. A number stays taken while its group lives: no leader, no other group.
  const isGroupOurs =
    (start !== undefined && start === record.start) || (start === undefined && process.platform !== "linux");
  const { group, mark } = record;
  return endFamily({ group, isGroupOurs, mark, since: sinceOf(record.start) });
}

/** On Linux a time is a number of ticks. */
const sinceOf = (start: string | undefined): number => Number(start) || 0;

type Waiting = {
  readonly child: ChildProcess;
  readonly group: number;
  readonly go: Writable;
  readonly pipes: Pipes;
};

function closePipes(pipes: Pipes): void {
  for (const pipe of [pipes.in, pipes.out, pipes.err]) pipe?.destroy();
}

async function spawnWaiting(
  program: Program,
  mark: string,
  pipes: Pipes,
): Promise<Waiting | { failure: Failure }> {
  const outer = process.env[MARK];
  let child: ChildProcess;
  try {
    child = spawn("/bin/sh", shellArguments(program), {
      cwd: program.folder,
      env: { ...program.environment, [MARK]: outer ? `${mark},${outer}` : mark },
      detached: true,
      stdio: [...pipes.theirs, "pipe"],
    });
  } catch (thrown) {
    return { failure: unstartable(program, thrown) };
  } finally {
    for (const descriptor of pipes.theirs) closeSync(descriptor);
  }
  const { promise, resolve } = Promise.withResolvers<Waiting | { failure: Failure }>();
  child.once("error", (error) => resolve({ failure: unstartable(program, error) }));
  const go = child.stdio?.[3] as Writable | undefined;
  if (!go) return promise; // No file was left to open: the error is on its way.
  go.on("error", () => {}); // It was ended before it could start: its exit says so.
  child.once("spawn", () => resolve({ child, group: child.pid as number, go, pipes }));
  return promise;
}

function unstartable(program: Program, thrown: unknown): Failure {
  const message = `${program.command[0]} could not be started in ${program.folder}: ${messageOf(thrown)}`;
  // A machine without files, processes or memory is nobody's fault.
  return EXHAUSTED.has(String((Object(thrown) as NodeJS.ErrnoException).code))
    ? failure("interrupted", message, "let other programs end, or raise the limits (ulimit -n, ulimit -u)")
    : failure("agent-failed", message, "check the command, and that the folder is still there");
}

const EXHAUSTED: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]);

const unrecorded = (program: Program, folder: string, thrown: unknown): Failure =>
  failure(
    "repository",
    `${program.command[0]} was not started, because it could not be recorded in ${folder}: ${messageOf(thrown)}`,
    "check that the folder can be written and its disk has room",
  );

async function live(waiting: Waiting, program: Program, family: Family, signal: AbortSignal) {
  const { child, go, pipes } = waiting;
  const output = new Output(program.limits.maxOutputBytes, program.onOutput);
  const talk = program.talk && pipes.in && conversation(pipes.in, pipes.out);
  const drain = (from: "out" | "err") => drained(pipes[from], (bytes) => output.write(from, bytes));
  const closed = [talk?.closed ?? drain("out"), drain("err")];
  const exited = Promise.withResolvers<void>();
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  child.once("exit", () => exited.resolve());
  if (hasExited()) exited.resolve();

  let why: "timed-out" | "stopped" | undefined;
  // A turn later: a loop that had stalled runs its timers first, and hears only then that the program has ended.
  const stop = (reason: "timed-out" | "stopped") =>
    void setImmediate(() => {
      if (!hasExited()) why ??= reason;
      exited.resolve();
    });
  const onAbort = () => stop("stopped");
  const timer = setTimeout(() => stop("timed-out"), Math.min(program.limits.maxMs, MAX_TIMER_MS));
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  else go.end("go\n");
  const over = talk && !signal.aborted && hold(program, talk, () => stop("stopped"));
  await exited.promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);

  const { isGone } = await endFamily(family);
  const isCut = !(await comesSoon(Promise.all(closed)));
  closePipes(pipes);
  if (over) await comesSoon(over);
  go.destroy();
  return { end: endOf(child, why, { ...output.end(), ...(isCut && { isCut }) }), isGone };
}

/** Calls `leave` if the program may still be there a while after everything was said. */
async function hold(program: Program, talk: Conversation, leave: () => void): Promise<void> {
  await program.talk?.(talk.streams).catch(() => {}); // Whoever talks keeps what it came to; here it is over.
  talk.end();
  setTimeout(leave, LEAVE_MS).unref();
}
/** How long a program may take to leave by itself once nobody talks to it. */
const LEAVE_MS = 2_000;

function drained(pipe: Socket, onBytes: (bytes: Buffer) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  pipe.on("data", onBytes);
  pipe.on("error", () => {}); // It closes then, and there is no more.
  pipe.once("close", () => resolve());
  return promise;
}

/** The longest that a timer of Node's takes: about 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;
