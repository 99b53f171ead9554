/** What does a person read where a program prints what it got? Words, down to the reason; no functions, no `[Object]`. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { decomposeAndExecute, TaskGraph } from "../../src/index.ts";
import { good, LIMIT, makePlace, part, plans, writes } from "../support/orchestrators.ts";

/** As `console.log` shows it. */
const printed = (value: unknown): string => {
  const text = inspect(value);
  assert.doesNotMatch(text, /\[(?:Object|Array)\]|Function|Symbol\(|Promise/);
  return text;
};

describe("what a program prints", () => {
  it("of a run is its name, its goal, how it stands, and why something is not done", LIMIT, async () => {
    await using place = await makePlace();
    await using skein = place.open({
      planner: plans(part("one"), part("two")),
      worker: (brief, turn) => {
        if (brief.spec.key === "two") throw new Error("the model is asleep");
        return writes(brief, turn);
      },
    });
    assert.match(printed(skein), /^\{ repository: /);
    assert.match(printed(await skein.run({ goal: "" })), /message: 'the goal is empty'/);
    const run = good(await skein.run({ goal: "write both" }));
    assert.match(printed(run), /goal: 'write both'/);
    assert.match(printed(await run.ended), /how: 'incomplete'[\s\S]*the model is asleep/);
    assert.match(printed(run), /is: 'incomplete'[\s\S]*name: 'two'[\s\S]*the model is asleep/);
    assert.match(
      printed(run.view()),
      /setbacks: \[[\s\S]*message: 'the work function threw: the model is asleep'/,
    );
    assert.match(printed(await skein.view(run.run)), /landings: \[[\s\S]*members: \[ /);
    assert.match(printed(run.tasks()), /name: 'two'/);
    assert.match(printed(await skein.runs()), /goal: 'write both'/);
    assert.deepEqual(Object.keys(run.view()).includes("setbacks"), true, "and it is a plain object as ever");
  });

  it("of a subplanner's handoff is all of it", async () => {
    const tasks = ["a.md", "b.md"].map((file) => ({
      ...{ id: file[0]!, description: `write ${file}`, acceptance: "it is there", scope: [file] },
    }));
    const handoff = await decomposeAndExecute(
      { id: "all", description: "Write all", scope: ["a.md", "b.md"] },
      {
        plan: ({ first }) => ({ tasks: first ? tasks : [] }),
        work: ({ spec }) => ({ status: "complete", summary: "did it", filesChanged: spec.scope }),
      },
    );
    assert.match(printed(handoff), /status: 'complete'[\s\S]*filesChanged: \[ 'a\.md', 'b\.md' \]/);
  });

  it("of a task graph is each task's status, and of its execution each task's result", async () => {
    const graph = new TaskGraph([{ id: "fix", description: "Fix" }]);
    assert.match(printed(graph), /tasks: \[ 'fix: pending' \]/);
    const result = await graph.execute(async () => ({ success: true, output: "fixed", duration: 1 }));
    assert.match(printed(result), /results: Map\(1\) \{[\s\S]*'fix' => \{ success: true, output: 'fixed'/);
  });
});
