/** Which files does a turn have, and what is known from them once the engine that ran it is gone? */
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Failure, failure, messageOf } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
import type { Called, Said } from "../../ports/agent.ts";
import { readShort } from "../files/read-bounded.ts";
import { writeDurably } from "../files/write-whole.ts";

export type TurnFiles = {
  /** What the program is told of, and may fill with anything. */
  readonly folder: string;
  readonly brief: string;
  readonly handoff: string;
  /** Beside that folder: how the program ended, by the shell that started it; and what we made of it. */
  readonly status: string;
  readonly said: string;
};

export function turnFiles(home: string, job: JobId): TurnFiles {
  const folder = path.join(home, fileName(job));
  return {
    folder,
    brief: path.join(folder, "brief.json"),
    handoff: path.join(folder, "handoff.json"),
    status: `${folder}.status`,
    said: `${folder}.said.json`,
  };
}

/** `work:t.1#2` is `work-t.1-2`: readable, and safe wherever files can be. */
const fileName = (job: JobId) => job.replace(/[^A-Za-z0-9.]/g, "-");

/** What an earlier try left must be gone before this one starts, whatever a program made of it: a folder, a pipe. */
export async function prepareTurn(files: TurnFiles, input: string): Promise<Failure | undefined> {
  try {
    await mkdir(files.folder, { recursive: true, mode: 0o700 });
    for (const file of [files.said, files.status, files.handoff, files.brief])
      await rm(file, { recursive: true, force: true });
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

export async function recordedTurn(files: TurnFiles): Promise<Said | Called | undefined> {
  try {
    const said = JSON.parse(await readShort(files.said, MAX_SAID_BYTES)) as Said | Called;
    return KINDS.has(said.is) ? said : undefined;
  } catch {
    return undefined; // There is none.
  }
}

const KINDS: ReadonlySet<unknown> = new Set<(Said | Called)["is"]>(["said", "failed", "called"]);

/** The longest answer, escaped. */
const MAX_SAID_BYTES = 64_000_000;

/** Of a program that ended by itself, and while its shell was there to see it. */
export async function exitCodeIn(file: string): Promise<number | undefined> {
  const digits = /^(\d{1,3})\n$/.exec(await readShort(file))?.[1];
  const code = digits === undefined ? undefined : Number(digits);
  return code === undefined || code > MAX_EXIT_CODE ? undefined : code;
}

/** Above it are signals. */
const MAX_EXIT_CODE = 128;
