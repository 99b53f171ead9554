/** Which files does a turn have, and what is known from them once the engine that ran it is gone? */
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Failure, failure, messageOf } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
import type { ToolResponse } from "../../core/subtask.ts";
import type { Called, Said } from "../../ports/agent.ts";
import { readShort } from "../files/read-bounded.ts";
import { writeDurably } from "../files/write-whole.ts";

export type TurnFiles = {
  /** What the program is told of, and may fill with anything. */
  readonly folder: string;
  readonly brief: string;
  readonly handoff: string;
  /** What a worker goes on with. */
  readonly response: string;
  /** Beside that folder: how the program ended, by the shell that started it; and what we made of it. */
  readonly status: string;
  readonly said: string;
  /** Of a turn that ended with a call: that call; what went before it in its conversation; and the agent's session. */
  readonly called: string;
  readonly conversation: string;
  readonly session: string;
};

export function turnFiles(home: string, job: JobId): TurnFiles {
  const folder = path.join(home, fileName(job));
  return {
    folder,
    brief: path.join(folder, "brief.json"),
    handoff: path.join(folder, "handoff.json"),
    response: path.join(folder, "response.json"),
    status: `${folder}.status`,
    said: `${folder}.said.json`,
    called: `${folder}.called.json`,
    conversation: `${folder}.conversation.json`,
    session: `${folder}.session.json`,
  };
}

/** `work:t.1#2` is `work-t.1-2`: readable, and safe wherever files can be. */
const fileName = (job: JobId) => job.replace(/[^A-Za-z0-9.]/g, "-");

/** What a worker goes on with, and all that went before in its conversation. */
export type GoingOn = { readonly response: ToolResponse; readonly conversation: readonly object[] };

/** What an earlier try left must be gone before this one starts, whatever a program made of it: a folder, a pipe. */
export async function prepareTurn(
  files: TurnFiles,
  input: string,
  goesOn?: GoingOn,
): Promise<Failure | undefined> {
  try {
    await mkdir(files.folder, { recursive: true, mode: 0o700 });
    const { folder: _, ...before } = files;
    for (const file of Object.values(before)) await rm(file, { recursive: true, force: true });
    if (goesOn) {
      await writeDurably(files.conversation, JSON.stringify(goesOn.conversation));
      await writeFile(files.response, `${JSON.stringify(goesOn.response)}\n`, { mode: 0o600, flag: "wx" });
    }
    await writeFile(files.brief, input, { mode: 0o600, flag: "wx" });
    return undefined;
  } catch (error) {
    const why = `the job's folder ${files.folder} cannot be written: ${messageOf(error)}`;
    return failure("interrupted", why, "see whether the disk is full or read-only");
  }
}

/** Undefined for a program that was ended by others: it did not get to the end of its turn. */
export async function recordTurn(files: TurnFiles, said: Said | Called | undefined): Promise<void> {
  try {
    if (said) await writeDurably(files.said, JSON.stringify(said));
    else await rm(files.status, { force: true });
  } catch {
    // The turn has its answer all the same; should we be killed now, there are the exit code and the handoff.
  }
}

/** What was made of it; else the call that it had made, which counts however the turn went on. */
export async function recordedTurn(files: TurnFiles): Promise<Said | Called | undefined> {
  const said = await readRecord<Said | Called>(files.said);
  if (said && KINDS.has(said.is)) return said;
  const call = await readRecord<KeptCall>(files.called);
  return call && { is: "called", tool: call.tool, input: call.input };
}

const KINDS: ReadonlySet<string> = new Set<(Said | Called)["is"]>(["said", "failed", "called"]);

/** A call as it is on the disk; with the agent's last words before it, where they were heard. */
export type KeptCall = Pick<Called, "tool" | "input"> & { readonly words?: string };

/** Undefined where there is none, and where it is not whole. Only Skein writes it. */
export async function readRecord<T extends object>(file: string): Promise<T | undefined> {
  try {
    const record: unknown = JSON.parse(await readShort(file, MAX_RECORD_BYTES));
    return typeof record === "object" && record !== null ? (record as T) : undefined;
  } catch {
    return undefined; // There is none.
  }
}

/** The longest answer, escaped. */
const MAX_RECORD_BYTES = 64_000_000;

/** Of a program that ended by itself, and while its shell was there to see it. */
export async function exitCodeIn(file: string): Promise<number | undefined> {
  const digits = /^(\d{1,3})\n$/.exec(await readShort(file))?.[1];
  const code = digits === undefined ? undefined : Number(digits);
  return code === undefined || code > MAX_EXIT_CODE ? undefined : code;
}

/** Above it are signals. */
const MAX_EXIT_CODE = 128;
