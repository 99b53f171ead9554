/** Keeps an event log in memory, as an array: for tests, simulations and embedded use. */
import type { Event } from "../../core/log/event.ts";
import type { Appended, EventLog } from "../../ports/event-log.ts";

export class MemoryEventLog implements EventLog {
  readonly #events: Event[] = [];

  get events(): readonly Event[] {
    return this.#events;
  }

  async *read(after: number): AsyncGenerator<Event> {
    const end = this.#events.length;
    for (let i = after; i < end; i += 1) yield this.#events[i]!;
  }

  async append(after: number, events: readonly Event[]): Promise<Appended> {
    if (after !== this.#events.length) return { is: "taken" };
    for (const event of events) this.#events.push(event);
    return { is: "done" };
  }
}
