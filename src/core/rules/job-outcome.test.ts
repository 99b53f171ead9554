/** Tests the outcome that the log gets for each kind of answer. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, large, MINUTE, task } from "../../../test/support/core-run.ts";
import type { JobOutcome } from "../job.ts";
import type { TaskId } from "../task.ts";

const lastOutcome = (run: CoreRun): JobOutcome | undefined => run.events("job.ended").at(-1)?.outcome;

type Case = readonly [what: string, happens: (run: CoreRun) => void, outcome: JobOutcome | undefined];

const CASES: readonly Case[] = [
  ["a plan that is taken", (run) => run.plan("t.2", []), { is: "planned" }],
  [
    "a plan that is rejected",
    (run) => run.plan("t.2", [task("a", { scope: ["elsewhere.ts"] }), task("a")]),
    { is: "planned", failure: "plan-invalid" },
  ],
  [
    "a planner that could not be reached",
    (run) => run.fail("plan", "t.2", "agent-unreachable"),
    { is: "failed", failure: "agent-unreachable" },
  ],
  ["a change that goes to landing", (run) => run.work("t.1"), { is: "worked" }],
  [
    "a change outside of its scope",
    (run) => run.work("t.1", { filesChanged: ["elsewhere.ts"] }),
    { is: "worked", failure: "out-of-scope" },
  ],
  ["a worker that failed", (run) => run.fail("work", "t.1"), { is: "failed", failure: "agent-failed" }],
  [
    "a worker whose time was up",
    (run) => run.wait(run.policy.leaseMs.work + MINUTE),
    { is: "failed", failure: "timed-out" },
  ],
  [
    "a worker that was interrupted",
    (run) => run.say({ type: "interrupted", job: run.running("work")[0] as never }),
    { is: "failed", failure: "interrupted" },
  ],
  ["a worker that was called off", (run) => run.say({ type: "cancel", task: "t.1" as TaskId }), undefined],
  ["a landing", landing((run) => run.land()), { is: "landed", proof: "green" }],
  ["a candidate that fails the gate", landing((run) => run.landRed()), { is: "red" }],
  [
    "a candidate of which nothing can be merged",
    landing((run) => run.land([{ task: "t.1" as TaskId, files: ["x"], against: "target" }])),
    { is: "conflict" },
  ],
  [
    "a target that others moved",
    landing((run) => run.landMoved({ tip: "elsewhere", landings: [] })),
    { is: "moved" },
  ],
  [
    "a landing that could not be made",
    landing((run) => run.landFailed()),
    { is: "failed", failure: "repository" },
  ],
  [
    "an answer of another kind of job",
    landing((run) => run.answer(run.running("land")[0]!, run.worked("t.1"))),
    { is: "failed", failure: "repository" },
  ],
];

function landing(happens: (run: CoreRun) => void): (run: CoreRun) => void {
  return (run) => {
    run.work("t.1");
    happens(run);
  };
}

describe("the end of a job says what it came to:", () => {
  for (const [what, happens, outcome] of CASES)
    it(what, () => {
      const run = CoreRun.planned([task("a"), large("b")]);
      happens(run);
      assert.deepEqual(lastOutcome(run), outcome);
    });

  it("a look at the target, by what the gate says, or that it was not run", () => {
    const run = new CoreRun();
    run.check(["test: x"]);
    assert.deepEqual(lastOutcome(run), { is: "red" });
    run.check();
    assert.deepEqual(lastOutcome(run), { is: "passed" });
    const reused = new CoreRun();
    const report = { commands: [{ name: "test", green: true, failures: [] }] };
    const { tip } = reused.state.target;
    reused.answer("check#1", { is: "checked", tip, report, problems: [], passedAt: 1 });
    assert.deepEqual(lastOutcome(reused), { is: "known" });
    const other = new CoreRun();
    other.answer("check#1", { is: "probed", probed: { is: "not-probed", why: "no time" } });
    assert.deepEqual(lastOutcome(other), { is: "failed", failure: "repository" });
    const failed = new CoreRun();
    failed.checkFailed();
    assert.deepEqual(lastOutcome(failed), { is: "failed", failure: "repository" });
  });
});
