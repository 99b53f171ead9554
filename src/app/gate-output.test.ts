/** Tests the excerpt of a gate run's output: what failed first, bounded, without control sequences. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TaskId } from "../core/task.ts";
import type { AttemptRefs, RunFiles } from "../ports/run-files.ts";
import type { RunHome } from "../ports/runs.ts";
import { attemptDiff, gateOutput } from "./gate-output.ts";

const quiet = new AbortController().signal;
const home = { record: { run: "r1", base: "b".repeat(40), settings: {} } } as RunHome;

const kept = (text: string | undefined): Pick<RunFiles, "output"> => ({ output: async () => text });
const read = (text: string | undefined, output = "land#1") =>
  gateOutput({ home, output }, { files: kept(text) }, quiet);

test("gives what failed first, and all of it, without anything that a terminal obeys", async () => {
  const found = await read(
    "$ npm test\nok 1 - a\n\u001b[31mnot ok 2 - b\u001b[0m\u0007\u202e\n[exit code 1]\n",
  );
  assert.ok(found.is === "kept");
  assert.deepEqual(found.excerpt, [
    { from: 1, lines: ["$ npm test"] },
    { from: 3, lines: ["not ok 2 - b "] },
  ]);
  assert.deepEqual(found.lines, ["$ npm test", "ok 1 - a", "not ok 2 - b ", "[exit code 1]"]);
});

test("a long output is bounded, and the numbers of what failed fit what is shown", async () => {
  const found = await read(`${"fine\n".repeat(40_000)}Error: late\n${"x".repeat(9_000)}`);
  assert.ok(found.is === "kept");
  assert.equal(found.lines.length, 20_001);
  assert.match(found.lines[5_000]!, /^… 20002 lines are not shown …$/);
  const { from, lines } = found.excerpt.at(-1)!;
  assert.equal(found.lines[from - 1], lines[0]);
  assert.equal(found.lines[from - 1 + lines.indexOf("Error: late")], "Error: late");
  assert.ok(found.lines.every((line) => line.length <= 2_000));
});

test("of a run that passed, the end is shown first: it says how many tests ran", async () => {
  const text = `${"ok - a\n".repeat(90)}# handles Error: none\n# pass 91\n[exit code 0]\n`;
  const found = await gateOutput({ home, output: "land#1", hasPassed: true }, { files: kept(text) }, quiet);
  assert.ok(found.is === "kept");
  assert.deepEqual(
    found.excerpt.map(({ from, lines }) => [from, lines.length, lines.at(-2)]),
    [[82, 12, "# pass 91"]],
  );
});

test("what is not kept is said in words", async () => {
  assert.match(JSON.stringify(await read(undefined)), /an older Skein ran it/);
  assert.match(JSON.stringify(await read("\n")), /It wrote nothing/);
  assert.equal((await read("text", "x".repeat(1_000))).is, "missing", "a name that is none");
});

test("the change of an attempt is looked for since the target, then since the base", async () => {
  const asked: AttemptRefs[] = [];
  const files = (diff: string | undefined): Pick<RunFiles, "attempt"> => ({
    attempt: async (of) => {
      asked.push(of);
      return diff === undefined ? undefined : { ref: "refs/heads/skein/r1/task/t.1.2-x", commit: "c", diff };
    },
  });
  const diffOf = (diff: string | undefined) =>
    attemptDiff({ home, task: "t.1" as TaskId, attempt: 2 }, { files: files(diff) }, quiet);
  assert.deepEqual(await diffOf("+a\tb\u001b[2J\n"), {
    is: "kept",
    ref: "refs/heads/skein/r1/task/t.1.2-x",
    lines: ["+a  b"],
  });
  assert.deepEqual(asked[0]?.since, ["refs/heads/skein/r1/target", home.record.base]);
  assert.match(JSON.stringify(await diffOf(undefined)), /No work of it is kept/);
  assert.match(JSON.stringify(await diffOf("")), /changed nothing/);
});
