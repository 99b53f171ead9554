/** What is kept of each flaky test, and how does what a run has seen get into it? */
import type { SeenFlaky } from "../../ports/flaky-tests.ts";

export type Entry = {
  readonly name: string;
  readonly times: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** How much of `times` is of the newest runs, the last one last: what a run says twice is counted once. */
  readonly runs: readonly OfRun[];
};
type OfRun = { readonly run: string; readonly times: number };

/** By name. */
export type Entries = ReadonlyMap<string, Entry>;

/** Undefined if there is nothing new in it. */
export function merge(entries: Entries, { run, counts, at }: SeenFlaky): Entries | undefined {
  const merged = new Map(entries);
  let isNew = false;
  for (const [name, times] of counts) {
    const before = entries.get(name) ?? { times: 0, firstAt: at, lastAt: at, runs: [] };
    const said = before.runs.find((one) => one.run === run)?.times ?? 0;
    if (times <= said || name.length > MAX_NAME_CHARS) continue;
    isNew = true;
    const others = before.runs.filter((one) => one.run !== run);
    merged.set(name, {
      name,
      times: before.times + times - said,
      firstAt: Math.min(before.firstAt, at),
      lastAt: Math.max(before.lastAt, at),
      runs: [...others.slice(1 - MAX_RUNS), { run, times }],
    });
  }
  return isNew ? newest(merged) : undefined;
}

/** A test that has not been seen for longest was mended, renamed or removed. */
const newest = (entries: Entries): Entries =>
  entries.size <= MAX_NAMES
    ? entries
    : new Map([...entries].toSorted(([, a], [, b]) => b.lastAt - a.lastAt).slice(0, MAX_NAMES));

export const MAX_NAMES = 1_000;
const MAX_NAME_CHARS = 2_000;
/** More than run in one repository at once: a run that is not among them does not speak again. */
const MAX_RUNS = 10;

export const entriesText = (entries: Entries): string =>
  `${JSON.stringify({ version: VERSION, tests: [...entries.values()] })}\n`;

/** Undefined if it is not what was written. */
export function parseEntries(text: string): Entries | undefined {
  try {
    const { version, tests }: { version?: unknown; tests?: unknown } = Object(JSON.parse(text));
    if (version !== VERSION || !isListOf(tests, isEntry)) return undefined;
    return new Map(tests.map((entry) => [entry.name, entry]));
  } catch {
    return undefined; // The caller says what it means.
  }
}

const VERSION = 1;

const isListOf = <T>(value: unknown, isOne: (one: unknown) => one is T): value is readonly T[] =>
  Array.isArray(value) && value.every(isOne);

const isEntry = (value: unknown): value is Entry => {
  const { name, times, firstAt, lastAt, runs } = Object(value);
  return typeof name === "string" && [times, firstAt, lastAt].every(isCount) && isListOf(runs, isOfRun);
};

const isOfRun = (value: unknown): value is OfRun => {
  const { run, times } = Object(value);
  return typeof run === "string" && isCount(times);
};

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
