/** Makes names of runs, and writes and reads run.json, which is checked when read. */
import * as z from "zod";
import { messageOf } from "../../core/failure.ts";
import { type Failed, failedWith } from "../../core/result.ts";
import type { RunRecord } from "../../ports/runs.ts";

/** Safe in the name of a branch and of a folder. */
export const isRunName = (name: string): boolean => /^[a-z0-9][a-z0-9-]{0,39}$/.test(name);

/**
 * A run's name: month and day, then four random letters; `create` refuses a name that is taken.
 *
 * ```ts
 * newRunName(new Date(2026, 10, 15), Math.random); // "1115-k7qd"
 * ```
 */
export function newRunName(now: Date, random: () => number): string {
  const two = (n: number) => String(n).padStart(2, "0");
  const letters = Array.from({ length: 4 }, () => ALPHABET[Math.floor(random() * ALPHABET.length)]);
  return `${two(now.getMonth() + 1)}${two(now.getDate())}-${letters.join("")}`;
}

/** Without vowels, which make words, and without look-alikes: half a million names a day. */
const ALPHABET = "23456789bcdfghjkmnpqrstvwxz";

const FORMAT = 1;

const RECORD = z.looseObject({
  format: z.number(),
  run: z.string(),
  goal: z.string(),
  base: z.string(),
  baseBranch: z.string().optional(),
  createdAt: z.number(),
  settings: z.unknown().refine((settings) => settings !== undefined),
});

export const recordText = (record: RunRecord): string =>
  `${JSON.stringify({ format: FORMAT, ...record }, undefined, 2)}\n`;

export function readRecord(run: string, file: string, text: string): RunRecord | Failed {
  const damaged = (why: string): Failed =>
    failedWith(
      "repository",
      `the record of run ${run} is damaged: ${file}: ${why}`,
      "restore the file from a backup, or start a new run; what landed is in the run's branch",
    );
  let written: unknown;
  try {
    written = JSON.parse(text);
  } catch (error) {
    return damaged(`no JSON (${messageOf(error)})`);
  }
  const { format: newer } = Object(written) as { readonly format?: unknown };
  if (typeof newer === "number" && newer > FORMAT) {
    const why = `run ${run} was created by a newer Skein: ${file} has format ${newer}, this one knows ${FORMAT}`;
    return failedWith("repository", why, "update Skein");
  }
  const read = RECORD.safeParse(written);
  if (!read.success) {
    const key = read.error.issues[0]?.path[0];
    if (key === undefined) return damaged("no object");
    return damaged(
      key === "format" ? "it has no format number" : `"${String(key)}" is missing or of the wrong kind`,
    );
  }
  const { format, ...record } = read.data;
  if (record.run !== run) return damaged(`it is the record of another run, ${JSON.stringify(record.run)}`);
  return record as RunRecord;
}
