/** Warns of a plan that is larger than people expect, before anything runs. */

/** What `skein simulate` assumes of one task: some forty calls of a model, each with what was said before. */
const TOKENS_A_TASK = 200_000;

/** As in planning/limits.json. */
const MAX_TASKS_UNSAID = 12;

/** Undefined: it is not. */
export function sizeNotice(tasks: number, maxUnsaid = MAX_TASKS_UNSAID): string | undefined {
  if (tasks <= maxUnsaid) return undefined;
  const tokens = (tasks * TOKENS_A_TASK).toLocaleString("en");
  return `${tasks} tasks are ${tasks} turns of an agent at least, some ${tokens} tokens: skein simulate says more.`;
}
