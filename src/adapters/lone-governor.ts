/** Governs model calls of planning outside of a run: any account that was not refused, within the budget of a run. */

import { type Failure, failure } from "../core/failure.ts";
import type { Live } from "../core/rules/governor.ts";
import type { Policy } from "../core/rules/policy.ts";
import type { Clock } from "../ports/clock.ts";
import type { WantedCall } from "../ports/governor.ts";
import { InProcessGovernor } from "./governor.ts";

/** Does not wait for a quota, because a person is waiting, and the rules can make the plan. */
export function loneGovernor(clock: Clock, { budget }: Pick<Policy, "budget">): InProcessGovernor {
  const governor = new InProcessGovernor(clock);
  const refused = new Map<string, Failure>();
  governor.connect({
    next: (accounts) => {
      const account = accounts.find((name) => !refused.has(name));
      return account === undefined
        ? { is: "refused", failure: refused.get(accounts[0])! }
        : { is: "free", account };
    },
    budgets: () => [],
    isOpen: () => false,
    reserve: { tokens: 0 },
    accounts: [],
    mayCall: (call, live) => (isWithin(budget, call, live) ? undefined : SPENT),
    tell: async (account, why) => void refused.set(account, why),
    worked: () => {},
    waits: () => {},
  });
  return governor;
}

const SPENT = failure(
  "budget",
  "it would cost more than the budget of a run",
  "raise budget.tokens or budget.dollars",
);

function isWithin(
  { maxTokens, maxMicrodollars }: Policy["budget"],
  { most }: WantedCall,
  live: Live,
): boolean {
  const used = (of: "tokens" | "microdollars") =>
    [...live.values()].reduce((sum, amount) => sum + amount[of], 0);
  if (maxTokens !== undefined && used("tokens") + most.tokens > maxTokens) return false;
  if (maxMicrodollars === undefined || most.microdollars === undefined) return true;
  return used("microdollars") + most.microdollars <= maxMicrodollars;
}
