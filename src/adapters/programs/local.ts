/** Runs programs on this machine so that none of their processes is left behind, even if Skein is killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { closeSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { basename, join } from "node:path";
import type { Writable } from "node:stream";
import { type Failure, failure, messageOf } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
import type { Program, ProgramEnd, Programs } from "../../ports/programs.ts";
import { fields, parseJson } from "../../text/json.ts";
import { readShort } from "../files/read-bounded.ts";
import { writeWhole } from "../files/write-whole.ts";
import { whyUnstartable } from "./command.ts";
import { Output } from "./output.ts";
import { type Conversation, closePipes, conversation, openPipes, type Pipes, removePipes } from "./pipes.ts";
import { bootId, startOf } from "./process-table.ts";
import { endFamily, type Family, MARK } from "./processes.ts";
import { comesSoon } from "./soon.ts";

export class LocalPrograms implements Programs {
  readonly #folder: string;

  /** `folder`: records of running programs, of this run alone; it must survive a crash. */
  constructor({ folder }: { readonly folder: string }) {
    this.#folder = folder;
  }

  async run(program: Program, signal: AbortSignal): Promise<ProgramEnd> {
    if (signal.aborted) return { is: "stopped", output: "", errors: "", tail: "" };
    const why = await whyUnstartable(program);
    if (why) return { is: "unstartable", failure: why };
    const mark = `${this.#markOf(program.job)}${randomUUID().slice(0, 8)}`;
    let pipes: Pipes;
    try {
      pipes = await openPipes(this.#folder, mark, program.talk ? undefined : (program.input ?? ""));
    } catch (thrown) {
      return { is: "unstartable", failure: this.#unrecorded(program, thrown) };
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
      const command = basename(program.command[0]);
      const record = { job: program.job, command, boot: bootId(), mark, group, start };
      path = await writeRecord(this.#folder, record);
    } catch (thrown) {
      waiting.child.kill("SIGKILL");
      closePipes(pipes);
      return { is: "unstartable", failure: this.#unrecorded(program, thrown) };
    }
    const family = { group, isGroupOurs: true, mark, since: sinceOf(start) };
    program.onGroup?.(group);
    const { end, isGone } = await runStarted(waiting, program, family, signal);
    if (isGone) await removeRecord(path);
    return end;
  }

  /** Also ends programs that this engine is running for the job. */
  async endLeftovers(job: JobId): Promise<number> {
    return this.#endRecorded((record) => record.job === job);
  }

  /** Ends everything on record after a crash, except for the jobs that go on. */
  async endAll(except: ReadonlySet<JobId> = new Set()): Promise<number> {
    const ended = await this.#endRecorded((record) => !except.has(record.job));
    if (except.size === 0) await removePipes(this.#folder);
    return ended;
  }

  async #endRecorded(isWanted: (record: ProgramRecord) => boolean): Promise<number> {
    const records = [...(await readRecords(this.#folder))].filter(([, record]) => isWanted(record));
    const counts = records.map(async ([path, record]) => {
      const { count, isGone } = await endRecord(record);
      if (isGone) await removeRecord(path);
      return count;
    });
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  /** The mark of a job: the same for all of its programs, and different in every folder. */
  #markOf(job: JobId): string {
    return `${createHash("sha256").update(`${this.#folder}\0${job}`).digest("hex").slice(0, 24)}.`;
  }

  #unrecorded({ command: [name] }: Program, thrown: unknown): Failure {
    const why = `it could not be recorded in ${this.#folder}: ${messageOf(thrown)}`;
    const next = "check that the folder can be written and its disk has room";
    return failure("repository", `${name} was not started, because ${why}`, next);
  }
}

async function endRecord(record: ProgramRecord): Promise<{ count: number; isGone: boolean }> {
  if (record.boot !== bootId()) return { count: 0, isGone: true };
  const { group, mark } = record;
  const start = await startOf(group);
  // Without /proc marks cannot be read. But while a process group lives, no other process or group can get its
  // number.
  const isGroupOurs =
    (start !== undefined && start === record.start) || (start === undefined && process.platform !== "linux");
  return endFamily({ group, isGroupOurs, mark, since: sinceOf(record.start) });
}

/** On Linux a start time is a number of ticks. */
const sinceOf = (start: string | undefined): number => Number(start) || 0;

/** A program that was started, but still waits for `go`. */
type Waiting = {
  readonly child: ChildProcess;
  readonly group: number;
  readonly go: Writable;
  readonly pipes: Pipes;
};

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
  if (!go) return promise; // No file descriptor was left: the error event follows.
  go.on("error", () => {}); // The program was ended before it could start: its exit tells so.
  child.once("spawn", () => resolve({ child, group: child.pid as number, go, pipes }));
  return promise;
}

function unstartable(program: Program, thrown: unknown): Failure {
  const message = `${program.command[0]} could not be started in ${program.folder}: ${messageOf(thrown)}`;
  // If the machine has no files, processes or memory left, the task is not at fault.
  return EXHAUSTED.has(String((Object(thrown) as NodeJS.ErrnoException).code))
    ? failure("interrupted", message, "let other programs end, or raise the limits (ulimit -n, ulimit -u)")
    : failure("agent-failed", message, "check the command, and that the folder is still there");
}

const EXHAUSTED: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]);

async function runStarted(waiting: Waiting, program: Program, family: Family, signal: AbortSignal) {
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
  // Decided one turn later: a stalled loop runs its timers first, and only then learns that the program has ended.
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
  const over = talk && !signal.aborted && talkWith(program, talk, () => stop("stopped"));
  await exited.promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);

  const { isGone } = await endFamily(family);
  const isCut = !(await comesSoon(Promise.all(closed)));
  closePipes(pipes);
  if (over) await comesSoon(over);
  go.destroy();
  const texts = { ...output.end(), ...(isCut && ({ isCut } as const)) };
  const end: ProgramEnd = why ? { is: why, ...texts } : { ...endOf(child), ...texts };
  return { end, isGone };
}

const MAX_TIMER_MS = 2 ** 31 - 1;

/** An unknown end is not taken for a success. */
const endOf = ({ exitCode, signalCode }: ChildProcess) =>
  exitCode !== null && signalCode === null
    ? ({ is: "exited", code: exitCode } as const)
    : ({ is: "killed", signal: signalCode ?? "an unknown signal" } as const);

/** Calls `stop` if the program is still there a while after the conversation. */
async function talkWith(program: Program, talk: Conversation, stop: () => void): Promise<void> {
  await program.talk?.(talk.streams).catch(() => {}); // The talking side keeps its own result.
  talk.end();
  setTimeout(stop, LEAVE_MS).unref();
}

const LEAVE_MS = 2_000;

function drained(pipe: Socket, onBytes: (bytes: Buffer) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  pipe.on("data", onBytes);
  pipe.on("error", () => {}); // Its close event follows.
  pipe.once("close", () => resolve());
  return promise;
}

/** A program that may be running: one small file each, written before the program's first instruction. */
type ProgramRecord = {
  readonly job: JobId;
  readonly command: string;
  readonly group: number;
  /** When the group's leader started; undefined if it had ended before it could be asked. */
  readonly start: string | undefined;
  readonly boot: string;
  readonly mark: string;
};

/** Throws if the disk fails: then the program must not run. */
async function writeRecord(folder: string, record: ProgramRecord): Promise<string> {
  const file = join(folder, `${record.mark}${ENDING}`);
  await writeWhole(file, JSON.stringify(record)); // Not synced, because a power cut ends the program, too.
  return file;
}

/** A record that cannot be removed is harmless: its group is gone. */
const removeRecord = (path: string): Promise<void> => rm(path, { force: true }).catch(() => {});

async function readRecords(folder: string): Promise<Map<string, ProgramRecord>> {
  const records = new Map<string, ProgramRecord>();
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.endsWith(ENDING)) continue; // Still being written: its program does not run yet.
    const path = join(folder, name);
    const record = parse(await readShort(path));
    if (record) records.set(path, record);
  }
  return records;
}

const ENDING = ".program.json";

function parse(text: string): ProgramRecord | undefined {
  const record = fields(parseJson(text)); // Half of a file gives no fields.
  const { job, mark, group } = record;
  const isWhole = typeof job === "string" && typeof mark === "string" && mark.length > 0;
  return isWhole && Number.isInteger(group) && Number(group) > 1 ? (record as ProgramRecord) : undefined;
}

/** The arguments of the shell that starts a program: it waits for a line, sets limits, and may record the exit code. */
function shellArguments({ command, limits, statusFile }: Program): string[] {
  const { maxFileBytes } = limits;
  const blocks = Number.isFinite(maxFileBytes) ? String(Math.ceil(maxFileBytes / BLOCK_BYTES)) : "unlimited";
  const script = statusFile === undefined ? `${BEGIN}; exec "$@"` : `${BEGIN}; ${WATCH}`;
  return ["-c", script, "sh", blocks, statusFile ?? "", ...command];
}

/** The unit of `ulimit -f` by POSIX: in dash, busybox, and bash as sh. */
const BLOCK_BYTES = 512;

/**
 * Waits for one line before it becomes the program, so that its group is on record first. If Skein dies before, it
 * reads the end of the file and exits. Its own variable has a name that no environment has; the shell also sets
 * PWD.
 */
const BEGIN =
  'read -r SKEIN_SHELL <&3 || exit 0; exec 3<&-; ulimit -f "$1" 2>/dev/null; SKEIN_SHELL=$2; shift 2';

/** Signals that end a process; without those that stop it or are ignored. */
const FATAL = "HUP|INT|QUIT|ILL|TRAP|ABRT|BUS|FPE|KILL|USR1|SEGV|USR2|PIPE|ALRM|TERM|XCPU|XFSZ|SYS";

/**
 * Stays as one more process, writes the exit code, and ends the same way, because a shell shows a signal as a
 * number above 128. Its own messages about that are dropped. If it is told to end together with the program, it
 * exits at once and writes nothing: a stopped program has no exit code.
 */
const WATCH = [
  "exec 3>&2 2>/dev/null",
  '( exec "$@" ) 2>&3 3>&-',
  "set -- $?",
  'echo "$1" > "$SKEIN_SHELL"',
  `[ "$1" -gt 128 ] && case $(kill -l "$1") in ${FATAL}) ulimit -c 0; kill -s "$(kill -l "$1")" $$ ;; esac`,
  'exit "$1"',
].join("\n");
