/** Tests what a look at a failing base describes, and its class of failure. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { baseLookOf, withEarlier } from "./base-look.ts";
import { baseLookLines, baseLookTitle } from "./base-look-words.ts";
import { failure } from "./failure.ts";
import { unattended } from "./rules/red-base.ts";

const red = (name: string, ...lines: readonly string[]) => ({
  report: { commands: [{ name: "npm test", green: false, failures: [name] }] },
  problems: [{ class: "tests" as const, name: `npm test: ${name}`, files: [], message: "" }],
  failed: [{ name: "npm test", line: "npm test", lines }],
  output: "/runs/r/check.log",
});

describe("a look at a failing base", () => {
  it("has the command, what fails, its kind and the file with all of it", () => {
    const look = baseLookOf(red("adds", "not ok 3 - adds", "  expected: 3"));
    assert.ok(look);
    assert.deepEqual(baseLookLines(look), [
      "$ npm test",
      "  not ok 3 - adds",
      "    expected: 3",
      "What fails: npm test: adds",
      "Kind of failure: tests fail",
      "All of its output: /runs/r/check.log",
    ]);
  });

  it("keeps of many lines those that name a failure, also where a runner says at its end what failed", () => {
    const trace = Array.from({ length: 38 }, (_, i) => `Error: cause ${i}`);
    const [command] = baseLookOf(
      red("tests/test_a.py::test_adds", ...trace, "FAILED tests/test_a.py::test_adds"),
    )!.commands;
    assert.equal(command?.lines.at(-1), "FAILED tests/test_a.py::test_adds");
    assert.equal(command.lines[0], "Error: cause 0");
    assert.ok(command.lines.length <= 26, `${command.lines.length} lines`);
  });

  it("is nothing where the gate passes, and of the set-up where it could not be run", () => {
    const report = { commands: [{ name: "npm test", green: true, failures: [] }] };
    assert.equal(baseLookOf({ report, problems: [] }), undefined);
    const setup = failure("setup", "npm was not found");
    assert.equal(baseLookOf({ ...red("adds"), setup })?.class, "set-up");
  });

  it("cannot be judged where nothing ran, and can where only a part did not", () => {
    const { report, ...rest } = red("does not build");
    const [command] = report.commands;
    const classOf = (more: object) =>
      baseLookOf({ ...rest, report: { commands: [{ ...command!, ...more }] } })?.class;
    assert.equal(classOf({ blocked: "no test ran" }), "unjudged");
    assert.equal(classOf({ failures: ["no end within 900 s"], unnamed: true }), "unjudged");
    assert.equal(classOf({ blocked: "it stopped early", tests: 3 }), "tests");
    assert.equal(classOf({ tests: 3, hiding: 1 }), "tests");
  });

  it("stops where nobody is asked and nothing can be judged, and is repaired otherwise", () => {
    const look = baseLookOf(red("adds"))!;
    assert.deepEqual([unattended(look), unattended({ ...look, class: "unjudged" })], ["repair", "stop"]);
  });

  it("shows the first failure beside the second, if it was of another kind", () => {
    const [first, second] = [baseLookOf(red("adds", "not ok - adds"))!, baseLookOf(red("audits", "403"))!];
    const both = withEarlier(second, first);
    assert.deepEqual(
      both.commands.map(({ name, lines }) => [name, ...lines]),
      [
        ["npm test", "403"],
        ["npm test (earlier)", "not ok - adds"],
      ],
    );
    assert.match(baseLookTitle(both), /base: npm test \(/, "it is one command");
    assert.deepEqual(withEarlier(second, second), second);
    assert.deepEqual(withEarlier(second, both), both, "also if the second one comes back");
    const back = withEarlier(first, both).commands.map(({ lines }) => lines.join());
    assert.deepEqual(back, ["not ok - adds", "403"], "and each once, if the first one does");
  });
});
