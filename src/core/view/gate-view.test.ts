/** Tests the lists of gate runs and the pictures of bisections that are made from logs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import { bisectionLabel, bisectionsOf, gatedLabel, gatedOf, gateEndLabel } from "./gate-view.ts";
import { nothingSeen, see } from "./view.ts";

const seenOf = ({ log }: CoreRun) => log.reduce(see, nothingSeen());

/** Three tasks land together, and the last of them breaks the gate. */
function bisected() {
  const run = CoreRun.planned([task("first"), task("a"), task("b"), task("c")], { capacity: { work: 9 } });
  for (const n of [1, 2, 3, 4]) run.work(`t.${n}`);
  run.land();
  for (let runs = 0; run.candidate().length > 0 && runs < 9; runs += 1) {
    run.candidate().includes("t.4") && run.task("t.4").tries.refused === 0 ? run.landRed() : run.land();
    if (run.running("check").length > 0) run.check();
  }
  return run;
}

test("every run of the gate says who was in it, and how it ended", () => {
  const runs = gatedOf(seenOf(bisected())).map(
    (one) => `${one.kind} ${gatedLabel(one)}: ${gateEndLabel(one.end)}`,
  );
  assert.ok(runs.includes("land first: passed"), runs.join("; "));
  assert.ok(runs.includes("land a, b, c: failed"), runs.join("; "));
  assert.ok(runs.includes("land c: failed"), runs.join("; "));
  assert.ok(runs.includes("check the target: passed"), runs.join("; "));
  assert.ok(!runs.some((text) => text.endsWith("running")), runs.join("; "));
});

test("a bisection shows who was gated together, and who was found", () => {
  const [picture, ...more] = bisectionsOf(seenOf(bisected()));
  assert.ok(picture && more.length === 0);
  assert.deepEqual(
    picture.tasks.map(({ name, isFound }) => `${name}${isFound ? " found" : ""}`),
    ["a", "b", "c found"],
  );
  assert.equal(picture.isOver, true);
  assert.deepEqual(picture.rows[0]?.places, [0, 1, 2]);
  for (const { places, end } of picture.rows)
    assert.equal(end, places.includes(2) ? "failed" : "passed", JSON.stringify(picture.rows));
  assert.match(bisectionLabel(picture), /^c found among 3 tasks in \d runs of the gate$/);
});

test("a red run that passes when it is run again is no bisection", () => {
  const run = CoreRun.planned([task("first"), task("a"), task("b")], { capacity: { work: 9 } });
  for (const n of [1, 2, 3]) run.work(`t.${n}`);
  run.land();
  run.landRed();
  run.land();
  assert.deepEqual(bisectionsOf(seenOf(run)), []);
  assert.deepEqual(
    gatedOf(seenOf(run))
      .map(({ end }) => end)
      .slice(-2),
    ["failed", "passed"],
    "the run that was red stays red",
  );
});
