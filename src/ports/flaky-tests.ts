/** Which tests of a repository come and go? What its runs have seen fail and pass on one tree, kept between them. */
import type { Failed } from "../core/result.ts";

export type FlakyTests = {
  /**
   * What a run has seen from its beginning until now: names, and how often. To say the same again changes nothing, so
   * that a run that is resumed, or was killed before it was heard, counts once.
   */
  note(seen: SeenFlaky): Promise<Noted | Failed>;
  /** The most frequent first, of those the newest. */
  list(): Promise<FlakyHistory>;
};

export type SeenFlaky = {
  readonly run: string;
  readonly counts: ReadonlyMap<string, number>;
  readonly at: number;
};

export type Noted = { readonly is: "noted" };

/** `damage`: what was known before cannot be read, in words; it begins anew. */
export type FlakyHistory = { readonly tests: readonly FlakyTest[]; readonly damage?: string };

export type FlakyTest = {
  /** As in the gate's report: "test: adds numbers". */
  readonly name: string;
  readonly times: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly lastRun: string;
};
