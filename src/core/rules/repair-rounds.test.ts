/** Tests when rounds of repair are counted anew, and when repair is given up. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, MINUTE, task } from "../../../test/support/core-run.ts";

describe("a class of failures that shows when another is mended", () => {
  test("is progress, however many there are: the rounds are counted anew", () => {
    const run = new CoreRun({ repair: { maxRounds: 1 } });
    run.checkRed(["types: a"]);
    const fix = run.running("work")[0]!.replace(/^work:(.*)#1$/, "$1");
    assert.equal(run.state.repair.class, "types");
    run.finish(fix);
    run.checkRed(["test: x", "test: y", "test: z"]);
    assert.equal(run.state.repair.givenUp, false);
    assert.equal(run.state.repair.class, "tests");
    assert.equal(run.events("repair.planned").length, 2);
  });
});

describe("a target that fails something else each time", () => {
  /** Answers every job, fixes as `fix` says, until the run has ended or takes too long. */
  function lived(failureAt: (look: number) => string, fix: "lands" | "fails"): CoreRun {
    const run = new CoreRun();
    for (let steps = 0, looks = 0; steps < 200 && !run.closed; steps += 1) {
      const [worker] = run.running("work").map((job) => job.replace(/^work:(.*)#\d+$/, "$1"));
      if (run.running("check").length > 0) run.check([failureAt(looks++)]);
      else if (run.running("land").length > 0) run.land();
      else if (worker !== undefined && fix === "lands") run.work(worker);
      else if (worker !== undefined) run.fail("work", worker);
      else if (run.isAsked("t")) run.plan("t", run.brief("plan", "t").first ? [task("a")] : []);
      else run.wait(MINUTE);
    }
    return run;
  }

  for (const [how, failureAt] of [
    ["with every look", (look: number) => `test: at ${look}`],
    ["with every other look", (look: number) => `test: at ${look >> 1}`],
    ["of two that take turns", (look: number) => `test: ${look % 2}`],
  ] as const) {
    for (const fix of ["lands", "fails"] as const) {
      test(`${how} is given up, and the run ends, if each fix ${fix}`, () => {
        const run = lived(failureAt, fix);
        assert.equal(run.events("repair.given-up").length, 1);
        assert.notEqual(run.closed, undefined);
      });
    }
  }
});
