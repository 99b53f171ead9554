/** Which words of a failure are for people? What tells an agent how to do better is in its brief, and left out here. */
import type { Failure, FailureKind } from "./failure.ts";

/** As surfaces show it. */
export function forPeople({ next, ...why }: Failure): Failure {
  const message = wordsForPeople(why.message);
  return next === undefined || FOR_AGENTS.has(why.kind) ? { ...why, message } : { ...why, message, next };
}

/** What they say to try is for the next attempt, or for the planner's next answer. */
const FOR_AGENTS: ReadonlySet<FailureKind> = new Set([
  "plan-unreadable",
  "plan-invalid",
  "empty-change",
  "out-of-scope",
  "rule-broken",
  "unmet",
  "conflict",
  "gate-red",
]);

/** Also of several reasons in one text. */
export const wordsForPeople = (text: string): string =>
  TO_PLANNERS.reduce((words, [said, shown]) => words.replaceAll(said, shown), text);

/** As plan-draft.ts, plan-answer.ts, plan-check.ts, plan-addressed.ts and decide-plan.ts word them. */
const TO_PLANNERS: readonly (readonly [said: string | RegExp, shown: string])[] = [
  [/; send only the answer, whole, and nothing else in brackets(?:, with fewer tasks)?/g, ""],
  ['; answer with {"scratchpad": "…", "tasks": […]}', ""],
  ['; send "tasks": [] if there are none', ""],
  ["; send it whole, with fewer tasks", ""],
  ["; send fewer tasks at once", ""],
  ["; give each its own", ""],
  ["; give it to one of them", ""],
  ["; a new task needs a new id", ""],
  ['; name the files it may change, or say "delivers": "report"', ""],
  [
    "you gave that task before this was known; give a new one, or a reason",
    "that task was given before this was known",
  ],
  [
    /: say what took its place, \{"concern": .*?, or why it is given up, \{"concern": .*?\}/g,
    ", and what took its place, or why it is given up, was not said",
  ],
  ["give tasks, or say that it is done", "it gave no tasks, and did not say that it is done"],
];

/** What is to be tried after a run that is closed: nothing resumes it. */
export const afterTheEnd = (next: string): string =>
  next.replace(/, and resume$/, ", and start another run: the target keeps what landed");
