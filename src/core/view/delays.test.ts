/** Tests which delays of a run are listed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { delaysOf } from "./delays.ts";
import { nothingSeen, type RunView, viewOf } from "./view.ts";

const open = viewOf(nothingSeen());
const slow: RunView = {
  ...open,
  accounts: [
    { account: "a", is: "parked", until: 7, reason: "quota" },
    { account: "b", is: "refused", reason: "wrong key" },
  ],
  unreachable: { tasks: 2, since: 1, reason: "no route" },
};

test("names what ends by itself, not what only a person can repair", () => {
  assert.deepEqual(delaysOf(slow), [
    { what: "a is rate limited", until: 7 },
    { what: "The agent of 2 tasks cannot be reached and is tried again: no route" },
  ]);
  assert.deepEqual(delaysOf(open), []);
});

test("a run that is over is not delayed", () => {
  assert.deepEqual(delaysOf({ ...slow, times: { ...open.times, closedAt: 9 } }), []);
});
