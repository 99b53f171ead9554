/** Which task, and which try of it, is a message about? Its first lines say so, for people, models and tests. */
import type { PlanBrief, WorkBrief } from "../core/brief.ts";

export type Place = { readonly task: string; readonly key: string; readonly number: number };

/** The first match is ours: what others wrote comes later in every message. */
export const PLACE = /^Task: (\S+) \((\S+)\)\n(?:Turn|Attempt): (\d+)$/m;

export const placeLines = (brief: PlanBrief | WorkBrief): string =>
  `Task: ${brief.task} (${brief.spec.key})\n${
    brief.kind === "plan" ? `Turn: ${brief.turn}` : `Attempt: ${brief.attempt}`
  }`;

/** Undefined for what is no message of a turn. */
export function placeIn(message: string): Place | undefined {
  const [, task, key, number] = PLACE.exec(message) ?? [];
  return task === undefined || key === undefined ? undefined : { task, key, number: Number(number) };
}
