/** Runs a task's own success command by a shell in its workspace, in a sandbox where possible, within limits. */
import type { JobId } from "../core/job.ts";
import { type Failed, failedWith, hasFailed } from "../core/result.ts";
import { unreachable } from "../core/unreachable.ts";
import { criterionOutput } from "../core/view/gate-runs.ts";
import type { Criteria, Tried } from "../ports/criteria.ts";
import type { ProgramEnd, ProgramLimits, Programs } from "../ports/programs.ts";
import type { Transcripts } from "../ports/transcripts.ts";
import type { Workspace } from "../ports/workspaces.ts";
import { cachesOf } from "./sandboxes/confined-programs.ts";
import type { Sandbox } from "./sandboxes/sandbox.ts";

type CommandCriteriaParts = {
  readonly programs: Programs;
  readonly transcripts: Transcripts;
  readonly limits: ProgramLimits;
  /** The folder where tasks leave their results, for commands that read them. */
  readonly scratchpad: string;
  /** Called once, by the first command. */
  readonly sandbox: () => Promise<Sandbox | Failed>;
  readonly redact: (text: string) => string;
};

export class CommandCriteria implements Criteria {
  readonly #parts: CommandCriteriaParts;
  #sandbox: Promise<Sandbox | Failed> | undefined;

  constructor(parts: CommandCriteriaParts) {
    this.#parts = parts;
  }

  async try(command: string, workspace: Workspace, signal: AbortSignal): Promise<Tried | Failed> {
    const wrong = unusable(command);
    if (wrong !== undefined) return { is: "red", detail: wrong };
    const { programs, transcripts, limits, redact, scratchpad } = this.#parts;
    this.#sandbox ??= this.#parts.sandbox();
    const sandbox = await this.#sandbox;
    if (hasFailed(sandbox)) return sandbox;
    const { folder, environment } = workspace;
    const temporary = environment["TMPDIR"] ?? folder;
    const caches = { folder: cachesOf(folder), may: "read" } as const;
    const place = { folder, temporary, scratchpad: { folder: scratchpad }, caches };
    // Not the attempt's own job: stopping a criterion does not mean that the worker did not finish.
    const job = criterionOutput(workspace.job) as JobId;
    await programs.endLeftovers(job);
    const transcript = transcripts.open(job);
    transcript.write(`$ ${command}\n`);
    const end = await programs.run(
      {
        job,
        command: sandbox.wrap(["/bin/sh", "-c", "--", command], place),
        folder,
        environment: { ...environment, CI: "true", CLAUDE_SCRATCHPAD_DIR: scratchpad },
        limits,
        onOutput: transcript.write,
      },
      signal,
    );
    await transcript.close();
    const tried = judged(end, limits.maxMs);
    return hasFailed(tried) || tried.is === "passed" ? tried : { ...tried, detail: redact(tried.detail) };
  }
}

/** Why a command cannot be run on any machine: such a command counts as failed. */
function unusable(command: string): string | undefined {
  if (command.includes("\0")) return "the command contains a zero byte, and cannot be run";
  return Buffer.byteLength(command) > MAX_COMMAND_BYTES
    ? `the command has more than ${MAX_COMMAND_BYTES} bytes, and cannot be run`
    : undefined;
}

/** Linux takes at most 128 KiB as one argument. */
const MAX_COMMAND_BYTES = 100_000;

function judged(end: ProgramEnd, maxMs: number): Tried | Failed {
  switch (end.is) {
    case "exited":
      return end.code === 0 ? { is: "passed" } : red(end.tail, `exit code ${end.code}`);
    case "killed":
      return red(end.tail, `killed by ${end.signal}`);
    case "timed-out":
      return red(end.tail, `stopped: it did not end within ${Math.round(maxMs / 1_000)} s`);
    case "stopped":
      return failedWith("interrupted", "the success criterion was stopped before its end");
    case "unstartable": {
      const { message, next } = end.failure;
      return failedWith("repository", `the success criterion could not be started: ${message}`, next);
    }
    default:
      return unreachable(end);
  }
}

const red = (tail: string, how: string): Tried => {
  const said = tail.toWellFormed().replace(CONTROL, "").trim();
  return { is: "red", detail: said === "" ? `[${how}]` : `${said}\n[${how}]` };
};

/** All control characters but tab and line ends, because a terminal obeys escapes. */
const CONTROL = /[\p{Cc}--[\t\n]]/gv;
