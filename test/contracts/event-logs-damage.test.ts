/** Tests that damaged, foreign or newer event logs are refused with place and reason, without made-up events. */
import assert from "node:assert/strict";
import { readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { SqliteEventLog } from "../../src/adapters/event-logs/sqlite.ts";
import type { Event } from "../../src/core/log/event.ts";
import { newFolder } from "../support/folders.ts";

const event = (at: number): Event => ({ type: "run.steered", message: "x".repeat(1_000), at });

async function written(count = 300): Promise<string> {
  const file = path.join(newFolder(), "events.db");
  const log = new SqliteEventLog(file);
  await log.append(
    0,
    Array.from({ length: count }, (_, i) => event(i + 1)),
  );
  log.close();
  return file;
}

const sql = (text: string) => (file: string) => {
  const db = new DatabaseSync(file);
  db.exec(text);
  db.close();
};
const bytes = (change: (bytes: Buffer) => Buffer) => (file: string) =>
  writeFileSync(file, change(readFileSync(file)));

const DAMAGES: readonly [
  what: string,
  damage: (file: string) => void,
  message: RegExp,
  intact: number,
  append: "failed" | "any",
][] = [
  [
    "pages overwritten in the middle",
    bytes((b) => b.fill(0xff, Math.floor(b.length / 2 / 4096) * 4096, Math.floor(b.length / 2) + 60_000)),
    /cannot be read: it is damaged/,
    300,
    "any",
  ],
  ["its table overwritten", bytes((b) => b.fill(0xee, 4096, 8192)), /it is damaged/, 0, "failed"],
  ["its beginning overwritten", bytes((b) => b.fill(0xee, 0, 100)), /damaged, or no database/, 0, "failed"],
  ["half of it cut off", (f) => truncateSync(f, statSync(f).size / 2), /it is damaged/, 300, "any"],
  ["all of it cut off", (f) => truncateSync(f, 0), /not a log of Skein, or it was truncated/, 0, "failed"],
  ["something else in its place", (f) => writeFileSync(f, "no log ".repeat(999)), /no database/, 0, "failed"],
  ["the table dropped", sql("DROP TABLE event"), /no such table/, 0, "failed"],
  ["another program's mark", sql("PRAGMA application_id = 7"), /not a log of Skein/, 0, "failed"],
  ["a newer format", sql("PRAGMA user_version = 2"), /newer Skein \(format 2, this one.*update/, 0, "failed"],
  [
    "an event of a newer version",
    sql("UPDATE event SET version = 9 WHERE seq = 5"),
    /event 5 .*newer.*9/,
    4,
    "any",
  ],
  [
    "an event missing",
    sql("DELETE FROM event WHERE seq = 270"),
    /event 270 is missing, 271 comes/,
    269,
    "any",
  ],
  ["its first event missing", sql("DELETE FROM event WHERE seq = 1"), /event 1 is missing/, 0, "any"],
  [
    "text that is not JSON",
    sql("UPDATE event SET body = '{' WHERE seq = 2"),
    /event 2 is not JSON/,
    1,
    "any",
  ],
  ["no object", sql("UPDATE event SET body = '[]' WHERE seq = 2"), /event 2 is not an event/, 1, "any"],
  [
    "an unknown event",
    sql(`UPDATE event SET body = '{"type":"run.sung","at":1}' WHERE seq = 3`),
    /event 3 is of an unknown type, "run.sung"/,
    2,
    "any",
  ],
];

describe("a log in SQLite with", () => {
  for (const [what, damage, message, intact, append] of DAMAGES)
    it(`${what} is not read past what is whole, and says so`, async () => {
      const file = await written();
      damage(file);
      const seen: Event[] = [];
      const read = async () => {
        for await (const one of new SqliteEventLog(file).read(0)) seen.push(one);
      };
      await assert.rejects(read, (error: Error) => {
        assert.match(error.message, message);
        assert.ok(error.message.startsWith(file), "it names the file");
        return true;
      });
      assert.ok(seen.length <= intact, `${seen.length} events came of it`);
      assert.deepEqual(
        seen.map(({ at }) => at),
        seen.map((_, i) => i + 1),
      );
      const appended = await new SqliteEventLog(file).append(300, [event(301)]);
      if (append === "failed") {
        assert.equal(appended.is, "failed");
        assert.ok(appended.is === "failed" && appended.failure.message.startsWith(file));
      }
    });

  it("damage is told to those who follow it, too", async () => {
    const file = await written(3);
    sql("DELETE FROM event WHERE seq = 2")(file);
    const feed = new SqliteEventLog(file).follow(0, new AbortController().signal);
    await assert.rejects(Array.fromAsync(feed), /event 2 is missing/);
  });

  it("a folder that is gone says that it cannot be written", async () => {
    const file = path.join(newFolder(), "gone", "events.db");
    const appended = await new SqliteEventLog(file).append(0, [event(1)]);
    assert.ok(appended.is === "failed");
    assert.match(appended.failure.message, /events\.db cannot be written: it cannot be opened/);
    assert.match(appended.failure.next ?? "", /folder exists/);
  });
});
