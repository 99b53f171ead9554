/** Tests that a run removes forgotten conflict markers of its base first, and leaves intended ones alone. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failuresOf } from "../../src/core/gate.ts";
import type { EventOf } from "../../src/core/log/event.ts";
import { closing, endings, makeSetting, runGoal, type Setting } from "../support/live-runs.ts";
import { plans, task, writes } from "../support/scripts.ts";

const DONE = { answer: { scratchpad: "", tasks: [], done: true } };
const EXAMPLE = "const text = `\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n`;\n";

/** A repository whose main branch has a merge of two changes of one line, committed with git's conflict markers. */
async function mergedAsItWas(): Promise<Setting> {
  const made = await makeSetting({
    files: { "src/sum.js": "let sum = 1;\n", "src/merge.test.js": EXAMPLE, "a.txt": "bad\n" },
    script: {
      plans: { t: [plans(task("b")), DONE] },
      work: {
        b: [writes("b.txt")],
        "fix-conflict-markers-1": [writes("src/sum.js", "let sum = 5;\n")],
        "fix-tests-1": [writes("a.txt")],
      },
    },
  });
  const { repository } = made;
  await repository.branch("other", { "src/sum.js": "let sum = 2;\n" });
  await repository.commit({ "src/sum.js": "let sum = 3;\n" });
  await assert.rejects(repository.git("merge", "-q", "other"));
  const head = await repository.commit({}, "merge other");
  return { ...made, project: { ...made.project, located: { ...made.project.located, head } } };
}

/** The gate fails over the markers, and behind them for another reason as well. */
const GATE = [
  {
    name: "test",
    run: "node --check src/sum.js && { grep -q good a.txt || { echo 'not ok 1 - a is good'; exit 1; }; }",
  },
];

describe("a base with forgotten conflict markers", () => {
  it("is mended before anything else, and what only quotes markers is left alone", async () => {
    await using setting = await mergedAsItWas();
    const { end, events, target } = await runGoal(setting, setting.config({ gate: GATE }));
    assert.equal(closing(end), "done");
    assert.ok(end.is === "closed");
    assert.deepEqual(
      Object.entries(endings(end.state)).filter(([key]) => key.startsWith("fix-")),
      [
        ["fix-conflict-markers-1", "done"],
        ["fix-tests-1", "done"],
      ],
    );
    const checks = events.filter(
      (event): event is EventOf<"target.checked"> => event.type === "target.checked",
    );
    assert.equal(failuresOf(checks[0]!.report)[0], "conflict markers: src/sum.js");
    const repairs = events.filter(
      (event): event is EventOf<"repair.planned"> => event.type === "repair.planned",
    );
    assert.deepEqual(
      repairs[0]?.into.map(({ spec }) => [spec.key, spec.scope]),
      [["fix-conflict-markers-1", ["src/sum.js"]]],
    );
    assert.match(repairs[0]!.into[0]!.spec.description, /src\/sum\.js: a conflict was left in line 1/);
    assert.equal(await setting.repository.git("show", `${target}:src/sum.js`), "let sum = 5;");
    assert.equal(`${await setting.repository.git("show", `${target}:src/merge.test.js`)}\n`, EXAMPLE);
  });

  it("is mended where there is no gate, and the rest is still called not gated", async () => {
    await using setting = await mergedAsItWas();
    const { end, events, target } = await runGoal(setting, setting.config({ gate: "none" }));
    assert.equal(closing(end), "done");
    assert.equal(await setting.repository.git("show", `${target}:src/sum.js`), "let sum = 5;");
    const landings = events.filter(
      (event): event is EventOf<"batch.landed"> => event.type === "batch.landed",
    );
    assert.deepEqual([...new Set(landings.map(({ proof }) => proof))], ["ungated"]);
  });
});
