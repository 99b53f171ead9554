/** The port that moves the user's own branch to what landed. */
import type { Failed } from "../core/result.ts";

export type Delivery = {
  /** Moves the branch to the target, if the target has everything that the branch has. */
  bring(wanted: DeliveryWanted, signal: AbortSignal): Promise<Brought | Failed>;
  /** The target with the branch merged into it: a candidate like any other, to be gated and landed. */
  mergeBase(wanted: DeliveryWanted, signal: AbortSignal): Promise<MergedBase | Failed>;
  /** What was made for a delivery that has ended is no longer needed. */
  letGo(run: string): Promise<unknown>;
};

export type DeliveryWanted = {
  /** The user's branch, by its short name. */
  readonly baseBranch: string;
  readonly run: string;
  readonly target: string;
  /** The commit that the run started from: all that came onto the target since then must have a proof. */
  readonly since: string;
  /** Where the target was the last time, if that is known. */
  readonly tip?: string;
  /** Whether a checkout that is on that branch may be moved along. */
  readonly intoCheckout: boolean;
  /** Names of git filters that may run on what workers wrote, when it comes into a checkout. */
  readonly filters: readonly string[];
  /** Only if branch and target are still there, because these two were compared; else the answer is `base-moved`. */
  readonly only?: { readonly base: string; readonly target: string };
};

export type Brought =
  | { readonly is: "delivered"; readonly from: string; readonly to: string }
  /** The branch has everything already. */
  | { readonly is: "nothing-new"; readonly base: string }
  /** The branch has what the target has not: merge it (`mergeBase`), gate that, land it, then deliver again. */
  | { readonly is: "base-moved"; readonly base: string; readonly target: string }
  /** Nothing was done: that branch is checked out there. */
  | { readonly is: "checked-out"; readonly where: string; readonly why: "not-asked" | "not-clean" };

export type MergedBase =
  | { readonly is: "candidate"; readonly commit: string; readonly onto: string }
  | { readonly is: "conflict"; readonly files: readonly string[] };

/** All but the first two have changed nothing of the user's. */
export type DeliveryEnd =
  /** `isMerged`: what the branch had meanwhile was merged into the target first, and gated with it if there is a gate. */
  | {
      readonly is: "delivered";
      readonly from: string;
      readonly to: string;
      readonly isMerged: boolean;
      readonly isUngated?: true;
      /** The gate fails there, by these failures, as it did on the branch before. */
      readonly failing?: readonly string[];
    }
  /** The branch has everything already. */
  | { readonly is: "nothing-new"; readonly base: string }
  /** `isMerged`: the target has what the branch had meanwhile; what is in the way came up only after that. */
  | (DeliveryRefused & { readonly isMerged?: true });

export type DeliveryRefused =
  /** That branch is checked out there. */
  | { readonly is: "checked-out"; readonly where: string; readonly why: "not-asked" | "not-clean" }
  | { readonly is: "conflict"; readonly files: readonly string[] }
  | { readonly is: "red"; readonly failures: readonly string[] }
  /** The gate fails on the target: by `failures` which the branch does not have, or in a way that cannot be compared. */
  | { readonly is: "red-otherwise"; readonly failures: readonly string[] }
  | { readonly is: "unjudged"; readonly why: readonly string[] }
  | { readonly is: "base-keeps-moving" };
