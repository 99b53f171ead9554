/** Is a plan larger than somebody would expect of one sentence? Said before anything runs. */

/** A worker's turn, as a run sets it aside before it is known: `budget.reserveTokens` of the policy. */
const TOKENS_A_TASK = 50_000;

export function sizeRisk(tasks: number, maxUnsaid: number): string | undefined {
  if (tasks <= maxUnsaid) return undefined;
  const tokens = (tasks * TOKENS_A_TASK).toLocaleString("en");
  return `${tasks} tasks: at least ${tasks} turns of an agent, some ${tokens} tokens; skein simulate says more.`;
}
