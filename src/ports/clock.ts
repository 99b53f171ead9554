/** What time is it, and who is to be woken when? */
export type Clock = {
  /** In ms. Goes on evenly, also while the machine sleeps, whatever its clock is set to; never goes back. */
  now(): number;
  /** What the machine's clock shows, in ms: for moments that others name. It can be set to anything. */
  wall(): number;
  /** Calls `wake` once when `now` is at `time`, or as soon as possible if that is past; returns how to call it off. */
  wakeAt(time: number, wake: () => void): () => void;
  /** Calls `wake` soon after each jump of `wall` against `now` by more than a second; returns how to call it off. */
  onJump(wake: () => void): () => void;
};

/** A smaller difference between the two clocks is no jump: clocks are read one after the other, and corrected a little. */
export const MAX_APART_MS = 1_000;
