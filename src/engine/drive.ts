/** How is a run watched, and stopped kindly? The engine, with everything durable shown to whoever drives it. */
import type { Command, Event } from "../core/event.ts";
import { evolve } from "../core/evolve.ts";
import { emptyState, type RunState } from "../core/state.ts";
import type { EventLog } from "../ports/event-log.ts";
import { type EngineEnd, type EngineParts, runEngine } from "./engine.ts";
import { Inbox } from "./inbox.ts";

/** Called for each event once it is durable, with the state after it. */
export type Watch = (event: Event, state: RunState) => void;

export class Drive {
  /** What is durable. */
  readonly state: RunState = emptyState();
  readonly #parts: EngineParts;
  readonly #watch: Watch;
  readonly #inbox = new Inbox();
  readonly #stop = new AbortController();
  #isStopping = false;

  constructor(parts: EngineParts, watch: Watch) {
    this.#parts = parts;
    this.#watch = watch;
  }

  run(first: Command): Promise<EngineEnd> {
    this.#inbox.send(first);
    return runEngine({ ...this.#parts, log: this.#watched() }, this.#inbox, this.#stop.signal);
  }

  /** Nothing new is started; a landing that is under way may finish within `graceMs`. */
  stopGently(graceMs: number): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#inbox.send({ type: "pause" });
    const { clock } = this.#parts;
    const callOff = clock.wakeAt(clock.now() + graceMs, () => this.stopNow());
    this.#stop.signal.addEventListener("abort", callOff, { once: true });
    this.#stopIfIdle();
  }

  stopNow(): void {
    this.#stop.abort();
  }

  #stopIfIdle(): void {
    const { paused, count } = this.state;
    if (this.#isStopping && paused && count.land === 0) this.stopNow();
  }

  #watched(): EventLog {
    const { log } = this.#parts;
    const { state } = this;
    return {
      read: async function* (after) {
        for await (const event of log.read(after)) {
          evolve(state, event);
          yield event;
        }
      },
      append: async (after, events) => {
        const appended = await log.append(after, events);
        if (appended.is !== "done") return appended;
        for (const event of events) {
          evolve(state, event);
          this.#watch(event, state);
        }
        this.#stopIfIdle();
        return appended;
      },
    };
  }
}
