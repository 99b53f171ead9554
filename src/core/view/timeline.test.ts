/** Tests which failed jobs of a timeline count as retried. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import { nothingSeen, see, standingOf } from "./standing.ts";
import { spanEnd, spanName, timelineOf } from "./timeline.ts";
import { viewOf } from "./view.ts";

const seenOf = (run: CoreRun) => run.log.reduce(see, nothingSeen());
const endsOf = (run: CoreRun) =>
  timelineOf(seenOf(run)).flatMap(({ kind, spans }) =>
    spans.map((span) => `${kind} ${spanName(span)}: ${spanEnd(span, "running")}`),
  );

test("tells a failure that was tried again from one that was for good", () => {
  const run = CoreRun.planned([task("a"), task("b")]);
  run.fail("work", "t.1");
  run.failForGood("t.2");
  run.finish("t.1");
  const ends = endsOf(run);
  const of = (name: string) => ends.filter((text) => text.startsWith(`work ${name}`));
  assert.deepEqual(of("a"), ["work a: failed, tried again", "work a: done"]);
  assert.deepEqual(new Set(of("b")), new Set(["work b: failed"]));
});

test("a red check is repaired once the target passes", () => {
  const run = new CoreRun();
  run.checkRed();
  assert.equal(endsOf(run).at(-1)?.startsWith("check the target: failed"), true);
  assert.ok(endsOf(run).every((text) => !text.includes("passes since")));
  const green = CoreRun.planned([task("a")]);
  green.finish("t.1");
  green.plan("t", []);
  green.check(["t > odd"]);
  green.check();
  assert.ok(endsOf(green).includes("check the target: failed, passes since"), endsOf(green).join("\n"));
});

test("how a run stands is what its view says, without its history", () => {
  const run = CoreRun.planned([task("a"), task("b")]);
  run.fail("work", "t.1");
  run.finish("t.2");
  const seen = seenOf(run);
  const view = viewOf(seen);
  const { tally, ...standing } = standingOf(seen);
  for (const [key, value] of Object.entries(standing))
    assert.deepEqual(value, view[key as keyof typeof view], key);
  assert.deepEqual({ ...tally, costs: view.tally.costs }, view.tally);
});
