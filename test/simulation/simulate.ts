/** Simulates a run: the real engine on a manual clock and a repository in memory, killed and restarted at will. */
import { setImmediate as drained } from "node:timers/promises";
import { ManualClock } from "../../src/adapters/clocks/manual.ts";
import { MemoryEventLog } from "../../src/adapters/event-logs/memory.ts";
import type { Job } from "../../src/core/job.ts";
import type { Event } from "../../src/core/log/event.ts";
import type { RunState } from "../../src/core/log/state.ts";
import type { Policy } from "../../src/core/rules/policy.ts";
import { type EngineEnd, runEngine } from "../../src/engine/engine.ts";
import { Inbox, type Message } from "../../src/engine/inbox.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { EventLog } from "../../src/ports/event-log.ts";
import type { VirtualRepository } from "../../src/simulation/virtual-repository.ts";
import type { Fleet } from "./fleets.ts";
import type { GatePlaces } from "./gate-places.ts";
import { freeProvider, type Provider } from "./provider.ts";
import { type Mischief, noMischief, type Script, type Unready, VirtualQueue } from "./virtual-queue.ts";

export type Simulation = {
  readonly goal: string;
  readonly policy: Policy;
  readonly script: Script;
  readonly repository: VirtualRepository;
  readonly mischief?: Mischief;
  readonly provider?: Provider;
  readonly places?: GatePlaces;
  readonly unready?: Unready;
  readonly fleet?: Fleet;
  /** Messages to the engine, by time. */
  readonly said?: readonly { readonly at: number; readonly message: Message }[];
  /** Messages, or changes of the world, that follow an event after a time. */
  readonly react?: (event: Event) => readonly Reaction[];
  /** Tests that earlier runs know as flaky. */
  readonly flaky?: readonly string[];
  /** Changes of the world, by time. */
  readonly happens?: readonly { readonly at: number; readonly happens: () => void }[];
  /** Jumps of the machine's clock, by time. */
  readonly jumps?: readonly { readonly at: number; readonly ms: number }[];
  readonly crashes?: Crashes;
  /** What comes at one moment reaches the engine at once, as if it was busy; otherwise one after the other. */
  readonly together?: boolean;
  /** The time after which a run counts as stuck; two months by default. */
  readonly maxMs?: number;
  readonly maxEvents?: number;
  /** Called with each durable event, and a clock with the real time and the machine's time. */
  readonly observe?: (event: Event, clock: Pick<Clock, "now" | "wall">) => void;
};

export type Reaction = { readonly afterMs: number } & (
  | { readonly message: Message }
  | { readonly happens: () => void }
);

/**
 * What happens when the engine appends. `before`: it dies, and nothing is durable. `after`: it dies, and everything is
 * durable. `rival`: it goes on, and a second engine starts.
 */
export type Crashes = {
  onAppend(events: readonly Event[]): "none" | "before" | "after" | "rival";
  survives(job: Job): boolean;
};

export type Simulated = {
  readonly end:
    | { readonly is: "closed"; readonly state: RunState }
    | { readonly is: "stuck"; readonly why: string };
  readonly events: readonly Event[];
  readonly now: number;
};

/** Two months, or this many events: a run that is not over by then is stuck. */
const DAY = 24 * 60 * 60_000;
const MAX_MS = 60 * DAY;
const MAX_EVENTS = 20_000_000;

export async function simulate(simulation: Simulation): Promise<Simulated> {
  const world = new World(simulation);
  world.boot();
  for (const { at, message } of simulation.said ?? []) world.clock.wakeAt(at, () => world.say(message));
  for (const { at, happens } of simulation.happens ?? []) world.clock.wakeAt(at, happens);
  for (const { at, ms } of simulation.jumps ?? []) world.clock.wakeAt(at, () => world.clock.jump(ms));
  while (true) {
    await drained(); // Everything that follows from the last step has happened.
    const { closed } = world;
    if (world.broken) throw world.broken;
    if (closed) return { end: closed, events: world.log.events, now: world.clock.now() };
    const next = world.clock.next();
    if (next === undefined) return world.stuck("nothing is running and nobody is waiting for anything");
    if (world.log.events.length > (simulation.maxEvents ?? MAX_EVENTS)) return world.stuck("too many events");
    if (next > (simulation.maxMs ?? MAX_MS))
      return world.stuck(`not over after ${Math.round(world.clock.now() / DAY)} days`);
    world.clock.step();
    while (simulation.together && world.clock.next() === world.clock.now()) world.clock.step();
  }
}

class World {
  readonly clock = new ManualClock();
  readonly log = new MemoryEventLog();
  /** An error that the engine threw, which must not happen. */
  broken: unknown;
  closed: Extract<EngineEnd, { readonly is: "closed" }> | undefined;
  readonly #simulation: Simulation;
  readonly #queue: VirtualQueue;
  readonly #inboxes = new Set<Inbox>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    const { repository, script, mischief = noMischief, provider = freeProvider } = simulation;
    const { unready, fleet, places } = simulation;
    this.#queue = new VirtualQueue({
      ...{ clock: this.clock, repository, script, mischief, provider },
      ...(unready && { unready }),
      ...(fleet && { fleet }),
      ...(places && { places }),
    });
  }

  say(message: Message): void {
    for (const inbox of this.#inboxes) inbox.send(message); // Of two engines, the log refuses one.
  }

  boot(): void {
    const { policy, goal, repository, flaky } = this.#simulation;
    const inbox = new Inbox();
    this.#inboxes.add(inbox);
    const request = { run: "r1", goal, base: repository.base, ...(flaky && { flaky }) };
    inbox.send({ type: "open", request }); // A second engine ignores it.
    const log = this.#mortalLog(() => this.#inboxes.delete(inbox));
    const parts = { log, queue: this.#queue, clock: this.clock.ofProcess(), policy };
    runEngine(parts, inbox, new AbortController().signal).then(
      (end) => {
        this.#inboxes.delete(inbox);
        if (end.is === "closed") this.closed = end;
      },
      (error: unknown) => {
        this.broken = error;
      },
    );
  }

  #seen(event: Event): void {
    const { observe, react } = this.#simulation;
    observe?.(event, this.clock);
    for (const reaction of react?.(event) ?? []) {
      const act = "message" in reaction ? () => this.say(reaction.message) : reaction.happens;
      this.clock.wakeAt(this.clock.now() + reaction.afterMs, act);
    }
  }

  stuck(why: string): Simulated {
    return { end: { is: "stuck", why }, events: this.log.events, now: this.clock.now() };
  }

  /** The log as one engine sees it: after that engine's death, no call returns. */
  #mortalLog(onDeath: () => void): EventLog {
    const { crashes } = this.#simulation;
    const never = () => new Promise<never>(() => {});
    let dead = false;
    const die = () => {
      dead = true;
      onDeath();
      this.#queue.crash((job) => crashes!.survives(job));
      this.boot();
      return never();
    };
    return {
      read: (after) => this.log.read(after),
      append: async (after, events) => {
        if (dead) return never();
        const how = crashes?.onAppend(events) ?? "none";
        if (how === "before") return die();
        const appended = await this.log.append(after, events);
        if (appended.is === "done") for (const event of events) this.#seen(event);
        if (how === "after") return die();
        if (how === "rival") this.boot();
        return appended;
      },
    };
  }
}
