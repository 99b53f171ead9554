/** What does a run want of a person? Approvals, answers, and what only a person can repair; first and loud everywhere. */
import type { Failure } from "../failure.ts";
import type { RunWord } from "./labels.ts";
import type { Standing } from "./standing.ts";
import type { AccountView, GateChangeView, QuestionView } from "./view-people.ts";

export type Need =
  | { readonly is: "plan" }
  | { readonly is: "gate-change"; readonly change: GateChangeView }
  | { readonly is: "question"; readonly question: QuestionView }
  | { readonly is: "account"; readonly account: AccountView }
  | { readonly is: "setup"; readonly failure: Failure };

/** Nothing of a run that is over. */
export function needsOf(view: Standing): readonly Need[] {
  if (view.times.closedAt !== undefined) return [];
  const { gateChanges, questions, accounts, setup } = view;
  return [
    ...(view.is === "proposed" ? [{ is: "plan" } as const] : []),
    ...gateChanges.flatMap((change): Need[] =>
      change.is === "proposed" ? [{ is: "gate-change", change }] : [],
    ),
    ...questions.flatMap((question): Need[] =>
      question.with === undefined ? [{ is: "question", question }] : [],
    ),
    ...accounts.flatMap((account): Need[] => (account.is === "refused" ? [{ is: "account", account }] : [])),
    ...(setup ? [{ is: "setup", failure: setup } as const] : []),
  ];
}

/** Said while all is well: who looks for the first time cannot know that nothing is missing. */
export const calmLabel = (view: Standing, run: RunWord): string =>
  run === "running" && needsOf(view).length === 0 ? "Nothing needs you" : "";

/** Where the work of a run is, and what brings it to the user's branch. */
export type WayToDeliver = { readonly branch: string; readonly command: string };

/** Of a run that is over: where its work is, and what to type next. */
export function endLabel({ is, times, tally, target }: Standing, { branch, command }: WayToDeliver): string {
  if (times.closedAt === undefined) return "";
  if (tally.gate.landings === 0) return "Nothing landed; your branches are as they were";
  if (target.health === "red" || target.health === "suspect")
    return `What landed is on branch ${branch}, on which gate commands fail`;
  return is === "done"
    ? `The work is on branch ${branch}. Next: ${command}`
    : `What landed is on branch ${branch}. Next: ${command} --partial`;
}

/** The questions that a person has to answer. */
export const questionsFor = (view: Standing): readonly QuestionView[] =>
  needsOf(view).flatMap((need) => (need.is === "question" ? [need.question] : []));

/** What waits for a yes: the plan first, then changes of the gate, each of a task. */
export function approvalFor(view: Standing): { readonly task?: GateChangeView["task"] } | undefined {
  const need = needsOf(view).find(({ is }) => is === "plan" || is === "gate-change");
  return need && (need.is === "gate-change" ? { task: need.change.task } : {});
}

/** Whether `resume` would change something: it also tries again what a person had to repair. */
export const canResume = (view: Standing): boolean =>
  view.is === "paused" || needsOf(view).some(({ is }) => is === "account" || is === "setup");
