/** What has been said to the engine and not been taken up yet? */
import type { Command, Fact, Report } from "../core/log/event.ts";

export type Message = Command | Report;

/** `heard` is told what followed, once that is durable; never, if the engine ends before. */
export type Post = { readonly message: Message; readonly heard?: Hearing };
type Hearing = (facts: readonly Fact[]) => void;

/** Gathers what arrives while its one reader is busy, and wakes it otherwise. */
export class Inbox {
  #waiting: Post[] = [];
  #wake: (() => void) | undefined;

  /** Bound, so that it can be handed on as a function. */
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
