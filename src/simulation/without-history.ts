/** Turns a recorded run into a forecast of it: its tasks with assumed durations and no failures. */
import type { Assumed } from "./assumed.ts";
import type { Recording } from "./recording.ts";

export function withoutHistory(recording: Recording, assumed: Assumed): Recording {
  const answered = { end: "answered" } as const;
  const planMs = followsPlan(recording) ? 0 : assumed.planMs; // It was there already.
  return {
    goal: recording.goal,
    plans: new Map(
      [...recording.plans].map(([name, turns]) => [
        name,
        turns.flatMap((turn) => ("kind" in turn.said ? [] : [{ ...answered, ms: planMs, said: turn.said }])),
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
      plan: planMs,
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

/** Only tasks of a plan that was given have terms. */
const followsPlan = ({ plans }: Recording): boolean =>
  [...plans.values()].flat().some(({ said }) => !("kind" in said) && said.tasks.some(({ terms }) => terms));
