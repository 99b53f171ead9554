/** Type of what is known about a base that failed its gate before any agent was paid. */
import type { OnRedBase } from "../rules/policy.ts";
import type { ProblemClass } from "../rules/repair.ts";
import type { RepairOffer } from "./event.ts";

export type RedBase = {
  /** `ask`: nothing starts before a person has answered. */
  readonly choice: "ask" | OnRedBase;
  /** The fix tasks that a person may agree to. */
  readonly offer: readonly RepairOffer[];
  /** The classes of failures that already had their one round of fix tasks. */
  readonly repaired: readonly ProblemClass[];
};
