/** Simulates a whole run: the real engine on a manual clock with virtual agents and a virtual repository. */
import { setImmediate as drained } from "node:timers/promises";
import { ManualClock } from "../adapters/clocks/manual.ts";
import { MemoryEventLog } from "../adapters/event-logs/memory.ts";
import type { Event } from "../core/log/event.ts";
import type { Policy } from "../core/rules/policy.ts";
import { runEngine } from "../engine/engine.ts";
import { Inbox } from "../engine/inbox.ts";
import { type QueueScript, VirtualQueue } from "./virtual-queue.ts";
import type { VirtualRepository } from "./virtual-repository.ts";

type VirtualRun = {
  readonly goal: string;
  readonly policy: Policy;
  readonly script: QueueScript;
  readonly repository: VirtualRepository;
  /** A run that takes longer will never end. */
  readonly maxMs: number;
};

type PlayedRun = { readonly events: readonly Event[] } | { readonly stuck: string };

const DAY = 24 * 60 * 60_000;

export async function simulate(run: VirtualRun): Promise<PlayedRun> {
  const { goal, policy, repository, script } = run;
  const clock = new ManualClock();
  const log = new MemoryEventLog();
  const inbox = new Inbox();
  inbox.send({ type: "open", request: { run: "r1", goal, base: repository.base } });
  const queue = new VirtualQueue(clock, repository, script);
  let end: { readonly failed?: unknown } | undefined;
  runEngine({ log, queue, clock: clock.ofProcess(), policy }, inbox, new AbortController().signal).then(
    () => (end = {}),
    (failed: unknown) => (end = { failed }),
  );
  while (true) {
    await drained(); // Waits until everything that follows from the last step has happened.
    if (end?.failed !== undefined) throw end.failed;
    if (end) return { events: log.events };
    const next = clock.next();
    if (next === undefined) return { stuck: "nothing is running and no task waits for anything" };
    if (next > run.maxMs) return { stuck: `not over after ${Math.round(clock.now() / DAY)} days` };
    clock.step();
    while (clock.next() === clock.now()) clock.step(); // Handled together, as by a busy engine.
  }
}
