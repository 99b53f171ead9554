/** Reads stored events in order, of this or an older version; anything else means that the log is damaged. */
import type { Event } from "../../core/log/event.ts";
import { migrate, OUTCOME_VERSION } from "../../core/log/migrate.ts";
import { OlderOutcomes } from "../../core/log/older-outcomes.ts";
import { parseJson } from "../../text/json.ts";

export type StoredEvent = { readonly seq: unknown; readonly version: unknown; readonly body: unknown };

/** One pass over a log, from the event after number `after` on. Throws, because half a history is worse than none. */
export class StoredEvents {
  readonly #log: string;
  #seq: number;
  #older: OlderOutcomes | undefined;

  /** `log`: the name of the log in messages. */
  constructor(log: string, after: number) {
    this.#log = log;
    this.#seq = after;
  }

  /** The number of the newest event that was read. */
  get seq(): number {
    return this.#seq;
  }

  /** Events of an older log may be held back, because reading them needs later events: see `rest`. */
  *read(rows: readonly StoredEvent[]): Generator<Event> {
    for (const row of rows) {
      this.#seq += 1;
      const event = readEvent(this.#log, row, this.#seq);
      if (Number(row.version) < OUTCOME_VERSION) {
        this.#older ??= new OlderOutcomes();
        yield* this.#older.take(event);
      } else {
        yield* this.rest();
        this.#older = undefined;
        yield event;
      }
    }
  }

  /** Yields what was held back; to be called at the end of the log, which may go on later. */
  *rest(): Generator<Event> {
    if (this.#older) yield* this.#older.rest();
  }
}

function readEvent(log: string, { seq, version, body }: StoredEvent, expected: number): Event {
  if (seq !== expected) throw damaged(log, `event ${expected} is missing, ${seq} comes next`);
  const parsed = typeof body === "string" ? parseJson(body) : undefined;
  if (parsed === undefined) throw damaged(log, `event ${seq} is not JSON`);
  try {
    return migrate(Number(version), parsed);
  } catch (error) {
    throw new Error(`${log}: event ${seq} ${(error as Error).message}`, { cause: error });
  }
}

export const damaged = (log: string, what: string): Error =>
  new Error(`${log} is damaged: ${what}; restore it from a backup, or start a new run`);
