/** How would somebody have foreseen a run that was recorded? Its tasks, with durations that are assumed, and no mishap. */
import type { Assumed } from "./assumed.ts";
import type { Recording } from "./recording.ts";

export function withoutHistory(recording: Recording, assumed: Assumed): Recording {
  const answered = { end: "answered" } as const;
  return {
    goal: recording.goal,
    plans: new Map(
      [...recording.plans].map(([name, turns]) => [
        name,
        turns.flatMap((turn) =>
          "kind" in turn.said ? [] : [{ ...answered, ms: assumed.planMs, said: turn.said }],
        ),
      ]),
    ),
    attempts: new Map(
      [...recording.attempts].map(([name, attempts]) => {
        const files = attempts.findLast((one) => one.files)?.files ?? [];
        return [name, [{ ...answered, ms: assumed.workMs, files }]];
      }),
    ),
    lands: [],
    checks: [],
    usualMs: {
      plan: assumed.planMs,
      work: assumed.workMs,
      land: assumed.gateMs,
      check: assumed.gateMs,
    },
    broken: [],
    flakes: new Map(),
    happened: [],
    said: [],
    approvals: recording.approvals,
    flaky: [],
    inexact: [],
  };
}
