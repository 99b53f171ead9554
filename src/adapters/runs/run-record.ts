/** What is in run.json? The record of a run with the number of its format, checked when it is read. */
import { failure, messageOf } from "../../core/failure.ts";
import type { Failed } from "../../ports/repository.ts";
import type { RunRecord } from "../../ports/runs.ts";

const FORMAT = 1;

export const recordText = (record: RunRecord): string =>
  `${JSON.stringify({ format: FORMAT, ...record }, undefined, 2)}\n`;

export function readRecord(run: string, file: string, text: string): RunRecord | Failed {
  const damaged = (why: string): Failed => ({
    failure: failure(
      "repository",
      `the record of run ${run} is damaged: ${file}: ${why}`,
      "restore the file from a backup, or start a new run; what landed is in the run's branch",
    ),
  });
  let written: unknown;
  try {
    written = JSON.parse(text);
  } catch (error) {
    return damaged(`no JSON (${messageOf(error)})`);
  }
  if (typeof written !== "object" || written === null || Array.isArray(written)) return damaged("no object");
  const fields = written as Readonly<Record<string, unknown>>;
  const { format, ...record } = fields;
  if (typeof format !== "number") return damaged("it has no format number");
  if (format > FORMAT)
    return {
      failure: failure(
        "repository",
        `run ${run} was made by a newer Skein: ${file} has format ${format}, this one knows ${FORMAT}`,
        "update Skein",
      ),
    };
  const wrong = WANTED.find(([key, isRight]) => !isRight(record[key]));
  if (wrong) return damaged(`"${wrong[0]}" is missing or of the wrong kind`);
  if (record["run"] !== run)
    return damaged(`it is the record of another run, ${JSON.stringify(record["run"])}`);
  return record as unknown as RunRecord;
}

const isText = (value: unknown) => typeof value === "string";
const WANTED: readonly (readonly [key: keyof RunRecord, isRight: (value: unknown) => boolean])[] = [
  ["run", isText],
  ["goal", isText],
  ["base", isText],
  ["baseBranch", (value) => value === undefined || isText(value)],
  ["createdAt", Number.isFinite],
  ["settings", (value) => value !== undefined],
];
