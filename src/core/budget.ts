/** May another job that costs something start? Money and tokens are set aside before they are spent. */
import type { Policy } from "./policy.ts";
import type { RunState } from "./state.ts";

/** How many more plan or work jobs fit into what is left, each with its reserve. */
export function affordable({ spent, count }: RunState, { budget }: Policy): number {
  if (spent.exhausted) return 0;
  const running = count.plan + count.work;
  const fits = (max: number | undefined, used: number, reserve: number) =>
    max === undefined ? Number.POSITIVE_INFINITY : Math.floor((max - used) / Math.max(1, reserve)) - running;
  return Math.max(
    0,
    Math.min(
      fits(budget.maxTokens, spent.tokens, budget.reserveTokens),
      // A job whose price is not known costs what was set aside for it: never nothing.
      fits(
        budget.maxMicrodollars,
        spent.microdollars + spent.unpriced * budget.reserveMicrodollars,
        budget.reserveMicrodollars,
      ),
    ),
  );
}

/** Nothing that costs can start any more, and nothing that is running can give its reserve back. */
export const isExhausted = (state: RunState, policy: Policy) =>
  state.count.plan + state.count.work === 0 && affordable(state, policy) === 0;
