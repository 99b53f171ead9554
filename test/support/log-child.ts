/** A child process of tests that uses a log or a run (`log-child.ts <what> <place> …`) and prints its progress. */
import { chmodSync, writeSync } from "node:fs";
import path from "node:path";
import { setImmediate as drained } from "node:timers/promises";
import { SqliteEventLog } from "../../src/adapters/event-logs/sqlite.ts";
import { FolderRuns } from "../../src/adapters/runs/folder-runs.ts";
import type { Event } from "../../src/core/log/event.ts";
import { hasFailed } from "../../src/core/result.ts";

const [what = "", place = "", count = "0", tag = ""] = process.argv.slice(2);
const log = new SqliteEventLog(place);

const say = (words: unknown): void => void writeSync(1, `${JSON.stringify(words)}\n`);
const event = (at: number): Event => ({ type: "run.steered", message: `${tag}${"x".repeat(500)}`, at });
const batch = (after: number) => [1, 2, 3].map((n) => event(after + n));

const WAYS: Readonly<Record<string, () => Promise<void>>> = {
  /** Appends batches of three, for ever or up to a number of events, and reports each one that is acknowledged. */
  async append() {
    let after = (await Array.fromAsync(log.read(0))).length;
    while (count === "0" || after < Number(count)) {
      const appended = await log.append(after, batch(after));
      if (appended.is !== "done") return say(appended);
      after += 3;
      say(after);
    }
  },

  /** Appends as many single events as asked for, in competition with other processes. */
  async compete() {
    let after = 0;
    for (let won = 0; won < Number(count); ) {
      const appended = await log.append(after, [event(after + 1)]);
      if (appended.is === "failed") return say(appended);
      if (appended.is === "done") won += 1;
      say([appended.is, after + 1]);
      after = (await Array.fromAsync(log.read(after))).length + after;
    }
  },

  /** Appends the first events, then one after each event of another process, up to a number. */
  async echo() {
    await log.append(0, batch(0).slice(0, 2));
    say("begun");
    const stop = new AbortController();
    for await (const { at } of log.follow(2, stop.signal)) {
      if (at % 2 === 1) await log.append(at, [event(at + 1)]);
      if (at >= Number(count)) stop.abort();
    }
  },

  /** Holds the lock of run r1 until it is killed, without keeping a reference to the lock. */
  async lock() {
    const home = await new FolderRuns({ folder: place }).open("r1");
    const answer = hasFailed(home)
      ? home
      : await home.lock().then((lock) => (hasFailed(lock) ? lock : "locked"));
    setInterval(() => globalThis.gc?.(), 1_000);
    for (let collections = 0; collections < 5; collections += 1) {
      globalThis.gc?.();
      await drained();
    }
    say(answer);
  },

  /**
   * Reads and appends in a read-only folder with `count` events; with `tag`, the events are still in SQLite's side
   * file.
   */
  async "read-only"() {
    for (let after = 0; after < Number(count); after += 3) await log.append(after, batch(after));
    if (tag === "") log.close();
    chmodSync(place, 0o444);
    chmodSync(path.dirname(place), 0o555);
    if (process.getuid?.() === 0) process.setuid?.(65_534); // Root could write anywhere.
    const other = new SqliteEventLog(place);
    say((await Array.fromAsync(other.read(0))).length);
    say(await other.append(Number(count), batch(Number(count))));
  },
};

await WAYS[what]!();
