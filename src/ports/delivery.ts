/** The port that moves the user's own branch to what landed. */
import type { Failed } from "../core/result.ts";

export type Delivery = {
  /** Moves the branch to the target, if the target contains everything that the branch has. */
  bring(wanted: DeliveryWanted, signal: AbortSignal): Promise<Brought | Failed>;
  /** Merges the branch into the target: a candidate like any other, to be gated and landed. */
  mergeBase(wanted: DeliveryWanted, signal: AbortSignal): Promise<MergedBase | Failed>;
  /** Frees what was made for a delivery that has ended. */
  letGo(run: string): Promise<unknown>;
};

export type DeliveryWanted = {
  /** The user's branch, by its short name. */
  readonly baseBranch: string;
  readonly run: string;
  readonly target: string;
  /** The commit that the run started from: all commits of the target since then must have a proof. */
  readonly since: string;
  /** Where the target was last seen, if known. */
  readonly tip?: string;
  /** Whether a checkout that is on that branch may be moved along. */
  readonly intoCheckout: boolean;
  /** Names of git filters that may process workers' files when they are checked out. */
  readonly filters: readonly string[];
  /**
   * Deliver only if branch and target are still at these commits, because these two were compared; else the answer is
   * `base-moved`.
   */
  readonly only?: { readonly base: string; readonly target: string };
};

export type Brought =
  | { readonly is: "delivered"; readonly from: string; readonly to: string }
  /** The branch already contains the target. */
  | { readonly is: "nothing-new"; readonly base: string }
  /**
   * The branch has commits that the target does not: merge it (`mergeBase`), gate and land that, then deliver again.
   */
  | { readonly is: "base-moved"; readonly base: string; readonly target: string }
  /** Nothing was done, because the branch is checked out there. */
  | { readonly is: "checked-out"; readonly where: string; readonly why: "not-asked" | "not-clean" };

export type MergedBase =
  | { readonly is: "candidate"; readonly commit: string; readonly onto: string }
  | { readonly is: "conflict"; readonly files: readonly string[] };

/** Only `delivered` has changed anything of the user's. */
export type DeliveryEnd =
  /** `isMerged`: the branch's new commits were merged into the target first, and gated with it if there is a gate. */
  | {
      readonly is: "delivered";
      readonly from: string;
      readonly to: string;
      readonly isMerged: boolean;
      readonly isUngated?: true;
      /** The gate fails on the target with these failures, which the branch had before. */
      readonly failing?: readonly string[];
    }
  /** The branch already contains the target. */
  | { readonly is: "nothing-new"; readonly base: string }
  /** `isMerged`: the branch's new commits are merged into the target, and the obstacle appeared after that. */
  | (DeliveryRefused & { readonly isMerged?: true });

export type DeliveryRefused =
  /** The branch is checked out there. */
  | { readonly is: "checked-out"; readonly where: string; readonly why: "not-asked" | "not-clean" }
  | { readonly is: "conflict"; readonly files: readonly string[] }
  | { readonly is: "red"; readonly failures: readonly string[] }
  /**
   * The gate fails on the target: with `failures` that the branch does not have, or in a way that cannot be compared.
   */
  | { readonly is: "red-otherwise"; readonly failures: readonly string[] }
  | { readonly is: "unjudged"; readonly why: readonly string[] }
  | { readonly is: "base-keeps-moving" };
