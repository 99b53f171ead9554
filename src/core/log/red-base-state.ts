/** What is known of a base that failed its gate before any agent was paid. */
import type { OnRedBase } from "../rules/policy.ts";
import type { ProblemClass } from "../rules/repair.ts";
import type { RepairOffer } from "./event.ts";

export type RedBase = {
  /** `ask`: nothing starts before a person has answered. */
  readonly choice: "ask" | OnRedBase;
  /** What a person may say yes to. */
  readonly offer: readonly RepairOffer[];
  /** The classes that a round of fix tasks was made for: each gets one. */
  readonly repaired: readonly ProblemClass[];
};
