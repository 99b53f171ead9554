/** Tests the page about plan files: its example is read and linted, and has every field that exists. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { readPlan } from "../../src/planning/files/read-plan.ts";
import { lintPlan } from "../../src/planning/lint.ts";
import { ROOT } from "../../tools/source-files.ts";

const page = readFileSync(path.join(ROOT, "docs/plan-files.md"), "utf8");
const [, example = ""] = /^```json\n([\s\S]*?)^```$/m.exec(page) ?? [];

/** The code words in the first columns of a section's tables. */
const namesIn = (heading: string, columns = 1) => {
  const section = page.slice(page.indexOf(`\n## ${heading}`)).split("\n## ")[1] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, 1 + columns)
      .flatMap((cell) => [...cell.matchAll(/`([\w.]+)`/g)].map(([, name]) => name!)),
  );
};

describe("the page about plan files", () => {
  it("has an example that runs without a warning", () => {
    const read = readPlan(example);
    assert.ok(read.is === "plan", JSON.stringify(read));
    assert.deepEqual(read.notes, []);
    assert.deepEqual(lintPlan(read.plan), []);
    assert.deepEqual(
      read.plan.tasks.map(({ delivers, metadata }) => [delivers, metadata.wave]),
      [
        ["change", 0],
        ["change", 1],
        ["report", 2],
      ],
    );
  });

  it("names only fields that are read", () => {
    const task = Object.fromEntries(
      namesIn("A task")
        .flat()
        .map((name) => [name, null]),
    );
    const plan = Object.fromEntries(
      namesIn("Around the tasks")
        .flat()
        .map((name) => [name, null]),
    );
    const read = readPlan(JSON.stringify({ ...plan, tasks: [{ ...task, subject: "Add a" }] }));
    assert.ok(read.is === "plan", JSON.stringify(read));
    assert.deepEqual(read.notes, []);
  });
});
