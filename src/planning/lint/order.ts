/** Checks that the tasks of a plan can be ordered: unique ids, known dependencies, no cycle, correct waves. */
import { closest } from "../../text/closest.ts";
import { quoted } from "../../text/lines.ts";
import { error, type Finding } from "../files/place.ts";
import type { PlanTask } from "../plan.ts";
import { wavesOf } from "../waves.ts";

type Ordered = Pick<PlanTask, "id" | "blockedBy">;

export function orderFindings(tasks: readonly Ordered[]): readonly Finding[] {
  const first = new Map<string, number>();
  const repeated: Finding[] = [];
  for (const [index, { id }] of tasks.entries()) {
    const before = first.get(id);
    if (before === undefined) first.set(id, index);
    else
      repeated.push(
        error(`tasks[${index}].id`, `${quoted(id)} is the id of tasks[${before}], too`, "give each its own"),
      );
  }
  return [...repeated, ...unknownWaits(tasks, first), ...cycles(tasks, first)];
}

/** Limited, because looking for a similar name costs more than anything else here. */
const MAX_SUGGESTED = 20;

function unknownWaits(tasks: readonly Ordered[], known: ReadonlyMap<string, number>): readonly Finding[] {
  const ids = [...known.keys()];
  const found: Finding[] = [];
  for (const [index, { id, blockedBy }] of tasks.entries()) {
    for (const [at, before] of blockedBy.entries()) {
      const place = `tasks[${index}].blockedBy[${at}]`;
      if (before === id) found.push(error(place, `task ${quoted(id)} waits for itself`, "remove it"));
      else if (!known.has(before)) {
        const [near] = found.length < MAX_SUGGESTED ? closest(before, ids) : [];
        const hint = near === undefined ? "remove it, or add that task" : `did you mean ${quoted(near)}?`;
        found.push(
          error(place, `task ${quoted(id)} waits for ${quoted(before)}, which does not exist`, hint),
        );
      }
    }
  }
  return found;
}

const MAX_NAMED = 10;

function cycles(tasks: readonly Ordered[], first: ReadonlyMap<string, number>): readonly Finding[] {
  if (wavesOf(tasks).is === "waves") return [];
  // A task that waits for itself is reported separately.
  const waves = wavesOf(
    tasks.map(({ id, blockedBy }) => ({ id, blockedBy: blockedBy.filter((one) => one !== id) })),
  );
  if (waves.is === "waves") return [];
  const { ids } = waves;
  const named = ids.slice(0, MAX_NAMED).map((id) => quoted(id));
  const more = ids.length > MAX_NAMED ? [`${ids.length - MAX_NAMED} more`] : [];
  const round = [...named, ...more, quoted(ids[0]!)].join(" → ");
  const place = `tasks[${first.get(ids[0]!)!}].blockedBy`;
  return [error(place, `tasks wait for each other: ${round}`, "remove one of these dependencies")];
}
