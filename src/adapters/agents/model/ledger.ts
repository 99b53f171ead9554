/** Records a turn's model calls and their cost on disk, before and after each call, so that a kill loses nothing. */
import { type FileHandle, mkdir, open } from "node:fs/promises";
import path from "node:path";
import type { JobId, Spent } from "../../../core/job.ts";
import { fields, parseJson } from "../../../text/json.ts";
import { readShort } from "../../files/read-bounded.ts";
import { turnFiles } from "../turn-files.ts";

export type SetAside = { readonly model: string; readonly tokens: number; readonly microdollars?: number };

/** What an answered call cost; `input` includes what came from a cache or went to one. */
type CallCost = {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly microdollars?: number;
  readonly toolCalls: number;
  readonly stop: string;
};

/** `at` is missing in ledgers of older versions of Skein. */
export type LedgerLine = { readonly call: number; readonly at?: number } & (
  | ({ readonly is: "opened" } & SetAside)
  | ({ readonly is: "ended" } & CallCost)
  /** The provider did nothing, so the call cost nothing. */
  | { readonly is: "refused" }
  /** The call was cut off, so its cost is unknown. */
  | { readonly is: "unknown" }
  /** A tool that call `call` asked for has ended. */
  | ({ readonly is: "tool" } & ToolUse)
);

export type ToolUse = {
  readonly id: string;
  readonly name: string;
  readonly from: number;
  readonly hasFailed?: true;
};

/** `home`: the folder of the turns' files. */
export const ledgerFile = (home: string, job: JobId): string => `${turnFiles(home, job).folder}.cost.jsonl`;

export class Ledger {
  readonly #file: FileHandle;
  readonly #now: () => number;
  readonly #lines: LedgerLine[] = [];
  #calls = 0;

  private constructor(file: FileHandle, now: () => number) {
    this.#file = file;
    this.#now = now;
  }

  /** Begins a new file: the ledger of an earlier try has been collected before. Throws file system errors. */
  static async open(file: string, now: () => number = Date.now): Promise<Ledger> {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    return new Ledger(await open(file, "w", 0o600), now);
  }

  /** Written before the call is made, so that a call that never ends is known. */
  async opened(most: SetAside): Promise<number> {
    this.#calls += 1;
    await this.#write({ is: "opened", call: this.#calls, ...most });
    return this.#calls;
  }

  ended = (call: number, cost: CallCost): Promise<void> => this.#write({ is: "ended", call, ...cost });
  refused = (call: number): Promise<void> => this.#write({ is: "refused", call });
  unknown = (call: number): Promise<void> => this.#write({ is: "unknown", call });

  spent = (): Spent => spentOf(this.#lines);
  close = (): Promise<void> => this.#file.close();

  /** For traces only: a tool use costs nothing, so the line is not synced, and a failing disk is no reason to stop. */
  async toolEnded(use: ToolUse): Promise<void> {
    const line: LedgerLine = { is: "tool", call: this.#calls, at: this.#now(), ...use };
    await this.#file.appendFile(`${JSON.stringify(line)}\n`).catch(() => {});
  }

  /** The line counts in memory even if the disk fails. */
  async #write(fields: LedgerLine): Promise<void> {
    const line = { ...fields, at: this.#now() };
    this.#lines.push(line);
    await this.#file.appendFile(`${JSON.stringify(line)}\n`);
    await this.#file.datasync();
  }
}

/** What a turn spent; undefined if no call was opened. A line that was cut by a kill does not count. */
export async function readLedger(file: string): Promise<Spent | undefined> {
  const lines = await ledgerLines(file);
  return lines.some((line) => line.is === "opened") ? spentOf(lines) : undefined;
}

/** The lines of a ledger; empty if there is no file. */
export const ledgerLines = async (file: string): Promise<readonly LedgerLine[]> =>
  (await readShort(file, MAX_LEDGER_BYTES)).split("\n").flatMap(lineIn);

/** Room for two lines of 200 bytes for each of several thousand calls. */
const MAX_LEDGER_BYTES = 16_000_000;

function lineIn(text: string): readonly LedgerLine[] {
  const line = fields(parseJson(text)) as Partial<LedgerLine>; // A killed process may leave half of its last line.
  return typeof line.call === "number" && KINDS.has(line.is ?? "") ? [line as LedgerLine] : [];
}
const KINDS: ReadonlySet<string> = new Set<LedgerLine["is"]>([
  ...(["opened", "ended", "refused", "unknown", "tool"] as const),
]);

function spentOf(lines: readonly LedgerLine[]): Spent {
  const ends = lines.filter((line) => line.is === "ended");
  const settled = new Set(
    lines.filter((line) => line.is === "ended" || line.is === "refused").map((l) => l.call),
  );
  const opened = lines.filter((line) => line.is === "opened");
  const cut = opened.filter((line) => !settled.has(line.call));
  const inputTokens = sum(ends.map((end) => end.input));
  const outputTokens = sum(ends.map((end) => end.output));
  return {
    tokens: inputTokens + outputTokens,
    ...money(ends),
    ...(cut.length === 0
      ? {}
      : { unaccounted: { calls: cut.length, tokens: sum(cut.map((call) => call.tokens)), ...money(cut) } }),
    turn: {
      model: opened.at(-1)?.model ?? "",
      calls: ends.length,
      toolCalls: sum(ends.map((end) => end.toolCalls)),
      inputTokens,
      outputTokens,
      stop: ends.at(-1)?.stop ?? "",
    },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** The sum of money; left out if one of the prices is unknown. */
function money(all: readonly { readonly microdollars?: number }[]): { readonly microdollars?: number } {
  const known = all.flatMap(({ microdollars }) => (microdollars === undefined ? [] : [microdollars]));
  return known.length === all.length ? { microdollars: sum(known) } : {};
}
