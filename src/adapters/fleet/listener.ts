/** Listens to Postgres notifications over one connection, and polls every 5 s in case one was lost. */
import type { Client } from "pg";

/** Without a notification for this long, waiters poll by themselves: connections get lost without an error. */
const SAFETY_MS = 5_000;
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [100, 5_000];

/** Waits for notifications of one channel. */
export type Nudges = Disposable & {
  /**
   * Resolves at the next notification, after `maxMs`, or at `signal`. A notification since the last wait ends it
   * at once.
   */
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
    await client?.end().catch(() => {}); // It may be closed already.
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
      // A waiter has a timer of its own; a process without waiters may exit.
      (client as Client & { unref(): void }).unref();
      this.#client = client;
      this.#waitMs = FIRST_WAIT_MS;
      for (const channel of this.#waiting.keys()) this.#listen(client, channel);
      if (this.#waiting.size === 0) await this.#drop();
    } catch {
      this.#later(); // Meanwhile waiters poll.
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

  /** Notifications sent before LISTEN are lost, so every waiter polls once after it. */
  #listen(client: Client, channel: string): void {
    this.#say(client, `LISTEN ${quoted(channel)}`).then(
      () => this.#ring(channel),
      () => void client.end().catch(() => {}), // Its end opens another connection.
    );
  }

  /** Runs one statement after the other, as the driver requires. */
  #say(client: Client, text: string): Promise<unknown> {
    const said = this.#last.then(() => client.query(text));
    this.#last = said.catch(() => {}); // The caller gets the error.
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
