/** Copies files that a fleet run's jobs wrote on other machines to this one: transcripts, turns, results. */
import { constants } from "node:fs";
import { lstat, mkdir, open } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { hasFailed } from "../../core/result.ts";
import type { RunFiles } from "../../ports/run-files.ts";
import type { RunHome } from "../../ports/runs.ts";
import { fields, parseJson } from "../../text/json.ts";
import { readShort } from "../files/read-bounded.ts";
import { writeWhole } from "../files/write-whole.ts";
import { fleetLinkOf } from "./fleet-runs.ts";

type FileRow = {
  readonly path: string;
  readonly chunk: number;
  readonly body: Buffer;
  readonly at: string;
};

const CHUNK_BYTES = 262_144;
const ROWS_AT_ONCE = 32;
/** How far back to look again: rows of a transaction that was slow to commit appear late. */
const OVERLAP = "5 s";
const CURSOR = "pulled.json";
/** The limit for one run, because workers may write as many files as they like. */
const MAX_FILES = 50_000;

/**
 * Pulls new files once; does nothing for a run of one machine. A failure only means that people cannot see some
 * files.
 */
export async function pullFiles(home: RunHome): Promise<void> {
  const link = fleetLinkOf(home);
  if (!link) return;
  const cursor = path.join(home.folder, CURSOR);
  const known = fields(parseJson(await readShort(cursor)));
  let since = typeof known["until"] === "string" ? known["until"] : "epoch";
  let count = Number(known["files"] ?? 0);
  let after: readonly [path: string, chunk: number] | undefined;
  for (;;) {
    const rows = await link.database.ask<FileRow>(
      `SELECT path, chunk, body, written_at::text AS at FROM $S.file
       WHERE run = $1 AND path LIKE '%/%' AND path NOT LIKE '%.bundle'
         AND (written_at, path, chunk) > ($2::timestamptz - $3::interval, $4, $5)
       ORDER BY written_at, path, chunk LIMIT ${ROWS_AT_ONCE}`,
      [link.runId, since, after ? "0" : OVERLAP, ...(after ?? ["", -1])],
    );
    if (hasFailed(rows)) return;
    for (const row of rows) {
      const written = await write(home.folder, row, count < MAX_FILES).catch(() => "refused"); // Refused by the disk.
      if (written === "new") count += 1;
      [since, after] = [row.at, [row.path, row.chunk]];
    }
    if (rows.length < ROWS_AT_ONCE) break;
  }
  await mkdir(home.folder, { recursive: true, mode: 0o700 });
  await writeWhole(cursor, JSON.stringify({ until: since, files: count }));
}

/**
 * Writes one chunk. Names come from workers, so none may lead out of the folder, and links there, such as one to a
 * scratchpad, are not followed.
 */
async function write(
  folder: string,
  { path: name, chunk, body }: FileRow,
  mayBeNew: boolean,
): Promise<"new" | "known" | "refused"> {
  const parts = name.split("/");
  if (parts.length > 3 || parts.some((part) => part === "" || part.startsWith(".") || /[\0\\]/.test(part)))
    return "refused";
  const file = path.join(folder, ...parts);
  const found = await lstat(file).catch(() => undefined); // The file is new.
  const mayWrite = found ? found.isFile() : mayBeNew;
  if (!mayWrite || !(await makeFolders(folder, parts.slice(0, -1)))) return "refused";
  await using handle = await open(file, INTO, 0o600);
  const at = chunk * CHUNK_BYTES;
  await handle.truncate(at);
  await handle.write(body, 0, body.length, at);
  return found ? "known" : "new";
}

const INTO = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** False if one of the names is not a folder. */
async function makeFolders(top: string, names: readonly string[]): Promise<boolean> {
  await mkdir(top, { recursive: true, mode: 0o700 });
  for (let i = 1; i <= names.length; i += 1) {
    const folder = path.join(top, ...names.slice(0, i));
    await mkdir(folder, { mode: 0o700 }).catch(() => {}); // It exists, or is no folder: checked next.
    if (!(await lstat(folder)).isDirectory()) return false;
  }
  return true;
}

/** Pulls until `signal`: soon after a file's notification, and at most once a second. */
export async function keepPulling(home: RunHome, signal: AbortSignal): Promise<void> {
  const link = fleetLinkOf(home);
  if (!link) return;
  using nudges = link.database.nudges(`file:${link.runId}`);
  while (!signal.aborted) {
    await pullFiles(home).catch(() => {}); // A disk that is full: the run goes on.
    await pause(PULL_MS, undefined, { signal }).catch(() => {}); // The loop checks the signal.
    await nudges.next(signal);
  }
  await pullFiles(home).catch(() => {}); // Pulls what was written last.
}

const PULL_MS = 1_000;

/** The same access to a run's files, which also pulls those of fleet runs first. */
export const withPulledFiles = (files: RunFiles): RunFiles => ({
  ...files,
  async output(home, name, signal) {
    await pullFiles(home).catch(() => {}); // What is already here is shown.
    return files.output(home, name, signal);
  },
  async *transcript(home, job, signal) {
    const over = new AbortController();
    const pulling = keepPulling(home, AbortSignal.any([signal, over.signal]));
    try {
      yield* files.transcript(home, job, signal);
    } finally {
      over.abort();
      await pulling;
    }
  },
});
