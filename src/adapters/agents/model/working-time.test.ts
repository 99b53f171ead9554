import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { WorkingTime } from "./working-time.ts";

describe("the time of a turn", () => {
  it("stands still while it is paused, and then goes on", async () => {
    const time = new WorkingTime(60);
    time.pause(true);
    time.pause(true);
    await sleep(120);
    assert.equal(time.signal.aborted, false);
    time.pause(false);
    await once(time.signal, "abort");
  });

  it("may be longer than any timer", async () => {
    const time = new WorkingTime(30 * 86_400_000);
    await sleep(20);
    assert.equal(time.signal.aborted, false);
    time.stop();
  });

  it("does not end once it is stopped", async () => {
    const time = new WorkingTime(20);
    time.stop();
    await sleep(60);
    assert.equal(time.signal.aborted, false);
  });
});
