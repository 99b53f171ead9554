/** Queues messages for the engine until it takes them in. */
import type { Command, Fact, Report } from "../core/log/event.ts";

export type Message = Command | Report;

/** `heard` is called with the facts that followed, once they are durable; never, if the engine ends before. */
export type Post = { readonly message: Message; readonly heard?: Hearing };
type Hearing = (facts: readonly Fact[]) => void;

/** Gathers messages while its one reader is busy, and wakes the reader otherwise. */
export class Inbox {
  #waiting: Post[] = [];
  #wake: (() => void) | undefined;

  /** An arrow function, so that it can be passed on without its object. */
  readonly send = (message: Message, heard?: Hearing): void => {
    this.#waiting.push(heard ? { message, heard } : { message });
    this.#wake?.();
  };

  /** Everything that waits, as soon as there is something; nothing if `signal` comes first. */
  async take(signal: AbortSignal): Promise<readonly Post[]> {
    if (this.#waiting.length === 0 && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const stop = () => resolve();
      signal.addEventListener("abort", stop, { once: true });
      await promise;
      signal.removeEventListener("abort", stop);
      this.#wake = undefined;
    }
    return this.takeNow();
  }

  takeNow(): readonly Post[] {
    return this.#waiting.splice(0);
  }
}
