/** Keeps a repository's history of flaky tests in one file, which several runs may write at the same time. */
import { rename } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { messageOf } from "../core/failure.ts";
import { type Failed, failedWith } from "../core/result.ts";
import type { FlakyHistory, FlakyTest, FlakyTests, Noted, SeenFlaky } from "../ports/flaky-tests.ts";
import { readBounded } from "./files/read-bounded.ts";
import { writeDurably } from "./files/write-whole.ts";

const count = z.int().nonnegative();
const HISTORY = z.object({
  version: z.literal(1),
  tests: z.array(
    z.object({
      name: z.string(),
      times: count,
      firstAt: count,
      lastAt: count,
      /** How much of `times` each of the newest runs reported, the newest run last, so that repeats count once. */
      runs: z.array(z.object({ run: z.string(), times: count })),
    }),
  ),
});

type KeptTest = z.infer<typeof HISTORY>["tests"][number];
type TestsByName = ReadonlyMap<string, KeptTest>;

/** `folder`: the repository's own state folder. The file is made by the first note. */
export class FileFlakyTests implements FlakyTests {
  readonly #file: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ folder }: { readonly folder: string }) {
    this.#file = path.join(folder, "flaky.json");
  }

  /** Notes are written one after the other in this process; for other processes, see `#write`. */
  note(seen: SeenFlaky): Promise<Noted | Failed> {
    const noted = this.#last.then(() => this.#write(seen));
    this.#last = noted;
    return noted;
  }

  async list(): Promise<FlakyHistory> {
    const { known, damage } = await this.#read();
    const tests = [...known.values()]
      .map(({ runs, ...test }): FlakyTest => ({ ...test, lastRun: runs.at(-1)?.run ?? "" }))
      .sort((a, b) => b.times - a.times || b.lastAt - a.lastAt || (a.name < b.name ? -1 : 1));
    return damage === undefined ? { tests } : { tests, damage };
  }

  /**
   * Another process may replace the file between this read and this write. So each write is read back, and
   * repeated if this process's counts are missing. Counts that are still lost after some tries come back with the
   * run's next note, which repeats all of its counts.
   */
  async #write(seen: SeenFlaky): Promise<Noted | Failed> {
    try {
      for (let n = 0; n < MAX_TRIES; n += 1) {
        const { known, damage } = await this.#read();
        const tests = merge(known, seen);
        if (tests === undefined) return { is: "noted" };
        if (damage !== undefined) await rename(this.#file, `${this.#file}.damaged`).catch(() => {}); // Renamed already.
        await writeDurably(this.#file, `${JSON.stringify({ version: 1, tests })}\n`);
      }
      return { is: "noted" };
    } catch (error) {
      const why = `the history of flaky tests cannot be written: ${this.#file}: ${messageOf(error)}`;
      return failedWith("repository", why);
    }
  }

  async #read(): Promise<{ readonly known: TestsByName; readonly damage?: string }> {
    const read = await readBounded(this.#file, MAX_BYTES);
    if (read.is === "none") return { known: new Map() };
    try {
      if (read.is !== "bytes") throw new Error("not a plain file");
      const { tests } = HISTORY.parse(JSON.parse(read.bytes.toString()));
      return { known: new Map(tests.map((test) => [test.name, test])) };
    } catch {
      const damage = `the history of flaky tests in ${this.#file} cannot be read: it begins anew`;
      return { known: new Map(), damage };
    }
  }
}

/** All tests with what a run has seen; undefined if it has reported all of that before. */
function merge(known: TestsByName, { run, counts, at }: SeenFlaky): readonly KeptTest[] | undefined {
  const merged = new Map(known);
  let isNew = false;
  for (const [name, times] of counts) {
    const before = known.get(name) ?? { times: 0, firstAt: at, lastAt: at, runs: [] };
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
  if (!isNew) return undefined;
  if (merged.size <= MAX_NAMES) return [...merged.values()];
  return [...merged.values()].sort((a, b) => b.lastAt - a.lastAt).slice(0, MAX_NAMES);
}

/** Above this limit, the tests that were not seen for longest are dropped: they were fixed, renamed or removed. */
const MAX_NAMES = 1_000;
const MAX_NAME_CHARS = 2_000;
/** More runs than work in one repository at once; an older run no longer reports. */
const MAX_RUNS = 10;
const MAX_TRIES = 5;
/** Room for a thousand long names and their records. */
const MAX_BYTES = 16 * 1024 * 1024;
