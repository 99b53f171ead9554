/** The port that keeps which tests of a repository are flaky, over all its runs. */
import type { Failed } from "../core/result.ts";

export type FlakyTests = {
  /**
   * Notes what a run has seen from its beginning until now: names, and how often. Noting the same again changes
   * nothing, so that a run that is resumed, or was killed meanwhile, counts once.
   */
  note(seen: SeenFlaky): Promise<Noted | Failed>;
  /** The most frequent first; of equal counts the newest first. */
  list(): Promise<FlakyHistory>;
};

export type SeenFlaky = {
  readonly run: string;
  readonly counts: ReadonlyMap<string, number>;
  readonly at: number;
};

export type Noted = { readonly is: "noted" };

/** `damage`: why the earlier history cannot be read; it begins anew. */
export type FlakyHistory = { readonly tests: readonly FlakyTest[]; readonly damage?: string };

export type FlakyTest = {
  /** As in the gate's report: "test: adds numbers". */
  readonly name: string;
  readonly times: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly lastRun: string;
};
