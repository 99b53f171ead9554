/** Tests the library's commands to a run: pause, steer, resume, cancel, approve and stop. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PlanFunction, RunHandle, WorkFunction } from "../../src/index.ts";
import {
  eventsOf,
  failureOf,
  good,
  LIMIT,
  makePlace,
  part,
  plans,
  writes,
} from "../support/orchestrators.ts";

/** A barrier that functions wait at until the test opens it; a function that is told to stop leaves it. */
function barrier() {
  const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const pass = async ({ signal }: { readonly signal: AbortSignal }) => {
    reached.resolve();
    const stopped = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => stopped.reject(signal.reason), { once: true });
    await Promise.race([opened.promise, stopped.promise]);
  };
  return { pass, reached: reached.promise, open: opened.resolve };
}

describe("commands to a run inside a program", LIMIT, () => {
  it("are heard: pause, steer, resume, cancel of one task by its name", async () => {
    await using place = await makePlace();
    const { pass, reached, open } = barrier();
    const steers: string[] = [];
    const planner: PlanFunction = (brief) => {
      steers.push(...brief.steers);
      if (brief.first) return { tasks: [part("a"), part("b")] };
      return { tasks: brief.steers.length > 0 ? [part("c")] : [] };
    };
    const worker: WorkFunction = async (brief, turn) => {
      if (brief.spec.key === "b") await pass(turn);
      return writes(brief, turn);
    };
    const run = good(await place.open({ planner, worker }).run({ goal: "write two" }));
    await reached;
    assert.deepEqual(await run.pause(), { is: "heard" });
    assert.equal(run.view().is, "paused");
    assert.deepEqual(await run.steer("write c as well"), { is: "heard" });
    assert.deepEqual(steers, []);
    assert.deepEqual(await run.resume(), { is: "heard" });
    assert.deepEqual(await run.cancel("b", "not needed"), { is: "heard" });
    assert.deepEqual(await run.ended, { is: "closed", how: "done", left: [] });
    open();
    assert.deepEqual(steers, ["write c as well"]);
    assert.deepEqual(
      run.view().undone.map(({ name, end, reason }) => [name, end, reason]),
      [["b", "cancelled", "not needed"]],
    );
    assert.equal(await place.repository.git("ls-tree", "--name-only", run.target), "a.txt\nc.txt");
    const types = (await eventsOf(run)).map(({ type }) => type);
    const order = ["run.paused", "run.steered", "run.resumed", "task.cancelled", "run.closed"] as const;
    assert.deepEqual(
      types.filter((type) => order.some((one) => one === type)),
      order,
    );
  });

  it("are refused in words where they make no sense, also after the end", async () => {
    await using place = await makePlace();
    const { pass, reached, open } = barrier();
    const worker: WorkFunction = async (brief, turn) => {
      await pass(turn);
      return writes(brief, turn);
    };
    const planner = plans(part("a"));
    const run = good(await place.open({ planner, worker }).run({ goal: "write a" }));
    await reached;
    assert.deepEqual(await run.cancel("x"), { is: "refused", reason: 'there is no task "x"' });
    assert.deepEqual(await run.steer(" "), { is: "refused", reason: "the message is empty" });
    assert.match(JSON.stringify(await run.approve()), /refused/);
    assert.match(failureOf(await run.deliver()).message, /is running in process/);
    open();
    await run.ended;
    const late = { is: "refused", reason: `run ${run.run} has ended` };
    for (const said of [run.pause(), run.resume(), run.steer("more"), run.cancel(), run.stop()])
      assert.deepEqual(await said, late);
  });

  it("cancel the run as a whole, and what landed is delivered only on request", async () => {
    await using place = await makePlace();
    const { pass, reached } = barrier();
    const worker: WorkFunction = async (brief, turn) => {
      if (brief.spec.key === "b") await pass(turn);
      return writes(brief, turn);
    };
    const planner = plans(part("a"), part("b", { after: ["a"] }));
    const run = good(await place.open({ planner, worker }).run({ goal: "write two" }));
    await reached;
    assert.deepEqual(await run.cancel(undefined, "too dear"), { is: "heard" });
    assert.deepEqual(await run.ended, { is: "closed", how: "cancelled", left: ["cancelled: too dear"] });
    await place.repository.git("branch", "side");
    assert.match(
      failureOf(await run.deliver({ branch: "side" })).message,
      /is cancelled, so only a part of the goal/,
    );
    assert.equal(good(await run.deliver({ branch: "side", partial: true })).is, "delivered");
    assert.equal(await place.repository.git("show", "side:a.txt"), "a");
  });

  it("wait for an approval where that is configured, and a plan that is declined is made anew", async () => {
    await using place = await makePlace();
    const planner: PlanFunction = ({ first, steers }) => ({
      tasks: steers.length > 0 ? [part("a")] : first ? [part("b")] : [],
    });
    const config = { gate: "none", approve: "every" } as const;
    const run = good(await place.open({ planner, config }).run({ goal: "write" }));
    for await (const { type } of run.events) {
      if (type !== "plan.accepted" || run.view().counts.total === 0) continue;
      const isFirst = run.tasks().every(({ key }) => key !== "a");
      if (isFirst) await run.decline("not b: a");
      else await run.approve();
    }
    assert.equal(await place.repository.git("show", `${run.target}:a.txt`), "a");
    assert.equal(await place.repository.git("ls-tree", "--name-only", run.target), "a.txt");
  });
});

describe("a run inside a program that is stopped", LIMIT, () => {
  it("keeps what was made when its signal comes, and goes on where it was", async () => {
    await using place = await makePlace();
    const { pass, reached } = barrier();
    const stop = new AbortController();
    const planner = plans(part("a"), part("b", { after: ["a"] }));
    const stuck: WorkFunction = async (brief, turn) => {
      await writes(brief, turn);
      if (brief.spec.key === "b") await pass(turn);
      return { status: "complete", summary: "wrote it" };
    };
    const first = good(
      await place.open({ planner, worker: stuck }).run({ goal: "two", signal: stop.signal }),
    );
    await reached;
    stop.abort();
    assert.deepEqual(await first.ended, { is: "stopped" });
    assert.match(await place.repository.git("for-each-ref", "refs/skein/salvage"), /t\.2\.1/);

    await using skein = place.open({ planner });
    const again = good(await skein.resume(first.run));
    assert.deepEqual(await again.ended, { is: "closed", how: "done", left: [] });
    const events = await eventsOf(again);
    assert.deepEqual(events.slice(0, 2).map(({ type }) => type)[0], "run.opened");
    assert.equal(events.filter(({ type }) => type === "batch.landed").length, 2);
    assert.deepEqual(again.view().counts.done, 2);
    assert.deepEqual(good(await skein.view(first.run)).is, "done");
    assert.match(failureOf(await skein.resume(first.run)).message, /is closed: done/);
  });

  it("stops by command and by the end of a scope, and lets nothing of it run on", async () => {
    await using place = await makePlace();
    const { pass, reached } = barrier();
    let isTold = false;
    const worker: WorkFunction = async (_, turn) => {
      await pass(turn).catch(() => {
        isTold = true;
      });
      return undefined;
    };
    let run: RunHandle;
    {
      await using skein = place.open({ worker });
      run = good(await skein.run({ goal: "wait" }));
      await reached;
      assert.deepEqual(
        good(await skein.runs()).map((one) => good(one).isGoing),
        [true],
      );
      assert.match(failureOf(await skein.resume(run.run)).message, /process/);
    }
    assert.deepEqual([isTold, await run.ended], [true, { is: "stopped" }]);
    const second = good(await place.open({ worker }).resume(run.run));
    assert.deepEqual(await second.stop({ now: true }), { is: "heard" });
    assert.deepEqual(await second.ended, { is: "stopped" });
  });

  it("has stopped when its orchestrator is closed, also while it began; after that none begins", async () => {
    await using place = await makePlace();
    const skein = place.open({ planner: plans(part("a")) });
    const beginning = skein.run({ goal: "write a" });
    await skein[Symbol.asyncDispose]();
    const listed = good(await place.open().runs()).map(good);
    assert.deepEqual([listed.length, listed[0]?.isGoing], [1, false]);
    assert.deepEqual(await good(await beginning).ended, { is: "stopped" });
    const unused = place.open();
    await unused[Symbol.asyncDispose]();
    for (const closed of [skein, unused])
      assert.equal(failureOf(await closed.run({ goal: "b" })).message, "this orchestrator was closed");
  });

  it("does not begin, and leaves nothing, if its signal came before", async () => {
    await using place = await makePlace();
    const skein = place.open();
    const signal = AbortSignal.abort("not today");
    const { kind, message } = failureOf(await skein.run({ goal: "write a", signal }));
    assert.deepEqual([kind, message], ["interrupted", "stopped before it began: not today"]);
    assert.deepEqual(await skein.runs(), []);
    assert.equal(await place.repository.git("for-each-ref", "refs/heads/skein"), "");
  });
});
