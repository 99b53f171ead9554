/** Asks the fleet's Postgres: with limits on every wait, retries while it restarts, and failures as values. */
import { setTimeout as pause } from "node:timers/promises";
import type { Client, Pool, PoolConfig } from "pg";
import { type Failed, failedWith } from "../../core/result.ts";
import { isAway, reasonOf } from "./database-words.ts";
import { Listener, type Nudges } from "./listener.ts";

type DatabaseOptions = {
  /** From the environment alone; no message contains it. */
  readonly url: string;
  /** The schema that holds the fleet. */
  readonly schema: string;
  /** The maximum number of connections, besides one that listens. */
  readonly maxConnections?: number;
  /** The name of a worker's machine, which its sessions are named after. */
  readonly machine?: string;
};

/** Time limits: for connecting, for a statement on the server, and for a statement as seen from this process. */
const CONNECT_MS = 5_000;
export const STATEMENT_MS = 15_000;
const ANSWER_MS = 20_000;
/** Longer than it takes to end a worker's session that holds a lock. */
const LOCK_MS = 8_000;
/** How long statements are retried: a restart takes seconds, a failover to another server up to a minute. */
const PATIENCE_MS = 60_000;
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [50, 2_000];
const MAX_CONNECTIONS = 4;

const OWN_NAMES_ONLY = "SET search_path = pg_catalog, pg_temp";

type AskOptions = {
  /** How long a statement is retried while Postgres is away. Each statement must be safe to run twice. */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
};

export class Database implements AsyncDisposable {
  readonly schema: string;
  readonly #options: DatabaseOptions;
  readonly #max: number;
  readonly #listener: Listener;
  #pool: Promise<Pool> | undefined;

  constructor(options: DatabaseOptions) {
    const { schema, maxConnections = MAX_CONNECTIONS } = options;
    this.schema = schema;
    this.#options = options;
    this.#max = maxConnections;
    this.#listener = new Listener(() => this.#newClient());
  }

  /** The same database over a connection of its own, for statements that must not wait for others. */
  beside(): Database {
    return new Database({ ...this.#options, maxConnections: 1 });
  }

  /** Returns the rows; `$S` in the text is the fleet's schema. */
  ask<Row extends object = object>(
    text: string,
    values: readonly unknown[] = [],
    { patienceMs = PATIENCE_MS, signal }: AskOptions = {},
  ): Promise<readonly Row[] | Failed> {
    const statement = inSchema(text, this.schema);
    return this.#patiently(
      async () => (await (await this.#connections()).query<Row>(statement, [...values])).rows,
      { patienceMs, signal },
    );
  }

  /** Runs a statement once and throws the driver's errors: for pg-boss. */
  async query(text: string, values?: readonly unknown[]): Promise<{ rows: object[] }> {
    return (await this.#connections()).query(text, values && [...values]);
  }

  /** Retries while Postgres is away. */
  async #patiently<T extends object>(
    work: () => Promise<T>,
    { patienceMs, signal }: { readonly patienceMs: number; readonly signal: AbortSignal | undefined },
  ): Promise<T | Failed> {
    const until = performance.now() + patienceMs;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      try {
        return await work();
      } catch (error) {
        const isOver = signal?.aborted || performance.now() + waitMs > until;
        if (isOver || !isAway(error)) return this.failed(error);
        await pause(waitMs, undefined, { signal }).catch(() => {}); // The loop checks the signal.
      }
    }
  }

  /**
   * Runs several statements on one connection; thrown errors become failures. Retried only if `patienceMs` is
   * given.
   */
  within<T extends object>(
    work: (client: Client) => Promise<T>,
    { patienceMs = 0, signal }: AskOptions = {},
  ): Promise<T | Failed> {
    return this.#patiently(
      async () => {
        await using stack = new AsyncDisposableStack();
        const client = await this.#newClient();
        stack.defer(() => client.end().catch(() => {})); // The connection may be closed already.
        await client.connect();
        await client.query(LIMIT_WAITS);
        return await work(client);
      },
      { patienceMs, signal },
    );
  }

  /** Notifications of a channel of the fleet. */
  nudges(channel: string): Nudges {
    return this.#listener.on(`${this.schema}:${channel}`);
  }

  failed(error: unknown): Failed {
    const { why, next, kind = "repository" } = reasonOf(error, this.#options.url);
    return failedWith(kind, `the fleet's Postgres ${why}`, next);
  }

  /** The database can be used again afterwards. */
  async close(): Promise<void> {
    await this.#listener.close();
    const pool = await this.#pool?.catch(() => undefined); // The pool was never opened.
    this.#pool = undefined;
    await pool?.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #connections(): Promise<Pool> {
    this.#pool ??= this.#open();
    return this.#pool;
  }

  /** The driver takes 60 ms to load, so it is loaded only if there is a fleet. */
  async #open(): Promise<Pool> {
    const { Pool } = await import("pg");
    const pool = new Pool({ ...this.#settings(), max: this.#max, allowExitOnIdle: true, onConnect: limit });
    pool.on("error", () => {}); // An idle connection was lost: the next statement opens another.
    return pool;
  }

  async #newClient(): Promise<Client> {
    const { Client } = await import("pg");
    const client = new Client(this.#settings());
    client.on("error", () => {}); // The query that waits for an answer fails with it.
    return client;
  }

  #settings(): PoolConfig {
    return {
      connectionString: this.#options.url,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      application_name: sessionName(this.#options.machine),
    };
  }
}

/** Not an option of the connection: poolers such as PgBouncer refuse that. */
async function limit(client: Asked): Promise<void> {
  await client.query(`SET statement_timeout = ${STATEMENT_MS}; ${LIMIT_WAITS}`);
}

const LIMIT_WAITS = `SET lock_timeout = ${LOCK_MS}; ${OWN_NAMES_ONLY}`;

type Asked = { query(text: string): Promise<unknown> };

/** Resolves names without a schema to those of Postgres, never to what another role has put into `public`. */
export async function ownNamesOnly(client: Asked): Promise<void> {
  await client.query(OWN_NAMES_ONLY);
}

/** A session's name in Postgres. A machine chooses its own name, so it proves nothing. */
export const sessionName = (machine?: string): string =>
  machine === undefined ? "skein" : `skein worker ${machine}`;

/** The schema of pg-boss, beside the fleet's own. */
export const bossSchema = (schema: string): string => `${schema}_jobs`;

/**
 * `$S` is the fleet's schema, `$J` that of pg-boss, `$N` the fleet's schema inside a string. The configuration
 * allows only names that are safe within quotes.
 */
export const inSchema = (text: string, schema: string): string =>
  text
    .replaceAll("$S", `"${schema}"`)
    .replaceAll("$J", `"${bossSchema(schema)}"`)
    .replaceAll("$N", schema);
