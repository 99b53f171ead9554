/** Tests the spans of jobs: when they begin and end, and what they cost. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, MINUTE, task } from "../../../test/support/core-run.ts";
import type { JobId } from "../job.ts";
import type { TaskId } from "../task.ts";
import { foldSpans, gateEnd, hasGated, type JobSpan, noSpans, ranMs } from "./job-spans.ts";

function spansOf({ log }: CoreRun) {
  const spans = noSpans();
  const over = log.flatMap((event) => foldSpans(spans, event) ?? []);
  return { ...spans, over };
}
const spanOf = (run: CoreRun, job: string): JobSpan => spansOf(run).byId.get(job as JobId)!;

describe("the span of a job", () => {
  it("has its time, what it came to and what it cost, and is open until then", () => {
    const run = CoreRun.planned([task("a")]);
    assert.ok(spansOf(run).open.has("work:t.1#1" as JobId));
    run.now += 3_000;
    run.work("t.1", { spent: { tokens: 7 } });
    const { from, to, how, outcome, spent, isFailed } = spanOf(run, "work:t.1#1");
    assert.deepEqual([to! - from, how, outcome, spent], [3_000, "answered", { is: "worked" }, { tokens: 7 }]);
    assert.equal(isFailed, undefined);
    assert.deepEqual([...spansOf(run).open.keys()], ["land#1"]);
  });

  it("counts from when a machine of the fleet took it, and waits again if that machine is gone", () => {
    const run = CoreRun.planned([task("a")], { offerMs: MINUTE });
    assert.ok(spanOf(run, "work:t.1#1").isOffered);
    run.now += 1_000;
    run.say({ type: "taken", job: "work:t.1#1" as JobId, machine: "m1", tries: 0, agoMs: 0 });
    const { from, machine, isOffered } = spanOf(run, "work:t.1#1");
    assert.deepEqual([from, machine, isOffered], [1_000, "m1", undefined]);
    run.say({ type: "returned", job: "work:t.1#1" as JobId });
    assert.ok(spanOf(run, "work:t.1#1").isOffered);
  });

  it("has only the time on the machine that took it last, and none if none did", () => {
    const run = CoreRun.planned([task("a"), task("b")], { offerMs: MINUTE });
    const job = "work:t.1#1" as JobId;
    const taken = (machine: string) => run.say({ type: "taken", job, machine, tries: 0, agoMs: 0 });
    taken("m1");
    run.say({ type: "prepared", job, ms: 500, doing: "set-up" });
    run.now += 1_000;
    run.say({ type: "returned", job });
    run.now += 1_000;
    taken("m2");
    run.say({ type: "prepared", job, ms: 300, doing: "set-up" });
    run.now += 1_000;
    run.answer(job, run.worked("t.1"));
    run.say({ type: "cancel", task: "t.2" as TaskId });
    assert.equal(ranMs(spanOf(run, job)), 700);
    assert.deepEqual([spanOf(run, "work:t.2#1").to, ranMs(spanOf(run, "work:t.2#1"))], [3_000, 0]);
  });

  it("has its time also if it was answered before its machine was known", () => {
    const run = CoreRun.planned([task("a")], { offerMs: MINUTE });
    run.now += 200;
    run.work("t.1");
    assert.equal(ranMs(spanOf(run, "work:t.1#1")), 200);
  });

  it("ends once, however late an answer or a cost comes", () => {
    const run = CoreRun.planned([task("a")]);
    run.wait(run.policy.leaseMs.work + MINUTE);
    const { to, isFailed } = spanOf(run, "work:t.1#1");
    assert.ok(isFailed);
    run.answer("work:t.1#1", run.worked("t.1"), { tokens: 5 });
    const late = spanOf(run, "work:t.1#1");
    assert.equal(late.to, to);
    assert.ok(late.lateAt! > to!);
    assert.deepEqual([late.how, late.isFailed, late.spent], ["answered-late", undefined, { tokens: 5 }]);
    assert.equal(spansOf(run).over.filter(({ job }) => job === "work:t.1#1").length, 1);
  });

  it("of an attempt is failed once its change is refused, with the reason", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1");
    run.land([{ task: "t.1" as TaskId, files: ["x"], against: "target" }]);
    const { isFailed, failure, outcome } = spanOf(run, "work:t.1#1");
    assert.deepEqual([isFailed, failure, outcome], [true, "conflict", { is: "worked" }]);
    assert.equal(spanOf(run, "work:t.1#2").isFailed, undefined);
  });

  it("of a gate says whether the gate ran, and how it ended", () => {
    const ends = (happens: (run: CoreRun) => void) => {
      const run = CoreRun.planned([task("a")]);
      run.work("t.1");
      happens(run);
      const span = spanOf(run, "land#1");
      return [gateEnd(span), hasGated(span)];
    };
    assert.deepEqual(
      ends(() => {}),
      [undefined, false],
    );
    assert.deepEqual(
      ends((run) => run.land()),
      ["passed", true],
    );
    assert.deepEqual(
      ends((run) => run.landRed()),
      ["failed", true],
    );
    assert.deepEqual(
      ends((run) => run.landFailed()),
      ["error", false],
    );
    assert.deepEqual(
      ends((run) => run.landMoved({ tip: "elsewhere", landings: [] })),
      ["stopped", false],
    );
  });
});
