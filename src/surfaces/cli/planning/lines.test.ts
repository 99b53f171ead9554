/** Tests on which line of a text a place such as `tasks[3]` is found. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cpuMs } from "../../../../test/support/cpu.ts";
import { placedIn } from "./file.ts";
import { whereIn } from "./lines.ts";

const placeFinder = (text: string) => {
  const where = whereIn(text);
  return (place: string) => where("plan.json", place, "").line;
};

const TEXT = `{
  "goal": "a, {b} [c]: \\"d\\"",
  "tasks": [
    { "id": "1",
      "metadata": {"agent": "x", "deep": [[1, 2], {"y":
        3}]} },

    { "id": 7, "scope": ["a",
      "b"], "list": [] }
  ],
  "last": null
}`;

describe("the line of a place", () => {
  const line = placeFinder(TEXT);
  const places: readonly (readonly [string, number])[] = [
    ["", 1],
    ["goal", 2],
    ["tasks", 3],
    ["tasks[0]", 4],
    ["tasks[0].id", 4],
    ["tasks[0].metadata.agent", 5],
    ["tasks[0].metadata.deep[1].y", 6],
    ["tasks[1]", 8],
    ["tasks[1].scope[1]", 9],
    ["tasks[1].list", 9],
    ["last", 11],
  ];
  for (const [place, wanted] of places)
    it(`is ${wanted} for ${place || "the whole"}`, () => assert.equal(line(place), wanted));

  it("is that of what is around it, where the place itself is missing", () => {
    assert.equal(line("tasks[1].metadata.output_file"), 8);
    assert.equal(line("tasks[9].id"), 3);
    assert.equal(line("nothing"), 1);
  });

  it("is found in bare lists and in wrapped plans, and not in a text without anything", () => {
    assert.equal(placeFinder('[\n{"id": 1},\n{"id": 2}]')("tasks[1].id"), 3);
    assert.equal(placeFinder('{"plan": {"tasks": [\n{"id": 1},\n{"id": 2}]}}')("tasks[1].id"), 3);
    assert.equal(placeFinder(" \n")("tasks"), undefined);
  });

  it("counts from the top of the markdown around the JSON", () => {
    const where = placedIn("markdown", `# EXECUTION PLAN\n\n\`\`\`json\n${TEXT}\n\`\`\`\n`);
    assert.deepEqual(where("plan.md", "goal", ""), { words: "plan.md:5: goal", line: 5 });
  });

  it("is found in time in texts made to be in the way", () => {
    const start = cpuMs();
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":[', "]}"],
    ] as const)
      placeFinder(open.repeat(10_000) + close.repeat(10_000))("tasks[3].id");
    for (const part of ["[", "{", '"', '{"a":', "\\", "]}"]) placeFinder(part.repeat(100_000))("tasks[3].id");
    assert.ok(cpuMs() - start < 3_000);
  });
});
