/** The contract suite of event logs, which each adapter passes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Event } from "../../src/core/log/event.ts";
import type { EventLog } from "../../src/ports/event-log.ts";

const event = (at: number): Event => ({ type: "run.steered", message: `event ${at}`, at });

async function all(log: EventLog, after = 0): Promise<readonly Event[]> {
  return Array.fromAsync(log.read(after));
}

export function eventLogContract(name: string, open: () => EventLog): void {
  describe(`the event log ${name}`, () => {
    it("is empty at first", async () => {
      assert.deepEqual(await all(open()), []);
    });

    it("gives back what was appended, in order", async () => {
      const log = open();
      assert.deepEqual(await log.append(0, [event(1), event(2)]), { is: "done" });
      assert.deepEqual(await log.append(2, [event(3)]), { is: "done" });
      assert.deepEqual(await all(log), [event(1), event(2), event(3)]);
    });

    it("reads on from a number", async () => {
      const log = open();
      await log.append(0, [event(1), event(2), event(3)]);
      assert.deepEqual(await all(log, 2), [event(3)]);
      assert.deepEqual(await all(log, 3), []);
    });

    it("refuses a writer that has not seen the newest event, and keeps nothing of what it wrote", async () => {
      const log = open();
      await log.append(0, [event(1)]);
      assert.deepEqual(await log.append(0, [event(7), event(8)]), { is: "taken" });
      assert.deepEqual(await log.append(5, [event(9)]), { is: "taken" });
      assert.deepEqual(await all(log), [event(1)]);
    });

    it("lets one of two writers win who append at the same time", async () => {
      const log = open();
      const answers = await Promise.all([log.append(0, [event(1)]), log.append(0, [event(2)])]);
      assert.deepEqual(answers.map((a) => a.is).sort(), ["done", "taken"]);
      assert.equal((await all(log)).length, 1);
    });

    it("shows a reader what there was when it began, also while it is written", async () => {
      const log = open();
      await log.append(0, [event(1), event(2)]);
      const seen: Event[] = [];
      for await (const read of log.read(0)) {
        if (seen.length === 0) await log.append(2, [event(3)]);
        seen.push(read);
      }
      assert.deepEqual(seen, [event(1), event(2)]);
    });
  });
}
