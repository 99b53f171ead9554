/** Tests the event log in SQLite: the contract, following it, and several processes that use one log. */
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { SqliteEventLog } from "../../src/adapters/event-logs/sqlite.ts";
import { openToWrite } from "../../src/adapters/event-logs/sqlite-file.ts";
import type { Event } from "../../src/core/log/event.ts";
import { LogChild } from "../support/children.ts";
import { newFolder } from "../support/folders.ts";
import { eventLogContract } from "./event-log.ts";

const newFile = () => path.join(newFolder(), "events.db");
const event = (at: number): Event => ({ type: "run.steered", message: `event ${at}`, at });
const events = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => event(from + i));
const all = (file: string) => Array.fromAsync(new SqliteEventLog(file).read(0));

eventLogContract("in SQLite", () => new SqliteEventLog(newFile()));

describe("the log in SQLite", () => {
  it("makes no file by being read", async () => {
    const file = newFile();
    assert.deepEqual(await all(file), []);
    assert.ok(!existsSync(file));
  });

  it("is on the disk before an append is answered: each is synced by itself", async () => {
    const file = newFile();
    await new SqliteEventLog(file).append(0, events(1, 1));
    const db = openToWrite(file);
    const FULL = 2;
    assert.equal(db.prepare("PRAGMA synchronous").get()?.["synchronous"], FULL);
    db.close();
  });

  it("reads more than fits in a page, and from the middle of one", async () => {
    const log = new SqliteEventLog(newFile());
    await log.append(0, events(1, 700));
    assert.deepEqual(await Array.fromAsync(log.read(0)), events(1, 700));
    assert.deepEqual(await Array.fromAsync(log.read(300)), events(301, 700));
  });

  it("shows a reader what there was when it asked, not when it began to read", async () => {
    const log = new SqliteEventLog(newFile());
    await log.append(0, events(1, 2));
    const asked = log.read(0);
    await log.append(2, events(3, 3));
    assert.deepEqual(await Array.fromAsync(asked), events(1, 2));
  });

  it("is one file when it is closed, and can be used again", async () => {
    const file = newFile();
    const log = new SqliteEventLog(file);
    await log.append(0, events(1, 2));
    await Array.fromAsync(log.read(0));
    log.close();
    assert.ok(!existsSync(`${file}-wal`));
    assert.deepEqual(await log.append(2, events(3, 3)), { is: "done" });
    assert.deepEqual(await all(file), events(1, 3));
  });

  it("returns as a failure what cannot be written as JSON", async () => {
    const log = new SqliteEventLog(newFile());
    const appended = await log.append(0, [{ type: "run.steered", message: 1n as never, at: 1 }]);
    assert.equal(appended.is, "failed");
    assert.deepEqual(await log.append(0, events(1, 1)), { is: "done" });
  });
});

describe("following a log", () => {
  const followed = async (feed: AsyncIterable<Event>, count: number, stop: AbortController) => {
    const seen: Event[] = [];
    for await (const one of feed) if (seen.push(one) === count) stop.abort();
    return seen;
  };

  it("ends when it is told to while nothing happens, at once if it was told before", async () => {
    const stop = new AbortController();
    const log = new SqliteEventLog(newFile());
    await log.append(0, events(1, 1));
    const feed = log.follow(1, stop.signal)[Symbol.asyncIterator]();
    const next = feed.next();
    stop.abort();
    assert.equal((await next).done, true);
    assert.deepEqual(await Array.fromAsync(log.follow(0, stop.signal)), []);
  });

  it("shows many readers each event once and in order, while another process writes", async () => {
    const file = newFile();
    await using child = new LogChild(["append", file, "60"]);
    const seen = await Promise.all(
      [1, 2, 3].map(async () => {
        const stop = new AbortController();
        return followed(new SqliteEventLog(file).follow(0, stop.signal), 60, stop);
      }),
    );
    await child.ended;
    for (const one of seen) assert.deepEqual(one, await all(file));
  });

  it("is woken by another process's write, long before it would look by itself", async () => {
    const file = newFile();
    await using child = new LogChild(["echo", file, "19"]);
    const log = new SqliteEventLog(file);
    await child.next();
    const stop = new AbortController();
    const began = performance.now();
    for await (const { at } of log.follow(0, stop.signal)) {
      if (at === 20) stop.abort();
      else if (at % 2 === 0) await log.append(at, [event(at + 1)]);
    }
    await child.ended;
    assert.ok(performance.now() - began < 10_000, "20 events took as long as 20 looks without a wake");
  });

  it("finds a log whose folder did not exist yet", async () => {
    const folder = path.join(newFolder(), "later");
    const file = path.join(folder, "events.db");
    const stop = new AbortController();
    const seen = followed(new SqliteEventLog(file).follow(0, stop.signal), 2, stop);
    mkdirSync(folder);
    await new SqliteEventLog(file).append(0, events(1, 2));
    assert.deepEqual(await seen, events(1, 2));
  });
});

describe("a log and other processes", () => {
  it("loses nothing that was acknowledged and tears no batch when its writer is killed, again and again", async () => {
    const file = newFile();
    let acknowledged = 0;
    for (const after of [1, 2, 5, 11, 23, 40]) {
      await using child = new LogChild(["append", file]);
      for (let n = 0; n < after; n += 1) await child.next();
      const killed = child.kill();
      const said = (await child.rest()).filter((one) => typeof one === "number");
      await killed;
      acknowledged = Math.max(acknowledged, ...said, 3 * after);
      const stored = await all(file);
      assert.ok(stored.length >= acknowledged, `${stored.length} of ${acknowledged} are left`);
      assert.equal(stored.length % 3, 0, "half a batch");
      assert.deepEqual(
        stored.map(({ at }) => at),
        stored.map((_, i) => i + 1),
      );
    }
  });

  it("gives each number to one of two writers, and tells the other", async () => {
    const file = newFile();
    const said = await Promise.all(
      ["a", "b"].map(async (tag) => {
        await using child = new LogChild(["compete", file, "40", tag]);
        return (await child.rest()) as [string, number][];
      }),
    );
    const won = said.map((one) => one.filter(([is]) => is === "done").map(([, seq]) => seq));
    assert.deepEqual(
      won.flat().sort((a, b) => a - b),
      Array.from({ length: 80 }, (_, i) => i + 1),
    );
    for (const [at, stored] of (await all(file)).entries()) {
      const winner = stored.type === "run.steered" && stored.message.startsWith("a") ? 0 : 1;
      assert.ok(won[winner]?.includes(at + 1));
    }
    for (const [is] of said.flat()) assert.ok(is === "done" || is === "taken", is);
  });

  it("says that the disk takes no more, keeps what was acknowledged, and goes on once it does", async () => {
    const file = newFile();
    const said = await new LogChild(["append", file], 200).rest();
    const last = said.at(-1) as { is: string; failure: { kind: string; message: string; next: string } };
    assert.equal(last.is, "failed");
    assert.equal(last.failure.kind, "repository");
    assert.match(last.failure.message, /events\.db cannot be written: the disk/);
    assert.match(last.failure.next, /skein resume/);
    const acknowledged = said.at(-2) as number;
    assert.ok(acknowledged > 30);
    const stored = await all(file);
    assert.equal(stored.length % 3, 0);
    assert.ok(stored.length >= acknowledged);
    assert.deepEqual(await new SqliteEventLog(file).append(stored.length, events(1, 1)), { is: "done" });
  });

  for (const [how, tag] of [
    ["folded into it", ""],
    ["still beside it", "open"],
  ] as const)
    it(`is read where nothing may be written, with its newest events ${how}`, async () => {
      const file = path.join(newFolder(), "log", "events.db");
      mkdirSync(path.dirname(file));
      chmodSync(path.dirname(path.dirname(file)), 0o755);
      await using child = new LogChild(["read-only", file, "9", tag]);
      const [count, appended] = (await child.rest()) as [
        number,
        { is: string; failure: { message: string } },
      ];
      chmodSync(path.dirname(file), 0o755);
      assert.equal(count, 9);
      assert.equal(appended.is, "failed");
      assert.match(appended.failure.message, /events\.db cannot be written: it may only be read/);
    });
});
