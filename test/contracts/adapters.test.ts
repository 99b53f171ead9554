/** Runs the adapters in memory and of this process against the contracts of event logs, job queues and clocks. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { ManualClock } from "../../src/adapters/clocks/manual.ts";
import { systemClock } from "../../src/adapters/clocks/system.ts";
import { MemoryEventLog } from "../../src/adapters/event-logs/memory.ts";
import { InProcessJobQueue } from "../../src/adapters/job-queues/in-process.ts";
import { failure } from "../../src/core/failure.ts";
import { clockContract } from "./clock.ts";
import { eventLogContract } from "./event-log.ts";
import { jobQueueContract } from "./job-queue.ts";

eventLogContract("in memory", () => new MemoryEventLog());

jobQueueContract("in this process", (run) => new InProcessJobQueue(run));

clockContract("of the system", () => {
  let setMs = 0;
  const wall = () => Date.now() + setMs;
  const clock = systemClock({
    wall,
    steady: () => performance.now(),
    sinceBoot: () => performance.now(),
  });
  const jump = (ms: number) => {
    setMs += ms;
  };
  return { clock, until: (kept) => kept, jump };
});

clockContract("by hand", () => {
  const clock = new ManualClock();
  const until = async (kept: Promise<void>) => {
    let isKept = false;
    void kept.then(() => {
      isKept = true;
    });
    while (!isKept) {
      clock.step();
      await Promise.resolve();
    }
  };
  return { clock, until, jump: (ms) => clock.jump(ms) };
});

it("a queue that is closed has ended everything that it had started", async () => {
  let ended = 0;
  const queue = new InProcessJobQueue(
    (_brief, signal) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          ended += 1;
          resolve({ outcome: { is: "failed", failure: failure("cancelled", "stopped") } });
        }),
      ),
  );
  for (const turn of [1, 2]) {
    queue.offer(
      { kind: "check", turn },
      { kind: "check", run: "r1", turn, target: "skein/r1/target", tip: "c0" },
      () => {},
    );
  }
  await queue.close();
  assert.equal(ended, 2);
});

it("a manual clock keeps appointments of one time in the order in which they were made", () => {
  const clock = new ManualClock();
  const order: number[] = [];
  for (const n of [1, 2, 3]) clock.wakeAt(10, () => order.push(n));
  const second = clock.wakeAt(10, () => order.push(4));
  clock.wakeAt(5, () => clock.wakeAt(10, () => order.push(5)));
  clock.step();
  clock.step();
  second();
  while (clock.step());
  assert.deepEqual(order, [1, 2, 3, 5]);
  assert.equal(clock.now(), 10);
});
