/** Tests when a watched turn is reported as quiet or slow, and when it is stopped. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ManualClock } from "../adapters/clocks/manual.ts";
import { failure } from "../core/failure.ts";
import type { JobId } from "../core/job.ts";
import type { Agent, Ask, Said } from "../ports/agent.ts";
import type { Signs } from "../ports/signs.ts";
import { runWatched } from "./watched.ts";

const MINUTE = 60_000;
const QUIET = { warnMs: 10 * MINUTE, stopMs: 30 * MINUTE };

const STOPPED: Said = {
  is: "failed",
  failure: failure("interrupted", "told to stop"),
  spent: { tokens: 5 },
};

/** A turn that goes on until it is stopped, or ended by the test. `last`: what it says when it is stopped. */
function watching(signs: Partial<Signs> = {}, maxMs = 600 * MINUTE, last = STOPPED) {
  const clock = new ManualClock(1_000_000);
  const told: number[] = [];
  const stopped: number[] = [];
  const { promise, resolve } = Promise.withResolvers<Said>();
  let ask: Ask | undefined;
  const agent: Agent = {
    turn: (given, signal) => {
      ask = given;
      const stop = () => {
        stopped.push(clock.now());
        resolve(last);
      };
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
      return promise;
    },
    collect: async () => undefined,
  };
  const outer = new AbortController();
  const said = runWatched(
    agent,
    { job: "work:t.1#1" as JobId, brief: {} as never, folder: "/w", environment: {}, maxMs },
    {
      clock,
      quiet: QUIET,
      changedAt: async () => 0,
      waitedMs: () => 0,
      tell: ({ ms }) => told.push(ms),
      ...signs,
    },
    outer.signal,
  );
  /** Advances to the next timer, and runs what follows from it. */
  const step = async () => {
    clock.step();
    for (let i = 0; i < 10; i += 1) await Promise.resolve();
  };
  const sign = () => ask!.onSign!();
  return { clock, told, stopped, said, step, sign, outer, end: resolve, ask: () => ask! };
}

describe("a turn that is watched", () => {
  it("is told of when it is quiet, and stopped when it stays so; what it cost counts", async () => {
    const { told, stopped, said, step, clock } = watching();
    await step();
    assert.deepEqual(told, [10 * MINUTE]);
    assert.deepEqual(stopped, []);
    await step();
    assert.deepEqual(stopped, [1_000_000 + 30 * MINUTE]);
    const end = await said;
    assert.ok(end.is === "failed");
    assert.equal(end.failure.kind, "timed-out");
    assert.match(end.failure.message, /no sign of life for 30 min/);
    assert.deepEqual(end.spent, { tokens: 5 });
    assert.equal(clock.next(), undefined, "nothing is waited for any more");
  });

  it("has ended well if it answers in the moment in which it is stopped", async () => {
    const answer: Said = { is: "said", text: "done", spent: { tokens: 7 } };
    const { stopped, said, step } = watching({}, 600 * MINUTE, answer);
    await step();
    await step();
    assert.equal(stopped.length, 1);
    assert.deepEqual(await said, answer);
  });

  it("is told of once when its model does not answer, and once more when it does again", async () => {
    const quiet: unknown[] = [];
    const { clock, ask, end, said } = watching({ tell: (one) => quiet.push(one) });
    clock.wakeAt(clock.now() + MINUTE, () => {});
    clock.step();
    for (const doing of ["no answer", "no answer", undefined, undefined]) ask().onSlow!(doing);
    const job = "work:t.1#1";
    assert.deepEqual(quiet, [
      { job, ms: MINUTE, doing: "no answer" },
      { job, ms: 0, doing: "no answer" },
    ]);
    end({ is: "said", text: "" });
    await said;
  });

  it("is let be as long as it gives signs", async () => {
    const { clock, told, stopped, step, sign, end, said } = watching();
    const keepSigning = () => {
      sign();
      clock.wakeAt(clock.now() + 9 * MINUTE, keepSigning);
    };
    keepSigning();
    while (clock.now() < 1_000_000 + 300 * MINUTE) await step();
    assert.deepEqual([told, stopped], [[], []]);
    end({ is: "said", text: "done" });
    assert.deepEqual(await said, { is: "said", text: "done" });
  });

  it("is stopped although nobody is to be told before", async () => {
    const quiet = { warnMs: Number.POSITIVE_INFINITY, stopMs: 30 * MINUTE };
    const { told, stopped, step } = watching({ quiet });
    await step();
    assert.deepEqual([told, stopped], [[], [1_000_000 + 30 * MINUTE]]);
  });

  it("is told of again after a sign that ended the first silence, and that it has ended", async () => {
    const { told, stopped, step, sign, end } = watching();
    await step();
    sign();
    for (let i = 0; i < 3 && stopped.length === 0; i += 1) await step();
    assert.deepEqual(told, [10 * MINUTE, 0, 10 * MINUTE]);
    end({ is: "said", text: "" });
  });

  it("counts a changed file as a sign, but not one that was changed before it fell silent", async () => {
    const { clock, told, step, end, said } = watching({
      changedAt: async () => (clock.now() < 1_000_000 + 15 * MINUTE ? clock.now() : 1),
    });
    await step();
    assert.deepEqual(told, [], "it had just changed something");
    await step();
    assert.deepEqual(told, [10 * MINUTE]);
    end({ is: "said", text: "" });
    await said;
  });

  it("owes no sign, and no end, while it waits for its account", async () => {
    const waited = { ms: 0 };
    const { clock, told, stopped, step, end, said } = watching({ waitedMs: () => waited.ms }, 60 * MINUTE);
    waited.ms = 300 * MINUTE;
    clock.wakeAt(clock.now() + 300 * MINUTE, () => {});
    while (clock.now() < 1_000_000 + 300 * MINUTE) await step();
    assert.deepEqual([told, stopped], [[], []]);
    await step();
    assert.deepEqual(told, [10 * MINUTE]);
    end({ is: "said", text: "late" });
    assert.deepEqual(await said, { is: "said", text: "late" });
  });

  it("is not taken for quiet because the machine's clock was set, but if it stays so", async () => {
    for (const ms of [720 * 60 * MINUTE, -720 * 60 * MINUTE]) {
      const changed = { at: 1_000_000 };
      const { clock, told, stopped, step } = watching({ changedAt: async () => changed.at });
      await step();
      changed.at = clock.wall() + 19 * MINUTE;
      clock.wakeAt(clock.now() + 19 * MINUTE, () => clock.jump(ms));
      await step();
      await step();
      assert.deepEqual([told, stopped], [[10 * MINUTE, 0], []], "it changed something just before");
      changed.at = clock.wall() - 60 * MINUTE;
      for (let i = 0; i < 4 && stopped.length === 0; i += 1) await step();
      assert.equal(stopped.length, 1, "it is stopped all the same");
    }
  });

  it("has not been quiet while the machine slept, nor used its time", async () => {
    const { clock, told, stopped, step, said } = watching({ quiet: undefined as never }, 60 * MINUTE);
    const asleep = watching();
    for (const { clock: sleeping } of [{ clock }, asleep]) {
      sleeping.wakeAt(sleeping.now() + MINUTE, () => sleeping.sleep(480 * MINUTE));
    }
    for (let i = 0; i < 3; i += 1) {
      await step();
      await asleep.step();
    }
    assert.deepEqual([told, stopped], [[], [1_000_000 + 541 * MINUTE]]);
    assert.equal((await said).is, "failed");
    assert.deepEqual([asleep.told, asleep.stopped], [[10 * MINUTE], []]);
  });

  it("is stopped at the end of its time, however lively", async () => {
    const { stopped, step, sign, said } = watching({}, 25 * MINUTE);
    for (let i = 0; i < 9 && stopped.length === 0; i += 1) {
      sign();
      await step();
    }
    assert.deepEqual(stopped, [1_000_000 + 25 * MINUTE]);
    const end = await said;
    assert.match(end.is === "failed" ? end.failure.message : "", /did not end within 25 min/);
  });

  it("is not stopped where its signs cannot be seen, and obeys a stop", async () => {
    const { clock, outer, said, stopped } = watching({ quiet: undefined as never });
    assert.equal(clock.next(), 1_000_000 + 600 * MINUTE);
    outer.abort();
    assert.equal((await said).is, "failed");
    assert.equal(stopped.length, 1);
  });
});
