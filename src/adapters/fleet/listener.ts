/** How does a change in Postgres reach another machine? One connection listens; what was missed is made up for by a poll. */
import type { Client } from "pg";

/** When nothing was said for so long, who waits looks by itself: connections get lost without a word. */
const SAFETY_MS = 5_000;
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [100, 5_000];

/** Waits for word on one channel. */
export type Nudges = Disposable & {
  /** Resolves at the next word, after `maxMs`, or at `signal`. Words that came since the last one end it at once. */
  next(signal: AbortSignal, maxMs?: number): Promise<void>;
};

export class Listener {
  readonly #open: () => Promise<Client>;
  readonly #waiting = new Map<string, Set<() => void>>();
  #client: Client | undefined;
  #isConnecting = false;
  #retry: NodeJS.Timeout | undefined;
  #waitMs = FIRST_WAIT_MS;
  #last: Promise<unknown> = Promise.resolve();

  constructor(open: () => Promise<Client>) {
    this.#open = open;
  }

  on(channel: string): Nudges {
    const one = new Waiter(() => this.#remove(channel, one.ring));
    const all = this.#waiting.get(channel) ?? new Set();
    this.#waiting.set(channel, all.add(one.ring));
    if (this.#client && all.size === 1) this.#listen(this.#client, channel);
    if (!this.#client) void this.#connect();
    return one;
  }

  async close(): Promise<void> {
    this.#waiting.clear();
    await this.#drop();
  }

  #remove(channel: string, ring: () => void): void {
    const all = this.#waiting.get(channel);
    if (!all?.delete(ring) || all.size > 0) return;
    this.#waiting.delete(channel);
    if (this.#waiting.size === 0) return void this.#drop();
    if (this.#client) this.#say(this.#client, `UNLISTEN ${quoted(channel)}`).catch(() => {}); // Noticed elsewhere.
  }

  async #drop(): Promise<void> {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {}); // It may be gone already.
  }

  async #connect(): Promise<void> {
    if (this.#isConnecting || this.#retry) return;
    this.#isConnecting = true;
    let client: Client | undefined;
    try {
      client = await this.#open();
      client.on("notification", ({ channel }) => this.#ring(channel));
      client.on("end", () => this.#lost(client!));
      await client.connect();
      (client as Client & { unref(): void }).unref(); // Who waits has a timer; a process that waits for nothing may end.
      this.#client = client;
      this.#waitMs = FIRST_WAIT_MS;
      for (const channel of this.#waiting.keys()) this.#listen(client, channel);
      if (this.#waiting.size === 0) await this.#drop();
    } catch {
      this.#later(); // Meanwhile everybody looks from time to time.
    } finally {
      this.#isConnecting = false;
    }
  }

  #lost(client: Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#later();
  }

  #later(): void {
    if (this.#waiting.size === 0 || this.#retry) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      void this.#connect();
    }, this.#waitMs).unref();
    this.#waitMs = Math.min(2 * this.#waitMs, LONGEST_WAIT_MS);
  }

  /** What was said before it listens is not heard: so everybody looks once afterwards. */
  #listen(client: Client, channel: string): void {
    this.#say(client, `LISTEN ${quoted(channel)}`).then(
      () => this.#ring(channel),
      () => void client.end().catch(() => {}), // Its end opens another.
    );
  }

  /** One statement after the other: the driver wants it so. */
  #say(client: Client, text: string): Promise<unknown> {
    const said = this.#last.then(() => client.query(text));
    this.#last = said.catch(() => {}); // Its caller hears of it.
    return said;
  }

  #ring(channel: string): void {
    for (const ring of this.#waiting.get(channel) ?? []) ring();
  }
}

const quoted = (channel: string) => `"${channel.replaceAll('"', '""')}"`;

class Waiter implements Nudges {
  readonly #onClose: () => void;
  #isRung = false;
  #wake: () => void = () => {};

  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  readonly ring = (): void => {
    this.#isRung = true;
    this.#wake();
  };

  next(signal: AbortSignal, maxMs = SAFETY_MS): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => this.#wake(), Math.min(maxMs, SAFETY_MS));
    this.#wake = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", this.#wake);
      this.#isRung = false;
      this.#wake = () => {};
      resolve();
    };
    signal.addEventListener("abort", this.#wake);
    if (this.#isRung || signal.aborted) this.#wake();
    return promise;
  }

  [Symbol.dispose](): void {
    this.#onClose();
    this.#wake();
  }
}
