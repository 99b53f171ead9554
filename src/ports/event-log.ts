/** The port of a run's log, written by one engine and read by any process. */

import type { Failure } from "../core/failure.ts";
import type { Event } from "../core/log/event.ts";

export type EventLog = {
  /**
   * The events after number `after`, oldest first, up to the newest at the time of the call. Throws while it is read if
   * the log is damaged or of a newer version: half a history is worse than none.
   */
  read(after: number): AsyncIterable<Event>;
  /**
   * Makes `events` durable as numbers `after + 1…`, all or none. `taken`: another writer has written there first, so
   * this one must stop. Must not throw: a failure is returned.
   */
  append(after: number, events: readonly Event[]): Promise<Appended>;
};

export type Appended =
  | { readonly is: "done" }
  | { readonly is: "taken" }
  | { readonly is: "failed"; readonly failure: Failure };
