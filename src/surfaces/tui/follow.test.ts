/** Tests that following a finished run ends, and leaves no timer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunHome } from "../../ports/runs.ts";
import { Followed } from "./follow.ts";

const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

test("a view of a run that is over already, or whose lock cannot be read, ends and leaves no timer", async () => {
  const home = {
    owner: async () => {
      throw new Error("it vanished");
    },
    log: { async *follow() {} },
  } as unknown as RunHome;
  const before = timers();
  const followed = new Followed();
  await followed.follow(home, AbortSignal.abort());
  assert.equal(followed.problem, undefined);
  assert.equal(timers(), before);
});
