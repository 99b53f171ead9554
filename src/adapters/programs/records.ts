/** Records which programs may be running: one small file each, written before the program's first instruction. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { JobId } from "../../core/job.ts";
import { fields, parseJson } from "../../text/json.ts";
import { readShort } from "../files/read-bounded.ts";
import { writeWhole } from "../files/write-whole.ts";

export type ProgramRecord = {
  readonly job: JobId;
  readonly command: string;
  readonly group: number;
  /** When the group's leader started; undefined if it had ended before it could be asked. */
  readonly start: string | undefined;
  readonly boot: string;
  readonly mark: string;
};

/** Throws if the disk does: then the program must not run. */
export async function writeRecord(folder: string, record: ProgramRecord): Promise<string> {
  const file = join(folder, `${record.mark}${ENDING}`);
  await writeWhole(file, JSON.stringify(record)); // Not synced: a power cut ends the program, too.
  return file;
}

/** A record that cannot be removed is harmless: its group is gone. */
export const removeRecord = (path: string): Promise<void> => rm(path, { force: true }).catch(() => {});

export async function readRecords(folder: string): Promise<Map<string, ProgramRecord>> {
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
  const record = fields(parseJson(text)); // Without fields if it is half of a file.
  const { job, mark, group } = record;
  const isWhole = typeof job === "string" && typeof mark === "string" && mark.length > 0;
  return isWhole && Number.isInteger(group) && Number(group) > 1 ? (record as ProgramRecord) : undefined;
}
