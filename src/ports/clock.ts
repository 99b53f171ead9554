/** The port of time: two clocks, and calls at a given time. */
export type Clock = {
  /** In ms. Goes on evenly, also while the machine sleeps and however its clock is set; never goes back. */
  now(): number;
  /** The machine's clock, in ms, for moments that others name. It can be set to any time. */
  wall(): number;
  /**
   * Calls `wake` once when `now` reaches `time`, or as soon as possible if that is past. Returns a function that
   * cancels it.
   */
  wakeAt(time: number, wake: () => void): () => void;
  /**
   * Calls `wake` soon after `wall` has jumped against `now` by more than a second. Returns a function that cancels it.
   */
  onJump(wake: () => void): () => void;
};

/**
 * A smaller difference between the two clocks is not a jump: they are read one after the other, and corrected a little.
 */
export const MAX_APART_MS = 1_000;
