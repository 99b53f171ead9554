/** Type of what a run knows of its target: its tip, its health, and its gate's results. */
import type { BaseLook } from "../base-look.ts";
import type { GateLeftovers, GateReport, TestsRan } from "../gate.ts";

export type Target = {
  readonly tip: string;
  /** `suspect`: red once; checked again before anything is done about it. */
  readonly health: "unknown" | "green" | "suspect" | "red";
  readonly report: GateReport;
  /** How many tests the newest gate run on `tip` ran, for runners that say so. */
  readonly ran: readonly TestsRan[];
  /** What failed at the last check, if the base failed before an agent was paid. */
  readonly look: BaseLook | undefined;
  /** The report is of a used workspace, in which the gate failed. */
  readonly leftovers: GateLeftovers | undefined;
  readonly checkedTip: string | undefined;
  readonly checkedAt: number;
  /** Gate runs that the target passed lately, in a check or before it landed from the train, and when they began. */
  readonly passes: readonly { readonly tip: string; readonly since: number }[];
  readonly checkBegunAt: number;
  /** The longest that a check of the target took, in ms. */
  readonly slowestMs: number;
  readonly greensInARow: number;
  /** Red checks of `checkedTip` in a row. */
  readonly redsInARow: number;
  readonly checkErrors: number;
  readonly baseMoved: boolean;
  /** The target may have moved: a landing ended without an answer, or much was done since the last check. */
  readonly unsure: boolean;
};

/** The target before the run has checked it. */
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
