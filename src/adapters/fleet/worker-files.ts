/** Sends the files that a job wrote on its worker to Postgres in bounded chunks, for other machines to read. */
import { open, readdir } from "node:fs/promises";
import path from "node:path";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { OfferedJob } from "../../ports/fleet-jobs.ts";
import { GUARDED } from "../files/read-bounded.ts";
import { writeWhole } from "../files/write-whole.ts";
import type { Database } from "./database.ts";
import { ownFiles } from "./own-files.ts";

/** All chunks of a file but the last have this size, so that a growing file is continued. */
const CHUNK_BYTES = 262_144;
/** 64 MB in all: the database takes no more of one file. */
const MAX_CHUNKS = 256;
/** The limit of one call of `send`. A turn leaves about ten files; an agent may put anything beside them. */
const MAX_FILES = 200;

/** The folders whose files a worker may write and that matter to others. */
const FOLDERS = ["transcripts", "turns", "gates", "artefacts", "scratchpad", "conversations"] as const;

type Sent = { readonly bytes: number; readonly mtimeMs: number };

/** The files of one run on one worker. */
export class WorkerFiles {
  readonly #database: Database;
  readonly #folder: string;
  readonly #sent = new Map<string, Sent>();

  /** `folder`: that of the run. */
  constructor(database: Database, folder: string) {
    this.#database = database;
    this.#folder = folder;
  }

  /**
   * Sends a job's files that changed since the last time. A file that cannot be sent is only missing for people
   * who look.
   */
  async send(offered: OfferedJob, folders: readonly string[] = FOLDERS): Promise<void> {
    const { permit } = offered;
    const isOwn = new RegExp(ownFiles(offered), "s");
    let count = 0;
    for (const name of folders)
      for (const file of (await filesIn(path.join(this.#folder, name))).map((one) => `${name}/${one}`)) {
        if (!isOwn.test(file)) continue;
        const isNew = await this.#sendFile(permit, file).catch(() => false); // The file was removed meanwhile.
        if (isNew) count += 1;
        if (count === MAX_FILES) return;
      }
  }

  /** Writes bytes under a name that is not on the disk. */
  async put(permit: string, name: string, bytes: Uint8Array): Promise<Failed | undefined> {
    for (let chunk = 0; chunk === 0 || chunk * CHUNK_BYTES < bytes.length; chunk += 1) {
      const body = bytes.subarray(chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES);
      const wrote = await this.#write(permit, name, chunk, body);
      if (wrote) return wrote;
    }
    return undefined;
  }

  /** Fetches files of the run that another machine wrote. A missing file is not needed. */
  async fetch(permit: string, names: readonly string[]): Promise<void> {
    for (const name of names) {
      const bytes = await this.read(permit, name);
      if (hasFailed(bytes) || bytes.length === 0) continue;
      const file = path.join(this.#folder, name);
      await writeWhole(file, bytes);
    }
  }

  /** Empty if there is no such file. */
  async read(permit: string, name: string): Promise<Uint8Array | Failed> {
    const rows = await this.#database.ask<{ readonly body: Buffer }>(
      "SELECT body FROM $S.worker_read($1, $2) AS one (body)",
      [permit, name],
    );
    return hasFailed(rows) ? rows : Buffer.concat(rows.map(({ body }) => body));
  }

  /**
   * Sends a file from the first chunk that is not whole in Postgres. A file that became shorter is sent anew.
   * Returns whether it had changed.
   */
  async #sendFile(permit: string, name: string): Promise<boolean> {
    const file = path.join(this.#folder, name);
    await using handle = await open(file, GUARDED); // An agent may have put a link or a pipe there.
    const found = await handle.stat();
    const { size, mtimeMs } = found;
    const before = this.#sent.get(name);
    if (!found.isFile() || (before?.bytes === size && before.mtimeMs === mtimeMs)) return false;
    const isLonger = before !== undefined && size > before.bytes;
    const first = isLonger ? Math.floor(before.bytes / CHUNK_BYTES) : 0;
    for (let chunk = first; chunk < MAX_CHUNKS && (chunk === 0 || chunk * CHUNK_BYTES < size); chunk += 1) {
      const buffer = Buffer.alloc(Math.min(CHUNK_BYTES, size - chunk * CHUNK_BYTES));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, chunk * CHUNK_BYTES);
      if (await this.#write(permit, name, chunk, buffer.subarray(0, bytesRead))) return true;
    }
    this.#sent.set(name, { bytes: size, mtimeMs });
    return true;
  }

  async #write(permit: string, name: string, chunk: number, body: Uint8Array): Promise<Failed | undefined> {
    const wrote = await this.#database.ask("SELECT $S.worker_write($1, $2, $3, $4)", [
      ...[permit, name, chunk, Buffer.from(body.buffer, body.byteOffset, body.byteLength)],
    ]);
    return hasFailed(wrote) ? wrote : undefined;
  }
}

/** Plain files, also one folder deeper: an agent's brief is in a folder of its turn. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []); // Nothing was written yet.
  const files: string[] = [];
  for (const entry of entries) {
    if (entry.isFile()) files.push(entry.name);
    if (!entry.isDirectory()) continue;
    const inner = await readdir(path.join(folder, entry.name), { withFileTypes: true }).catch(() => []); // Removed.
    files.push(...inner.filter((one) => one.isFile()).map((one) => `${entry.name}/${one.name}`));
  }
  return files;
}
