/** How does a whole run go in a virtual world? The real engine on a manual clock, killed and restarted at will. */
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
  /** What people and the world say, and when. */
  readonly said?: readonly { readonly at: number; readonly message: Message }[];
  /** What people say, or do to the world, when they see an event, and how long it takes them. */
  readonly react?: (event: Event) => readonly Reaction[];
  /** Tests that earlier runs saw come and go. */
  readonly flaky?: readonly string[];
  /** Done to the world at a time. */
  readonly happens?: readonly { readonly at: number; readonly happens: () => void }[];
  /** By how much somebody sets the machine's clock, and when. */
  readonly jumps?: readonly { readonly at: number; readonly ms: number }[];
  readonly crashes?: Crashes;
  /** What comes at one moment is heard together, as by an engine that was busy; else one after the other. */
  readonly together?: boolean;
  /** By then it is over, or will never be; two months, unless it is said otherwise. */
  readonly maxMs?: number;
  readonly maxEvents?: number;
  /** Sees each event once it is durable, and what time it is really, and by the machine's clock. */
  readonly observe?: (event: Event, clock: Pick<Clock, "now" | "wall">) => void;
};

export type Reaction = { readonly afterMs: number } & (
  | { readonly message: Message }
  | { readonly happens: () => void }
);

/**
 * What happens to the engine when it appends. `before`: it dies and nothing is durable; `after`: it dies when
 * everything is; `rival`: a second engine starts while it goes on.
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

/** Two months, or so many events: a run that is not over by then will never be. */
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
  /** What the engine threw: it never should. */
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
    for (const inbox of this.#inboxes) inbox.send(message); // Of two engines, one will be refused by the log.
  }

  boot(): void {
    const { policy, goal, repository, flaky } = this.#simulation;
    const inbox = new Inbox();
    this.#inboxes.add(inbox);
    const request = { run: "r1", goal, base: repository.base, ...(flaky && { flaky }) };
    inbox.send({ type: "open", request }); // Nothing, the second time.
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

  /** The log as one engine sees it: after that engine's death its calls never return. */
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
