/** When does a silent machine lose its jobs? pg-boss looks every second, but only while live machines can be heard. */
import { setTimeout as pause } from "node:timers/promises";
import type { PgBoss } from "pg-boss";
import { hasFailed } from "../../core/result.ts";
import type { Database } from "../fleet/database.ts";
import { BEAT_MS } from "../fleet/workers.ts";

const EVERY_MS = 1_000;
/** A gap of so much is an outage: of Postgres, or of this process. */
const GAP_MS = 3 * EVERY_MS;
/** After an outage every live machine has said by then that it lives. */
const FIRST_MS = 3 * BEAT_MS;

/** Until `signal`. */
export async function superviseJobs(
  database: Database,
  boss: () => Promise<PgBoss>,
  signal: AbortSignal,
): Promise<void> {
  const hearing = new Hearing();
  while (!signal.aborted) {
    const isThere = !hasFailed(await database.ask("SELECT 1", [], { patienceMs: 0 }));
    if (hearing.isSureAt(performance.now(), isThere))
      await boss()
        .then((opened) => opened.supervise())
        .catch(() => {}); // It is done again in a second.
    await pause(EVERY_MS, undefined, { signal }).catch(() => {}); // The loop looks at the signal.
  }
}

/** Has Postgres been there for so long that a machine without a sign of life is dead? */
export class Hearing {
  #since = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;

  isSureAt(now: number, isThere: boolean): boolean {
    if (now - this.#last > GAP_MS) this.#since = now;
    if (isThere) this.#last = now;
    return isThere && now - this.#since >= FIRST_MS;
  }
}
