/** What a run knows of its target: where it is, how it is, and what its gate ran there. */
import type { BaseLook } from "../base-look.ts";
import type { GateLeftovers, GateReport, TestsRan } from "../gate.ts";

export type Target = {
  readonly tip: string;
  /** `suspect`: red once; looked at again before anything is done about it. */
  readonly health: "unknown" | "green" | "suspect" | "red";
  readonly report: GateReport;
  /** The tests that ran in the newest run of the gate on `tip`, where runners tell their number. */
  readonly ran: readonly TestsRan[];
  /** What failed at the last look, of a base that failed before an agent was paid. */
  readonly look: BaseLook | undefined;
  /** The report is of a used workspace, in which it failed. */
  readonly leftovers: GateLeftovers | undefined;
  readonly checkedTip: string | undefined;
  readonly checkedAt: number;
  /** Gate runs that it passed lately, in a check or before it landed from the train, and when they began. */
  readonly passes: readonly { readonly tip: string; readonly since: number }[];
  readonly checkBegunAt: number;
  /** The longest that a look at the target took, in ms. */
  readonly slowestMs: number;
  readonly greensInARow: number;
  /** Of looks at `checkedTip`. */
  readonly redsInARow: number;
  readonly checkErrors: number;
  readonly baseMoved: boolean;
  /** A landing vanished without an answer, or much was done since the last look: it may be elsewhere. */
  readonly unsure: boolean;
};

/** Before the run has looked at it. */
export const unknownTarget = (): Target => ({
  tip: "",
  health: "unknown",
  report: { commands: [] },
  ran: [],
  look: undefined,
  leftovers: undefined,
  checkedTip: undefined,
  checkedAt: 0,
  passes: [],
  checkBegunAt: 0,
  slowestMs: 0,
  greensInARow: 0,
  redsInARow: 0,
  checkErrors: 0,
  baseMoved: false,
  unsure: false,
});
