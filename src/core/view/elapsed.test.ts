/** Tests where the time of a run ends. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { elapsedMs, endOf } from "./elapsed.ts";
import { nothingSeen, viewOf } from "./view.ts";

const times = { ...viewOf(nothingSeen()).times, openedAt: 1_000, lastAt: 9_000, idleMs: 2_000 };

test("goes on while a process drives the run, and ends with its last event if none does", () => {
  assert.equal(elapsedMs({ times }, { isDriven: true, now: 20_000 }), 17_000);
  assert.equal(elapsedMs({ times }, { isDriven: false, now: 20_000 }), 6_000);
  assert.equal(elapsedMs({ times }, { isDriven: undefined, now: 20_000 }), 6_000, "nobody has asked");
  assert.equal(elapsedMs({ times }), 6_000);
});

test("ends when the run was closed, also while a process still has it open", () => {
  assert.equal(endOf({ times: { ...times, closedAt: 8_000 } }, { isDriven: true, now: 20_000 }), 8_000);
});
