/** Tests what the report of a gate's run says about its commands. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runOf } from "./run-of.ts";

const ended = (name: string, line: string) => ({ name, line, green: true, failures: [], tail: "" });

test("a report has the line that was run where that is not the name, and no more of it than can be read", () => {
  const { report } = runOf([ended("test", "npm run test"), ended("make check", "make check")]);
  assert.deepEqual(report.commands, [
    { name: "test", line: "npm run test", green: true, failures: [] },
    { name: "make check", green: true, failures: [] },
  ]);
  assert.equal(runOf([ended("test", "x".repeat(5_000))]).report.commands[0]!.line!.length, 300);
});
