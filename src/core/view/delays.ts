/** Lists temporary delays of a run: rate-limited accounts and unreachable agents. */
import type { Standing } from "./standing.ts";
import type { Wait } from "./view-wait.ts";

/** Empty for a run that is over. */
export function delaysOf({ accounts, unreachable, times }: Standing): readonly Wait[] {
  if (times.closedAt !== undefined) return [];
  return [
    ...accounts.flatMap(({ account, until }) =>
      until === undefined ? [] : [{ what: `${account} is rate limited`, until }],
    ),
    ...(unreachable
      ? [
          {
            what: `The agent of ${unreachable.tasks} ${unreachable.tasks === 1 ? "task" : "tasks"} cannot be reached and is tried again: ${unreachable.reason}`,
          },
        ]
      : []),
  ];
}
