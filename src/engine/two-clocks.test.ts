/** Tests that a run keeps its own time, however the machine's clock is set. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as drained } from "node:timers/promises";
import { CoreRun, MINUTE, task } from "../../test/support/core-run.ts";
import { ManualClock } from "../adapters/clocks/manual.ts";
import { MemoryEventLog } from "../adapters/event-logs/memory.ts";
import { jobId } from "../core/job.ts";
import type { Event } from "../core/log/event.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventLog } from "../ports/event-log.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import { runEngine } from "./engine.ts";
import { Inbox } from "./inbox.ts";

const HOUR = 60 * MINUTE;
const MONTH = 30 * 24 * HOUR;

/** One task is at work, one waits for a retry, and what landed is due for a check. `jumpMs`: of the clock, early on. */
function begun(jumpMs = 0): CoreRun {
  const run = new CoreRun({ retry: { firstMs: 20 * MINUTE, maxMs: 20 * MINUTE } });
  run.now += jumpMs;
  run.check();
  run.plan("t", [task("a"), task("b"), task("c")]);
  run.finish("t.3");
  run.fail("work", "t.2", "agent-unreachable");
  return run;
}

/** An engine continues the run for two hours. No job answers, so all that happens is that deadlines pass. */
class Machine {
  readonly clock: ManualClock;
  readonly #run: CoreRun;
  readonly #log = new MemoryEventLog();
  /** What happened, and how many ms of real time had passed by then. */
  readonly seen: { readonly what: string; readonly afterMs: number }[] = [];
  readonly jumps: number[] = [];
  #stop = new AbortController();
  #ended: Promise<unknown> = Promise.resolve();

  constructor(run: CoreRun, startsAt = run.now) {
    this.#run = run;
    this.clock = new ManualClock(startsAt);
    void this.#log.append(0, run.log);
  }

  start(): void {
    this.#stop = new AbortController();
    const queue: JobQueue = {
      offer: () => {},
      cancel: () => {},
      recover: async () => ({ is: "running" }),
    };
    const parts = { log: this.#watched(), queue, clock: this.clock.ofProcess(), policy: this.#run.policy };
    this.#ended = runEngine(parts, new Inbox(), this.#stop.signal);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  /** Lets time pass with all deadlines on the way. */
  async until(time: number): Promise<void> {
    let isThere = false;
    this.clock.wakeAt(time, () => {
      isThere = true;
    });
    await drained();
    while (!isThere) {
      this.clock.step();
      await drained();
    }
  }

  #watched(): EventLog {
    const start = this.clock.now();
    return {
      read: (after) => this.#log.read(after),
      append: (after, events) => {
        for (const event of events) this.#note(event, start);
        return this.#log.append(after, events);
      },
    };
  }

  #note(event: Event, start: number): void {
    const afterMs = this.clock.now() - start;
    if (event.type === "clock.jumped") this.jumps.push(event.ms);
    if (event.type === "job.started") this.seen.push({ what: `started ${jobId(event.job)}`, afterMs });
    if (event.type === "job.ended") this.seen.push({ what: `${event.how} ${event.job}`, afterMs });
    if (event.type === "task.woken") this.seen.push({ what: `woken ${event.task}`, afterMs });
  }
}

/** The same things happened at the same times, within a second. */
function assertSame(seen: Machine["seen"], calm: Machine["seen"]): void {
  assert.deepEqual(
    seen.map(({ what }) => what),
    calm.map(({ what }) => what),
  );
  for (const [i, { what, afterMs }] of seen.entries()) {
    const apart = Math.abs(afterMs - calm[i]!.afterMs);
    assert.ok(apart <= 1_000, `${what} was ${apart} ms too early or too late`);
  }
}

async function undisturbed(): Promise<Machine["seen"]> {
  const machine = new Machine(begun());
  machine.start();
  await machine.until(machine.clock.now() + 2 * HOUR);
  await machine.stop();
  assert.deepEqual(machine.jumps, []);
  return machine.seen;
}

describe("a clock that is set forward by 30 days and back", () => {
  it("has a lease, a wait before another try and a sweep to disturb", async () => {
    const seen = await undisturbed();
    const times = Object.fromEntries(seen.map(({ what, afterMs }) => [what, afterMs]));
    assert.equal(times["expired work:t.1#1"], HOUR);
    assert.ok(times["woken t.2"]! > 0);
    assert.ok(times["started check#2"]! > 0);
  });

  it("changes no wait within one engine, and is said both times", async () => {
    const machine = new Machine(begun());
    const { clock } = machine;
    clock.wakeAt(clock.now() + 10_000, () => clock.jump(MONTH));
    clock.wakeAt(clock.now() + 20_000, () => clock.jump(-MONTH));
    machine.start();
    await machine.until(clock.now() + 2 * HOUR);
    await machine.stop();
    assertSame(machine.seen, await undisturbed());
    assert.deepEqual(machine.jumps, [MONTH, -MONTH]);
  });

  for (const [what, jumpMs, isBackFirst] of [
    ["forward, and back before the next engine starts", MONTH, true],
    ["forward, and back after it has started", MONTH, false],
    ["back, and forward after it has started", -MONTH, false],
  ] as const)
    it(`changes no wait across a restart, where it goes ${what}`, async () => {
      const machine = new Machine(begun());
      const { clock } = machine;
      const start = clock.now();
      machine.start();
      await machine.until(start + 10_000);
      clock.jump(jumpMs);
      await machine.until(start + 20_000);
      await machine.stop();
      const before = machine.seen.splice(0);
      if (isBackFirst) clock.jump(-jumpMs);
      machine.start();
      await machine.until(start + 30_000);
      if (!isBackFirst) clock.jump(-jumpMs);
      await machine.until(start + 2 * HOUR);
      await machine.stop();
      const after = machine.seen.map(({ what, afterMs }) => ({ what, afterMs: afterMs + 20_000 }));
      assertSame([...before, ...after], await undisturbed());
      assert.deepEqual(machine.jumps, [jumpMs, -jumpMs]);
    });

  it("changes no wait of a log whose last events are a month ahead, as older versions wrote them", async () => {
    const run = begun(MONTH);
    const machine = new Machine(run, run.now - MONTH);
    machine.start();
    await machine.until(machine.clock.now() + 2 * HOUR);
    await machine.stop();
    assertSame(machine.seen, await undisturbed());
    assert.deepEqual(machine.jumps, [-MONTH]);
  });
});

it("eight hours without an engine have passed for the next one, and are no jump", async () => {
  const run = begun();
  const machine = new Machine(run, run.now + 8 * HOUR);
  machine.start();
  await machine.until(machine.clock.now() + 1_000);
  await machine.stop();
  const atOnce = machine.seen.map(({ what }) => what);
  assert.ok(atOnce.includes("expired work:t.1#1"), atOnce.join(", "));
  assert.ok(atOnce.includes("woken t.2"));
  assert.deepEqual(machine.jumps, []);
});

it("a clock that differs by less than a second is no jump", async () => {
  const machine = new Machine(begun());
  machine.start();
  await machine.until(machine.clock.now() + 1_000);
  machine.clock.jump(999);
  await machine.until(machine.clock.now() + 1_000);
  await machine.stop();
  assert.deepEqual(machine.jumps, []);
});

it("a clock that is still forward, and a little slow, moves no log forward", async () => {
  const machine = new Machine(begun());
  const { clock } = machine;
  machine.start();
  await machine.until(clock.now() + 10_000);
  clock.jump(MONTH);
  await machine.until(clock.now() + 1);
  await machine.stop();
  clock.jump(-500);
  machine.start();
  await machine.until(clock.now() + 1);
  await machine.stop();
  assert.deepEqual(
    machine.seen.filter(({ what }) => what.startsWith("expired")),
    [],
  );
});

it("an engine that has ended hears of no jump", async () => {
  const machine = new Machine(begun());
  const left: (() => void)[] = [];
  const { clock } = machine;
  const counted: Clock["onJump"] = (wake) => {
    left.push(wake);
    return () => void left.splice(left.indexOf(wake), 1);
  };
  const parts = {
    log: new MemoryEventLog(),
    queue: { offer: () => {}, cancel: () => {}, recover: async () => ({ is: "gone" }) as const },
    clock: { ...clock.ofProcess(), onJump: counted },
    policy: begun().policy,
  };
  await runEngine(parts, new Inbox(), AbortSignal.abort());
  assert.deepEqual(left, []);
});
