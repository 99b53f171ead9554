/** What came of a delivery? For programs as well: their compiler must not need the types of what makes it. */

/** All but the first two have changed nothing of the user's. */
export type DeliveryEnd =
  /** `isMerged`: what the branch had meanwhile was merged into the target first, and gated with it if there is a gate. */
  | {
      readonly is: "delivered";
      readonly from: string;
      readonly to: string;
      readonly isMerged: boolean;
      readonly isUngated?: true;
    }
  /** The branch has everything already. */
  | { readonly is: "nothing-new"; readonly base: string }
  /** `isMerged`: the target has what the branch had meanwhile; what is in the way came up only after that. */
  | (DeliveryRefused & { readonly isMerged?: true });

export type DeliveryRefused =
  /** Somebody works on that branch there. */
  | { readonly is: "checked-out"; readonly where: string; readonly why: "not-asked" | "not-clean" }
  | { readonly is: "conflict"; readonly files: readonly string[] }
  | { readonly is: "red"; readonly failures: readonly string[] }
  | { readonly is: "base-keeps-moving" };
