/** Which task, and which try of it, is a message about? Read from its first lines. */

/** The first match is Skein's: what others wrote comes later in every message. */
export const PLACE = /^Task: (\S+) \((\S+)\)\n(?:Turn|Attempt): (\d+)$/m;

/** Undefined for what is no message of a turn. */
export function placeIn(message: string) {
  const [, task, key, number] = PLACE.exec(message) ?? [];
  return task === undefined || key === undefined ? undefined : { task, key, number: Number(number) };
}
