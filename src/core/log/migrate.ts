/** Reads an event of an older Skein as one of today, step by step from each version to the next. */

import { quoted } from "../../text/lines.ts";
import type { Event } from "./event.ts";
import { isEventType } from "./evolve.ts";

/** An event as it was written: an object, nothing more is known. */
type Body = Readonly<Record<string, unknown>>;
/** From version n to n + 1. Steps stay for ever: a log may be as old as the first of them. */
type Step = (body: Body) => Body;

/** The step at index 0 leads from version 1 to 2. */
const STEPS: readonly Step[] = [addressedByMore, bisectionByName, outcomeByFollowing];

export const EVENT_VERSION = STEPS.length + 1;
/** The first version whose ends of jobs say what the jobs came to. */
export const OUTCOME_VERSION = 4;

type Saying = { readonly addressed?: readonly unknown[] };

/** Until version 1 the id of a concern was all that a planner could say of it. */
function addressedByMore(body: Body): Body {
  const said = body["said"] as Saying | undefined;
  return said?.addressed?.length ? { ...body, said: sayingMore(said) } : body;
}

/** Also of a planner's answer that was kept, and that the log does not have yet. */
export const sayingMore = <Said extends Saying>(said: Said): Said => ({
  ...said,
  addressed: said.addressed?.map((id) => (typeof id === "string" ? { concern: id } : id)),
});

/** Until version 2 a bisection was called a hunt. */
function bisectionByName(body: Body): Body {
  const phase = body["phase"] as { readonly is?: unknown } | undefined;
  return phase?.is === "hunt" ? { ...body, phase: { ...phase, is: "bisect" } } : body;
}

/** Until version 3 the end of a job did not say what the job came to: `OlderOutcomes` infers it from later events. */
function outcomeByFollowing(body: Body): Body {
  return body;
}

/** Throws what is wrong with it, in words; the reader of the log adds the place. */
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

/** Shallow on purpose: what is inside was checked when it was decided, and replaying must be quick. */
function checked(body: Body): Event {
  const { type, at } = body;
  if (typeof type !== "string") throw new Error("is not an event: it has no type");
  if (!isEventType(type)) throw new Error(`is of an unknown type, ${quoted(type)}`);
  if (typeof at !== "number" || !Number.isFinite(at)) throw new Error(`(${type}) has no time`);
  return body as unknown as Event;
}
