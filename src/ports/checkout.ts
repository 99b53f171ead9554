/** The port that looks for changes in the user's checkout, which is only read. */
import type { Failed } from "../core/result.ts";

export type Checkout = {
  /** The present state of HEAD, index, files and branches; equal looks mean that nothing changed in between. */
  look(signal: AbortSignal): Promise<Look | Failed>;
};

/** What was seen, by place ("HEAD", "index", a path, a full ref). */
export type Look = ReadonlyMap<string, string>;

export const differences = (before: Look, after: Look): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((place) => before.get(place) !== after.get(place));
