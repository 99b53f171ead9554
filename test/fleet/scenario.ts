/** The run of the fleet's chaos trials: conflicts, a red attempt, a crash, subplans, subtasks, a question. */

import type { Script, WorkAttempt } from "../../src/ports/agent-script.ts";
import { script as chaos } from "../chaos/scenario.ts";

/** Fails while a file says "bad", or while the list is not sorted. */
const CHECK = `test -f list.txt && sort -c list.txt || exit 1
! grep -l bad *.txt
`;

export const FILES = { "check.sh": CHECK, "list.txt": "m\n", "notes.txt": "good\n" };

export const RUN_ARGS = [
  ...["--gate", "sh check.sh", "--set", "retry.maxFailed=2", "--set", "overlap=allow"],
  ...["--set", "retry.first=20ms", "--set", "retry.max=50ms", "--workers", "6"],
];

/**
 * The scenario of the chaos trials, without steps that read the coordinator's files. `pauseMs`: a pause in every
 * attempt.
 */
export function scenario(pauseMs = 0): Script {
  const { "fix-build-1": _, ...work } = chaos.work;
  const slow = (attempt: WorkAttempt): WorkAttempt => ({
    ...attempt,
    steps: [...(attempt.steps ?? []), ...(pauseMs > 0 ? [{ do: "wait", ms: pauseMs } as const] : [])],
  });
  return {
    ...chaos,
    work: Object.fromEntries(Object.entries(work).map(([key, attempts]) => [key, attempts.map(slow)])),
  };
}
