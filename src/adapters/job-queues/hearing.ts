/** Has Postgres been there for so long that a machine without a sign of life is dead? */
import { BEAT_MS } from "../fleet/workers.ts";

/** A gap of so much is an outage: of Postgres, or of this process. */
const GAP_MS = 3_000;
/** After an outage every live machine has said by then that it lives. */
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
