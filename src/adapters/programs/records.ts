/** Which programs may be running? One small file for each, there before its first instruction. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { JobId } from "../../core/job.ts";
import { readShort } from "../files/read-bounded.ts";
import { writeWhole } from "../files/write-whole.ts";

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
  const file = join(folder, `${name}${ENDING}`);
  await writeWhole(file, JSON.stringify(record)); // A machine that stops ends what is on record as well.
  return file;
}

export const removeRecord = (path: string): Promise<void> => rm(path, { force: true });

/** Those that can be read, by path. */
export async function readRecords(folder: string): Promise<Map<string, ProgramRecord>> {
  const records = new Map<string, ProgramRecord>();
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.endsWith(ENDING)) continue; // Being written right now, or never finished: nothing runs yet.
    const path = join(folder, name);
    const record = parse(await readShort(path));
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
