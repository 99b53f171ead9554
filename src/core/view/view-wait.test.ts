/** Tests what an idle run is said to wait for, and until when. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import { waitOf } from "./view-wait.ts";

const waitIn = (run: CoreRun) => waitOf(run.state, run.policy, run.now);

test("while somebody is at work nothing is waited for", () => {
  assert.equal(waitIn(CoreRun.planned([task("a")])), undefined);
});

test("a task that is tried again later is named, with the moment that the rules have chosen", () => {
  const run = CoreRun.planned([task("a")]);
  run.fail("work", "t.1", "agent-unreachable");
  const wait = waitIn(run)!;
  assert.equal(wait.what, "a is retried");
  assert.ok(wait.until! > run.now);
  run.wait(wait.until! - run.now - 1);
  assert.deepEqual(waitIn(run), wait);
  run.wait(1);
  assert.equal(waitIn(run), undefined, "it is at work again");
});

test("a planner that could not be reached is asked again", () => {
  const run = CoreRun.green();
  run.fail("plan", "t", "agent-unreachable");
  assert.equal(waitIn(run)?.what, "the planner of the goal is asked again");
});

test("a wait is told by the machine's clock, however that was set", () => {
  const run = CoreRun.planned([task("a")]);
  run.fail("work", "t.1", "agent-unreachable");
  const { until = 0 } = waitIn(run)!;
  run.say({ type: "clock-jumped", ms: 86_400_000 });
  assert.deepEqual(waitOf(run.state, run.policy, run.now + 86_400_000), {
    what: "a is retried",
    until: until + 86_400_000,
  });
});

test("a pause is ended by a person alone", () => {
  const run = CoreRun.planned([task("a")]);
  run.say({ type: "pause" });
  run.finish("t.1");
  while (run.running("check").length > 0) run.check();
  assert.deepEqual(waitIn(run), { what: "the run is paused" });
});

test("a closed run waits for nothing", () => {
  const run = CoreRun.planned([task("a")]);
  run.finish("t.1");
  run.plan("t", []);
  run.check();
  assert.ok(run.closed);
  assert.equal(waitIn(run), undefined);
});

test("a landing that waits says why, and goes on at once when a person resumes the run", () => {
  const run = CoreRun.planned([task("a")]);
  run.work("t.1");
  run.landFailed();
  assert.match(waitIn(run)!.what, /^landing is retried \(.+\)$/);
  assert.deepEqual(run.running("land"), []);
  run.say({ type: "resume" });
  assert.equal(run.running("land").length, 1);
});
