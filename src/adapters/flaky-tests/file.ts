/** How is a repository's history of flaky tests kept? In one file, which runs at the same time may all write. */
import { randomBytes } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { failure, messageOf } from "../../core/failure.ts";
import type { FlakyHistory, FlakyTest, FlakyTests, Noted, SeenFlaky } from "../../ports/flaky-tests.ts";
import type { Failed } from "../../ports/repository.ts";
import { readBounded } from "../files/read-bounded.ts";
import { writeDurably } from "../files/write-whole.ts";
import { type Entries, entriesText, merge, parseEntries } from "./entries.ts";

/** `folder` is the repository's own state folder. Nothing is made before something is noted. */
export class FileFlakyTests implements FlakyTests {
  readonly #file: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ folder }: { readonly folder: string }) {
    this.#file = path.join(folder, "flaky.json");
  }

  /** One after the other in this process; among processes, see `#write`. */
  note(seen: SeenFlaky): Promise<Noted | Failed> {
    const noted = this.#last.then(() => this.#write(seen));
    this.#last = noted;
    return noted;
  }

  async list(): Promise<FlakyHistory> {
    const { entries, damage } = await this.#read();
    const tests = [...entries.values()]
      .map(({ runs, ...test }): FlakyTest => ({ ...test, lastRun: runs.at(-1)?.run ?? "" }))
      .sort((a, b) => b.times - a.times || b.lastAt - a.lastAt || (a.name < b.name ? -1 : 1));
    return damage === undefined ? { tests } : { tests, damage };
  }

  /**
   * Another process may put its file in place between our reading and our writing. Then ours is read back without it,
   * or the other way round: who misses its own counts writes again. What is lost after some tries is told by the run's
   * next note, which has all of its counts.
   */
  async #write(seen: SeenFlaky): Promise<Noted | Failed> {
    try {
      for (let n = 0; n < MAX_TRIES; n += 1) {
        const { entries, damage } = await this.#read();
        const merged = merge(entries, seen);
        if (merged === undefined) return { is: "noted" };
        if (damage !== undefined) await rename(this.#file, `${this.#file}.damaged`).catch(() => {}); // Gone already.
        await this.#put(entriesText(merged));
      }
      return { is: "noted" };
    } catch (error) {
      const why = `the history of flaky tests cannot be written: ${this.#file}: ${messageOf(error)}`;
      return { failure: failure("repository", why) };
    }
  }

  /** Under a name of its own first: two that write one draft would mix. */
  async #put(text: string): Promise<void> {
    const own = `${this.#file}.${randomBytes(6).toString("hex")}`;
    try {
      await writeDurably(own, text); // An empty file must not take the place of what all runs have seen.
      await rename(own, this.#file);
    } catch (error) {
      await rm(own, { force: true });
      throw error;
    }
  }

  async #read(): Promise<{ readonly entries: Entries; readonly damage?: string }> {
    const read = await readBounded(this.#file, MAX_BYTES);
    if (read.is === "none") return { entries: new Map() };
    const entries = read.is === "bytes" ? parseEntries(read.bytes.toString()) : undefined;
    if (entries !== undefined) return { entries };
    const damage = `the history of flaky tests in ${this.#file} cannot be read: it begins anew`;
    return { entries: new Map(), damage };
  }
}

const MAX_TRIES = 5;
/** A thousand long names with what is kept of each. */
const MAX_BYTES = 16 * 1024 * 1024;
