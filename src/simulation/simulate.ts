/** Plays a whole run in a virtual world: the real engine on a manual clock. */
import { setImmediate as drained } from "node:timers/promises";
import { ManualClock } from "../adapters/clocks/manual.ts";
import { MemoryEventLog } from "../adapters/event-logs/memory.ts";
import type { Event } from "../core/log/event.ts";
import type { Policy } from "../core/rules/policy.ts";
import { runEngine } from "../engine/engine.ts";
import { Inbox, type Message } from "../engine/inbox.ts";
import type { EventLog } from "../ports/event-log.ts";
import { type QueueScript, VirtualQueue } from "./virtual-queue.ts";
import type { VirtualRepository } from "./virtual-repository.ts";

type VirtualRun = {
  readonly goal: string;
  readonly policy: Policy;
  readonly script: QueueScript;
  readonly repository: VirtualRepository;
  /** If it is not over by then, it never will be. */
  readonly maxMs: number;
  /** What people say, and what happens to the world, at a time. */
  readonly said?: readonly { readonly at: number; readonly message: Message }[];
  readonly happens?: readonly { readonly at: number; readonly happens: () => void }[];
  /** Sees each event once it is in the log; what it returns is said so much later. */
  readonly react?: (event: Event) => readonly { readonly afterMs: number; readonly message: Message }[];
  /** Tests that earlier runs saw come and go. */
  readonly flaky?: readonly string[];
};

type PlayedRun = { readonly events: readonly Event[] } | { readonly stuck: string };

const DAY = 24 * 60 * 60_000;

export async function simulate(run: VirtualRun): Promise<PlayedRun> {
  const { goal, policy, repository, script, flaky, react } = run;
  const clock = new ManualClock();
  const memory = new MemoryEventLog();
  const inbox = new Inbox();
  const log: EventLog = {
    read: (after) => memory.read(after),
    append: async (after, events) => {
      const appended = await memory.append(after, events);
      for (const { afterMs, message } of events.flatMap((event) => react?.(event) ?? []))
        clock.wakeAt(clock.now() + afterMs, () => inbox.send(message));
      return appended;
    },
  };
  inbox.send({ type: "open", request: { run: "r1", goal, base: repository.base, ...(flaky && { flaky }) } });
  const queue = new VirtualQueue(clock, repository, script);
  let end: { readonly failed?: unknown } | undefined;
  runEngine({ log, queue, clock: clock.ofProcess(), policy }, inbox, new AbortController().signal).then(
    () => (end = {}),
    (failed: unknown) => (end = { failed }),
  );
  for (const { at, message } of run.said ?? []) clock.wakeAt(at, () => inbox.send(message));
  for (const { at, happens } of run.happens ?? []) clock.wakeAt(at, happens);
  while (true) {
    await drained(); // Everything that follows from the last step has happened.
    if (end?.failed !== undefined) throw end.failed;
    if (end) return { events: memory.events };
    const next = clock.next();
    if (next === undefined) return { stuck: "nothing is running and no task waits for anything" };
    if (next > run.maxMs) return { stuck: `not over after ${Math.round(clock.now() / DAY)} days` };
    clock.step();
    while (clock.next() === clock.now()) clock.step(); // Heard together, as by a busy engine.
  }
}
