/** Did the user's checkout change? It is only read, never written. */
import type { Failed } from "../core/result.ts";

export type Checkout = {
  /** What HEAD, index, files and branches look like now; equal looks mean that nothing changed between them. */
  look(signal: AbortSignal): Promise<Look | Failed>;
};

/** By place ("HEAD", "index", a path, a ref in full): what was seen there. */
export type Look = ReadonlyMap<string, string>;

export const differences = (before: Look, after: Look): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((place) => before.get(place) !== after.get(place));
