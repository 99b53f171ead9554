/** The files of a turn: the agent's brief, answer and conversation, which a later engine reads after a restart. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Brief } from "../../core/brief.ts";
import { type Failure, failure, messageOf } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
import type { ToolResponse } from "../../core/subtask.ts";
import type { Ask, Called, Said, Scratchpad } from "../../ports/agent.ts";
import { parseJson } from "../../text/json.ts";
import { readShort } from "../files/read-bounded.ts";
import { writeDurably } from "../files/write-whole.ts";

export type TurnFiles = {
  /** The program is told of this folder, and may put anything into it. */
  readonly folder: string;
  readonly brief: string;
  readonly handoff: string;
  readonly response: string;
  /** Outside of that folder: the exit code, written by the shell; and the result of the turn. */
  readonly status: string;
  readonly said: string;
  /** For a turn that ended with a call: the call, the conversation before it, and the agent's session. */
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

/** `work:t.1#2` becomes `work-t.1-2`: readable, and a valid file name everywhere. */
export const fileName = (job: string): string => job.replace(/[^A-Za-z0-9.]/g, "-");

/** Files of earlier jobs that a job continues from, relative to the folder of the run. */
export function filesToGoOn(brief: Brief): readonly string[] {
  if (brief.kind === "plan") return [conversationOf(brief.transcript)];
  if (brief.kind !== "work") return [];
  const outputs = brief.before.flatMap(({ output }) => (output === undefined ? [] : `scratchpad/${output}`));
  if (!brief.goOn) return outputs;
  const { session } = brief.goOn;
  const records = ["said", "called", "conversation", "session"].map(
    (kind) => `turns/${fileName(session)}.${kind}.json`,
  );
  return [...outputs, ...records, conversationOf(session)];
}

const conversationOf = (name: string): string => `conversations/${fileName(name)}.jsonl`;

/**
 * Writes a turn's input, and first removes what an earlier try left, whatever a program made of it: a folder, a
 * pipe.
 */
export async function prepareTurn(
  files: TurnFiles,
  input: string,
  resumed?: Resumed,
): Promise<Failure | undefined> {
  try {
    await mkdir(files.folder, { recursive: true, mode: 0o700 });
    const { folder: _, ...before } = files;
    for (const file of Object.values(before)) await rm(file, { recursive: true, force: true });
    if (resumed) {
      await writeDurably(files.conversation, JSON.stringify(resumed.conversation));
      await writeFile(files.response, `${JSON.stringify(resumed.response)}\n`, { mode: 0o600, flag: "wx" });
    }
    await writeFile(files.brief, input, { mode: 0o600, flag: "wx" });
    return undefined;
  } catch (error) {
    const why = `the job's folder ${files.folder} cannot be written: ${messageOf(error)}`;
    return failure("interrupted", why, "see whether the disk is full or read-only");
  }
}

/**
 * Records the result. `said` is undefined if the program was ended from outside; then its exit code is removed,
 * too.
 */
export async function recordTurn(files: TurnFiles, said: Said | Called | undefined): Promise<void> {
  try {
    if (said) await writeDurably(files.said, JSON.stringify(said));
    else await rm(files.status, { force: true });
  } catch {
    // The caller has the answer. If this process is killed now, the exit code and the handoff remain.
  }
}

/** The recorded result; else the call that the turn made, which counts however the turn went on. */
export async function recordedTurn(files: TurnFiles): Promise<Said | Called | undefined> {
  const said = await readRecord<Said | Called>(files.said);
  if (said && KINDS.has(said.is)) return said;
  const call = await readRecord<KeptCall>(files.called);
  return call && { is: "called", tool: call.tool, input: call.input };
}

const KINDS: ReadonlySet<string> = new Set<(Said | Called)["is"]>(["said", "failed", "called"]);

/** A call as it is on disk, with the agent's last words before it if they are known. */
export type KeptCall = Pick<Called, "tool" | "input"> & { readonly words?: string };

/** Reads a record that only Skein writes; undefined if it is missing or damaged. */
export async function readRecord<T extends object>(file: string): Promise<T | undefined> {
  const record = parseJson(await readShort(file, MAX_RECORD_BYTES));
  return typeof record === "object" && record !== null ? (record as T) : undefined;
}

/** Room for the longest answer, escaped. */
const MAX_RECORD_BYTES = 64_000_000;

/** The exit code of a program that ended by itself, as its shell recorded it. */
export async function exitCodeIn(file: string): Promise<number | undefined> {
  const digits = /^(\d{1,3})\n$/.exec(await readShort(file))?.[1];
  const code = digits === undefined ? undefined : Number(digits);
  return code === undefined || code > MAX_EXIT_CODE ? undefined : code;
}

/** Larger codes stand for signals. */
const MAX_EXIT_CODE = 128;

export type TurnEntry =
  | ({ readonly is: "call"; readonly attempt: number } & KeptCall)
  | ({ readonly is: "response" } & ToolResponse)
  /** The worker's answer to a question of its subtask. */
  | { readonly is: "answer"; readonly text: string };

/** What a worker resumes with: the response to its call, and the conversation up to and including it. */
export type Resumed = { readonly response: ToolResponse; readonly conversation: readonly TurnEntry[] };

/** `home`: the folder of the turns' files. Undefined for a worker that begins. */
export async function resumedIn(home: string, { brief }: Pick<Ask, "brief">): Promise<Resumed | undefined> {
  if (brief.kind !== "work" || !brief.goOn) return undefined;
  const { session, response } = brief.goOn;
  const before = await conversationUpTo(home, session);
  return { response, conversation: [...before, { is: "response", ...response }] };
}

/** A worker's calls and the responses to them until the end of a job's turn, oldest first. */
export async function conversationUpTo(home: string, job: JobId): Promise<readonly TurnEntry[]> {
  const files = turnFiles(home, job);
  const before = (await readRecord<readonly TurnEntry[]>(files.conversation)) ?? [];
  const call = await readRecord<KeptCall>(files.called);
  if (call) return [...before, { is: "call", attempt: Number(/#(\d+)$/.exec(job)?.[1] ?? 1), ...call }];
  const said = await readRecord<Said>(files.said);
  return said?.is === "said" ? [...before, { is: "answer", text: said.text }] : before;
}

/** Environment variables that name the scratchpad; the first name is one that other tools know. */
export const scratchpadVariables = (
  scratchpad: Scratchpad | undefined,
): Readonly<Record<string, string>> => ({
  ...(scratchpad && { CLAUDE_SCRATCHPAD_DIR: scratchpad.folder }),
  ...(scratchpad?.file !== undefined && { SKEIN_OUTPUT_FILE: scratchpad.file }),
});
