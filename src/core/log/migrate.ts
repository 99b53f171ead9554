/** Reads an event of an older Skein as an event of today, step by step from each version to the next. */

import { quoted } from "../../text/lines.ts";
import type { Event } from "./event.ts";
import { isEventType } from "./evolve.ts";

/** An event as it was written; only known to be an object. */
type Body = Readonly<Record<string, unknown>>;
/** From version n to n + 1. Steps are never removed: a log may be as old as the first of them. */
type Step = (body: Body) => Body;

/** The step at index 0 leads from version 1 to 2. */
const STEPS: readonly Step[] = [addressedByMore, bisectionByName, outcomeByFollowing];

export const EVENT_VERSION = STEPS.length + 1;
/** The first version in which `job.ended` has the job's outcome. */
export const OUTCOME_VERSION = 4;

type Saying = { readonly addressed?: readonly unknown[] };

/** In version 1, a planner could close a concern only by its id. */
function addressedByMore(body: Body): Body {
  const said = body["said"] as Saying | undefined;
  return said?.addressed?.length ? { ...body, said: sayingMore(said) } : body;
}

/** Also used for a planner's answer that was kept and that the log does not have yet. */
export const sayingMore = <Said extends Saying>(said: Said): Said => ({
  ...said,
  addressed: said.addressed?.map((id) => (typeof id === "string" ? { concern: id } : id)),
});

/** Until version 2 a bisection was called a hunt. */
function bisectionByName(body: Body): Body {
  const phase = body["phase"] as { readonly is?: unknown } | undefined;
  return phase?.is === "hunt" ? { ...body, phase: { ...phase, is: "bisect" } } : body;
}

/** Until version 3 `job.ended` had no outcome: `OlderOutcomes` infers it from later events. */
function outcomeByFollowing(body: Body): Body {
  return body;
}

/** Throws an error that says what is wrong with the event; the reader of the log adds where. */
export function migrate(version: number, body: unknown): Event {
  if (!Number.isSafeInteger(version) || version < 1)
    throw new Error(`has no version, but ${String(version)}`);
  if (version > EVENT_VERSION)
    throw new Error(
      `was written by a newer Skein (version ${version}, this one knows ${EVENT_VERSION}); update Skein to read it`,
    );
  return checked(STEPS.slice(version - 1).reduce((older, step) => step(older), asBody(body)));
}

function asBody(body: unknown): Body {
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Body;
  throw new Error("is not an event: not an object");
}

/** Checks only type and time, because the rest was checked when it was decided, and replaying must be quick. */
function checked(body: Body): Event {
  const { type, at } = body;
  if (typeof type !== "string") throw new Error("is not an event: it has no type");
  if (!isEventType(type)) throw new Error(`is of an unknown type, ${quoted(type)}`);
  if (typeof at !== "number" || !Number.isFinite(at)) throw new Error(`(${type}) has no time`);
  return body as unknown as Event;
}
