/** Tests when a landing is flagged because its gate ran fewer tests than on the target. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import { proofLabel } from "../view/labels.ts";
import { narrate } from "../view/narrate.ts";
import { emptyStory, tell } from "../view/story.ts";
import { fewerTests, testsRanIn, withoutNames } from "./fewer-tests.ts";

const command = { name: "test", green: true, failures: [] };
const ran = (tests: number, ...names: readonly string[]) => [
  { command: "test", tests, ...(names.length > 0 && { names }) },
];

describe("fewer tests than on the target", () => {
  it("are told with the number before and after", () => {
    assert.deepEqual(fewerTests(ran(340), ran(328)), [
      "12 fewer tests ran than on the target: test 340 → 328",
    ]);
    assert.deepEqual(fewerTests(ran(1), ran(0)), ["1 fewer test ran than on the target: test 1 → 0"]);
  });

  it("are told of each command by itself, whatever another one has more", () => {
    const before = [...ran(3), { command: "e2e", tests: 9 }, { command: "lint", tests: 4 }];
    const now = [{ command: "e2e", tests: 8 }, ...ran(30)];
    assert.deepEqual(fewerTests(before, now), ["1 fewer test ran than on the target: e2e 9 → 8"]);
  });

  it("are nothing where as many or more ran, or one side has no number", () => {
    assert.deepEqual(fewerTests(ran(3), ran(3)), []);
    assert.deepEqual(fewerTests(ran(3, "a", "b", "c"), ran(3, "a", "b", "d")), [], "one was renamed");
    assert.deepEqual(fewerTests(ran(3), ran(4)), []);
    assert.deepEqual(fewerTests([], ran(3)), []);
    assert.deepEqual(fewerTests(ran(3), []), []);
  });

  it("are named where both sides know the names, at most five, and twins by their number", () => {
    const [text] = fewerTests(ran(3, "a", "a", "b"), ran(2, "b", "a"));
    assert.equal(text, "1 fewer test ran than on the target: test 3 → 2; gone: a");
    const many = Array.from({ length: 7 }, (_, i) => `case ${i}`);
    const [some = ""] = fewerTests(ran(7, ...many), ran(1, "new"));
    assert.match(some, /; gone: case 0, case 1, case 2, case 3, case 4 and 2 more$/);
    assert.doesNotMatch(fewerTests(ran(3, "a", "b", "c"), ran(2))[0]!, /gone/);
  });

  it("are taken from reports of commands that count tests, not packages", () => {
    const commands = [
      { ...command, tests: 2, names: ["a", "b"] },
      { ...command, name: "go", tests: 3, isOfPackages: true as const },
      { ...command, name: "lint" },
    ];
    assert.deepEqual(testsRanIn({ commands }), ran(2, "a", "b"));
    assert.deepEqual(withoutNames({ commands }).commands[0], { ...command, tests: 2 });
  });
});

describe("the tests that ran on the target", () => {
  const report = (tests: number) => ({ commands: [{ ...command, tests, names: [`${tests} of them`] }] });
  const checked = (run: CoreRun, tests: number, tip = run.state.target.tip) => {
    const [job = ""] = run.running("check");
    run.answer(job, { is: "checked", tip, report: report(tests), problems: [] });
  };
  /** The base is known, and two tasks are to land one after the other. */
  const based = () => {
    const run = new CoreRun({ landing: { maxBatch: 1 } });
    checked(run, 340);
    run.plan("t", [task("a"), task("b")]);
    run.work("t.1");
    run.work("t.2");
    return run;
  };
  const land = (run: CoreRun, commit: string, more: object = {}) => {
    const { turn, members } = run.landing();
    run.answer(`land#${turn}`, { is: "landed", commit, members, conflicts: [], proof: "green", ...more });
  };

  it("are those of the check of the base, and then of the newest landing", () => {
    const run = based();
    assert.deepEqual(run.brief("land").ran, ran(340, "340 of them"));
    land(run, "one", { ran: ran(328), flags: ["12 fewer"] });
    assert.deepEqual(run.brief("land").ran, ran(328));
    const [event] = run.events("batch.landed");
    assert.deepEqual([event?.flags, event?.ran], [["12 fewer"], ran(328)]);
  });

  it("are not known after a landing that tells none, and where somebody else has moved the target", () => {
    const silent = based();
    land(silent, "one");
    assert.equal(silent.brief("land").ran, undefined);
    const moved = based();
    moved.landMoved({ tip: "elsewhere", landings: [] });
    assert.deepEqual(moved.state.target.ran, []);
  });

  it("are not taken from a check of a commit that is not the target any more", () => {
    const run = based();
    land(run, "one", { ran: ran(328) });
    land(run, "two", { ran: ran(330) });
    checked(run, 340, "one");
    assert.deepEqual(run.state.target.ran, ran(330));
  });

  it("are told where a landing has fewer, in its line and its row; its history does not keep their names", () => {
    const run = based();
    land(run, "one", { ran: ran(328, "x"), flags: ["12 fewer"] });
    const story = emptyStory();
    for (const event of run.log) tell(story, event);
    const [landed] = story.landings;
    assert.equal(proofLabel(landed!), "gate passed; 12 fewer");
    const { text, tone } = narrate(run.events("batch.landed")[0]!, run.state)!;
    assert.deepEqual([text, tone], ["a landed as one, but 12 fewer", "bad"]);
    assert.doesNotMatch(JSON.stringify(story.landings), /"ran"/);
  });
});

describe("a task that says itself what it does to tests", () => {
  const brief = (evidence: object) => {
    const run = CoreRun.planned([task("a")], { evidence: { tests: "flag", marks: "flag" } });
    run.work("t.1", evidence);
    return run.brief("land").members[0]!;
  };

  it("is known by its evidence of tests, and not by that of marks", () => {
    for (const what of ["deletedTests", "disabledTests", "flaggedTests"])
      assert.equal(brief({ [what]: ["a test"] }).tellsOfTests, true, what);
    const marked = brief({ usualMarks: ["a.ts:1 TODO"] });
    assert.deepEqual([marked.tellsOfTests, marked.flags?.length], [undefined, 1]);
  });
});
