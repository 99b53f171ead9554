/** How is an event of an older Skein read today? Step by step, from each version to the next. */
import type { Event } from "./event.ts";
import { quoted } from "./lines.ts";

/** An event as it was written: an object, nothing more is known. */
export type Body = Readonly<Record<string, unknown>>;
/** From version n to n + 1. Steps stay for ever: a log may be as old as the first of them. */
export type Step = (body: Body) => Body;

/** The step at index 0 leads from version 1 to 2. */
const STEPS: readonly Step[] = [addressedByMore];

export const EVENT_VERSION = STEPS.length + 1;

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

/** Throws, in words, what cannot be an event of today: whoever reads a log says where it was. */
export function migrate(version: number, body: unknown, steps: readonly Step[] = STEPS): Event {
  const newest = steps.length + 1;
  if (!Number.isSafeInteger(version) || version < 1)
    throw new Error(`has no version, but ${String(version)}`);
  if (version > newest)
    throw new Error(
      `was written by a newer Skein (version ${version}, this one knows ${newest}); update Skein to read it`,
    );
  return checked(steps.slice(version - 1).reduce((older, step) => step(older), asBody(body)));
}

function asBody(body: unknown): Body {
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Body;
  throw new Error("is no event: not an object");
}

/** Shallow on purpose: what is inside was checked when it was decided, and replaying must be quick. */
function checked(body: Body): Event {
  const { type, at } = body;
  if (typeof type !== "string") throw new Error("is no event: it has no type");
  if (!Object.hasOwn(TYPES, type)) throw new Error(`is of an unknown type, ${quoted(type)}`);
  if (typeof at !== "number" || !Number.isFinite(at)) throw new Error(`(${type}) has no time`);
  return body as unknown as Event;
}

/** As an object, so that the compiler says when one is missing. */
const TYPES: Readonly<Record<Event["type"], true>> = {
  "run.opened": true,
  "run.paused": true,
  "run.resumed": true,
  "run.steered": true,
  "run.cancel-requested": true,
  "run.closed": true,
  "command.refused": true,
  "job.started": true,
  "job.ended": true,
  "job.extended": true,
  "job.quiet": true,
  "checkout.changed": true,
  "clock.jumped": true,
  "account.parked": true,
  "account.refused": true,
  "account.woken": true,
  "account.worked": true,
  "plan.accepted": true,
  "plan.proposed": true,
  "plan.approved": true,
  "plan.declined": true,
  "plan.rejected": true,
  "plan.kept-whole": true,
  "plan.ended": true,
  "task.handed-off": true,
  "task.retried": true,
  "subtask.spawned": true,
  "subtask.refused": true,
  "question.asked": true,
  "question.passed": true,
  "question.answered": true,
  "task.woken": true,
  "task.held-back": true,
  "task.done": true,
  "task.failed": true,
  "task.skipped": true,
  "task.cancel-requested": true,
  "task.cancelled": true,
  "batch.landed": true,
  "landing.proposed": true,
  "landing.approved": true,
  "landing.declined": true,
  "landing.lost": true,
  "landing.turned": true,
  "target.checked": true,
  "target.unchecked": true,
  "setup.failed": true,
  "setup.retried": true,
  "gate.probed": true,
  "gate.unprobed": true,
  "target.moved": true,
  "base.moved": true,
  "repair.planned": true,
  "repair.given-up": true,
  "budget.exhausted": true,
};
