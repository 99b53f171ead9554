/** Reads from the first lines of a message which task and which attempt or turn it is about. */

/** The first match is Skein's own; text of others comes later in every message. */
export const PLACE = /^Task: (\S+) \((\S+)\)\n(?:Turn|Attempt): (\d+)$/m;

/** Undefined if the message is not about a turn. */
export function placeIn(message: string) {
  const [, task, key, number] = PLACE.exec(message) ?? [];
  return task === undefined || key === undefined ? undefined : { task, key, number: Number(number) };
}
