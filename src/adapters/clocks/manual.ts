/** A clock for tests and simulations: time passes only when told to, from one appointment to the next. */
import { Deadlines } from "../../core/log/deadlines.ts";
import type { Clock } from "../../ports/clock.ts";

export class ManualClock implements Clock {
  #now: number;
  #count = 0;
  readonly #deadlines = new Deadlines();
  /** Appointments at the present time; the next one is last. */
  #reached: string[] = [];
  readonly #wakes = new Map<string, () => void>();
  #aheadMs = 0;
  readonly #watchers = new Set<() => void>();

  constructor(now = 0) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  wall(): number {
    return this.#now + this.#aheadMs;
  }

  /** The machine sleeps for this long: appointments in between are kept late. */
  sleep(ms: number): void {
    this.#now += ms;
  }

  /** Sets what the machine's clock shows forward, or back. */
  jump(ms: number): void {
    this.#aheadMs += ms;
    for (const wake of [...this.#watchers]) wake();
  }

  onJump(wake: () => void): () => void {
    this.#watchers.add(wake);
    return () => this.#watchers.delete(wake);
  }

  /** The clock of a process that starts now: its time begins at what the machine's clock shows. */
  ofProcess(): Clock {
    const ahead = this.#aheadMs;
    return {
      now: () => this.now() + ahead,
      wall: () => this.wall(),
      wakeAt: (time, wake) => this.wakeAt(time - ahead, wake),
      onJump: (wake) => this.onJump(wake),
    };
  }

  wakeAt(time: number, wake: () => void): () => void {
    this.#count += 1;
    const key = String(this.#count);
    this.#wakes.set(key, wake);
    this.#deadlines.set(key, Math.max(time, this.#now));
    return () => this.#forget(key);
  }

  next(): number | undefined {
    return this.#deadlines.next();
  }

  /**
   * Goes to the next appointment and keeps it; false if there is none. Of several at one time, the oldest comes
   * first.
   */
  step(): boolean {
    const wake = this.#nextWake();
    wake?.();
    return wake !== undefined;
  }

  #nextWake(): (() => void) | undefined {
    while (true) {
      if (this.#reached.length === 0) {
        const at = this.#deadlines.next();
        if (at === undefined) return undefined;
        this.#now = Math.max(this.#now, at);
        this.#reached = this.#deadlines.due(this.#now).toReversed();
      }
      const key = this.#reached.pop()!;
      const wake = this.#wakes.get(key);
      this.#forget(key);
      if (wake) return wake; // An appointment without a wake was cancelled after its time had come.
    }
  }

  #forget(key: string): void {
    this.#wakes.delete(key);
    this.#deadlines.delete(key);
  }
}
