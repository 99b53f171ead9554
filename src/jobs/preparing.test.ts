/** Tests when a slow preparation of a workspace is reported. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ManualClock } from "../adapters/clocks/manual.ts";
import type { JobId } from "../core/job.ts";
import type { Signs } from "../ports/signs.ts";
import { Preparing } from "./preparing.ts";

const job = "work:t.1#1" as JobId;

function preparing() {
  const clock = new ManualClock(1_000);
  const told: Parameters<Signs["tell"]>[0][] = [];
  const one = new Preparing(job, { clock, tell: (said) => told.push(said) });
  const pass = (ms: number) => {
    let isOver = false;
    clock.wakeAt(clock.now() + ms, () => {
      isOver = true;
    });
    while (!isOver) clock.step();
  };
  return { pass, told, one };
}

describe("a workspace that is made ready", () => {
  it("is told of after two seconds, with what takes so long, and when it is ready", () => {
    const { pass, told, one } = preparing();
    one.step("copying node_modules");
    pass(1_999);
    assert.deepEqual(told, []);
    pass(1);
    assert.deepEqual(told, [{ job, ms: 2_000, doing: "making a workspace ready: copying node_modules" }]);
    one.step("running workspace.setup");
    pass(10_000);
    one.end();
    one.end();
    assert.deepEqual(told.slice(1), [
      { job, ms: 12_000, doing: "copying node_modules, running workspace.setup", isPrepared: true },
    ]);
  });

  it("is not told of where that is quick, or nothing is to be done", () => {
    const { pass, told, one } = preparing();
    one.step("copying node_modules");
    pass(500);
    one.end();
    pass(10_000);
    preparing().one.end();
    assert.deepEqual(told, []);
  });
});
