/** How is a stored event read? In order, of this or an older version; anything else means that the log is damaged. */
import type { Event } from "../../core/log/event.ts";
import { migrate } from "../../core/log/migrate.ts";
import { parseJson } from "../../text/json.ts";

export type StoredEvent = { readonly seq: unknown; readonly version: unknown; readonly body: unknown };

/** `log`: what the log is called in messages. Throws, because half a history is worse than none. */
export function readEvent(log: string, { seq, version, body }: StoredEvent, expected: number): Event {
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
