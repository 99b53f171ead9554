/** Tests which changes of tests and which marks are refused or flagged. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cpuMs } from "../../../test/support/cpu.ts";
import { orderedRemovals } from "./removal.ts";
import { judgeTestsAndMarks, type TestEvidence } from "./tests-and-marks.ts";

const nothing: TestEvidence = { deletedTests: [], disabledTests: [], forbiddenMarks: [] };
const task = (description: string) => ({ description, acceptance: "All tests pass." });

describe("tests and marks", () => {
  const evidence: TestEvidence = {
    ...nothing,
    deletedTests: ['a.test.ts "lends"'],
    disabledTests: ['a.test.ts:3 it.skip of "sells"'],
    flaggedTests: ["skips tests under a condition: b"],
    forbiddenMarks: ["a.ts:1 as any", "a.ts:9 conflict markers"],
    usualMarks: ["a.ts:2 TODO"],
  };

  it("are refused or flagged by the setting, and conflict markers are refused by any", () => {
    const judge = (tests: "refuse" | "flag", marks: "refuse" | "flag") =>
      judgeTestsAndMarks(task("Repair it"), evidence, { tests, marks });
    assert.deepEqual(judge("refuse", "refuse"), {
      broken: [
        'deleted the test a.test.ts "lends"',
        'switched off the test a.test.ts:3 it.skip of "sells"',
        "left a.ts:1 as any",
        "left a.ts:9 conflict markers",
      ],
      flagged: ["skips tests under a condition: b", "left a.ts:2 TODO, as is usual here"],
    });
    assert.deepEqual(judge("flag", "flag"), {
      broken: ["left a.ts:9 conflict markers"],
      flagged: [
        "skips tests under a condition: b",
        'deleted the test a.test.ts "lends"',
        'switched off the test a.test.ts:3 it.skip of "sells"',
        "left a.ts:2 TODO, as is usual here",
        "left a.ts:1 as any",
      ],
    });
    assert.equal(judge("flag", "refuse").broken.length, 2);
    assert.equal(judge("refuse", "flag").broken.length, 3);
  });

  it("that a task orders to remove are flagged; in a fix task, whose words are those of failures, nothing is ordered", () => {
    const rules = { tests: "refuse", marks: "refuse" } as const;
    const one = { ...nothing, deletedTests: ['a.test.ts "removes items"'] };
    const { broken, flagged } = judgeTestsAndMarks(task("Remove items from the shop."), one, rules);
    assert.deepEqual(
      [broken, flagged],
      [[], ['removed the test a.test.ts "removes items", as its task orders']],
    );
    const fix = { ...task('test: "removes items" fails'), repairs: ["test: removes items"] };
    assert.equal(judgeTestsAndMarks(fix, one, rules).broken.length, 1);
  });
});

describe("an ordered removal", () => {
  const isOrdered = (words: string, test: string, ...used: readonly string[]) =>
    orderedRemovals(words)({ test, words: used });

  it("is of what the task's words remove, by any of many verbs", () => {
    for (const words of [
      "Remove `parseLegacy`.",
      "Drop the legacy parser",
      "Get rid of everything legacy",
      "The legacy form is no longer read.",
      "Use the new parser instead of the legacy one",
      "Legacy dates are deleted",
      "feat!: stop supporting legacy dates",
      "Legacy dates that are not used are removed.",
      "Legacy dates are no longer supported and removed.",
    ])
      assert.ok(isOrdered(words, 'tests/test_dates.py "test_parse_legacy"'), words);
  });

  it("is not of anything else, and not of what is to stay", () => {
    for (const words of [
      "Remove the printer.",
      "Repair legacy dates",
      "Repair legacy dates. Do not remove legacy tests.",
      "Repair legacy dates without removing what is legacy.",
      "The legacy form must not be dropped.",
      "Don’t remove legacy tests.",
      "Repair legacy dates; avoid removing legacy tests.",
      "Repair legacy dates instead of deleting legacy tests.",
      "Do not under any circumstances delete legacy tests.",
      "No legacy test may be removed.",
      "All legacy tests pass and none is deleted.",
      "Removing legacy tests is not allowed.",
      "Remove unused code and files.",
    ])
      assert.ok(!isOrdered(words, 'tests/test_dates.py "test_parse_legacy"'), words);
  });

  it("is known by what a test's code uses only where the task names that as code does", () => {
    assert.ok(isOrdered("Remove the `retry` option", 'a.test.ts "stops in time"', "get", "retry"));
    assert.ok(isOrdered("Remove copyHeaders", 'a.test.ts "stops in time"', "copyHeaders"));
    assert.ok(!isOrdered("Remove the retry option", 'a.test.ts "stops in time"', "retry"));
  });

  it("is of any test where tests are to be removed or made anew, or a change is taken back", () => {
    for (const words of [
      "Remove the flaky tests",
      "Merge duplicate test cases",
      'Revert "Add dates"',
      "fix: revert commit abc1234",
      "Rewrite the tests",
      "Parametrize the tests of dates",
    ])
      assert.ok(isOrdered(words, 'a.test.ts "lends"'), words);
    for (const words of [
      "Remove dates from the tests",
      "Drop the test runner's old flags",
      "Clean up after tests",
      "Write tests",
      "Revert the colour",
    ])
      assert.ok(!isOrdered(words, 'a.test.ts "lends"'), words);
    for (const words of [
      "Don’t remove the tests",
      "Avoid deleting tests",
      "Repair it rather than removing tests",
    ])
      assert.ok(!isOrdered(words, 'a.test.ts "lends"'), words);
  });

  it("is read from many empty lines without taking long", () => {
    const start = cpuMs();
    orderedRemovals("\n".repeat(50_000));
    assert.ok(cpuMs() - start < 1_000, `${cpuMs() - start} ms`);
  });
});
