/** What time is it, and who is to be woken when? */
export type Clock = {
  /** In ms; never goes back. */
  now(): number;
  /** Calls `wake` once at `time`, or as soon as possible if that is past; returns how to call it off. */
  wakeAt(time: number, wake: () => void): () => void;
};
