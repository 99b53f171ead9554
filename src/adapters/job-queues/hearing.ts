/** Decides whether Postgres was reachable for long enough to call a machine without a heartbeat dead. */
import { BEAT_MS } from "../fleet/workers.ts";

/** A longer gap is an outage: of Postgres, or of this process. */
const GAP_MS = 3_000;
/** Within this time after an outage, every live machine has sent a heartbeat. */
const FIRST_MS = 3 * BEAT_MS;

export class Hearing {
  #since = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;

  isSureAt(now: number, isThere: boolean): boolean {
    if (now - this.#last > GAP_MS) this.#since = now;
    if (isThere) this.#last = now;
    return isThere && now - this.#since >= FIRST_MS;
  }
}
