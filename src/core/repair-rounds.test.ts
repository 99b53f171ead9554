import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun } from "../../test/support/core-run.ts";

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
