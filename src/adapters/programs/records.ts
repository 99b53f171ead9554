/** Which programs may be running? One small file for each, on the disk before its first instruction. */
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { JobId } from "../../core/job.ts";

export type ProgramRecord = {
  readonly job: JobId;
  /** What it was, for people. */
  readonly command: string;
  readonly group: number;
  /** Of the group's leader; undefined if it had ended before it could be asked. */
  readonly start: string | undefined;
  readonly boot: string;
  readonly mark: string;
};

/** Throws if the disk does: then the program must not run. */
export async function writeRecord(folder: string, name: string, record: ProgramRecord): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${name}${ENDING}`);
  const file = await open(`${path}.new`, "w", 0o600);
  try {
    await file.writeFile(JSON.stringify(record));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  const directory = await open(folder);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
  return path;
}

export const removeRecord = (path: string): Promise<void> => rm(path, { force: true });

/** Those that can be read, by path. */
export async function readRecords(folder: string): Promise<Map<string, ProgramRecord>> {
  const records = new Map<string, ProgramRecord>();
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.endsWith(ENDING)) continue; // Being written right now, or never finished: nothing runs yet.
    const path = join(folder, name);
    const record = parse(await readFile(path, "utf8").catch(() => ""));
    if (record) records.set(path, record);
  }
  return records;
}

const ENDING = ".program.json";

function parse(text: string): ProgramRecord | undefined {
  try {
    const value = JSON.parse(text) as ProgramRecord;
    const isWhole =
      typeof value.job === "string" &&
      typeof value.mark === "string" &&
      value.mark.length > 0 &&
      Number.isInteger(value.group) &&
      value.group > 1;
    return isWhole ? value : undefined;
  } catch {
    return undefined; // Half a file.
  }
}
