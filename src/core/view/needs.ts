/** Lists what a run needs from a person: approvals, answers, and repairs that only a person can make. */
import { RED_IS_DELIVERED } from "../base-look-words.ts";
import type { Failure } from "../failure.ts";
import type { RunWord } from "./labels.ts";
import type { Standing } from "./standing.ts";
import { machinesLabel } from "./view-machines.ts";
import type { AccountView, GateChangeView, QuestionView } from "./view-people.ts";

export type Need =
  | { readonly is: "plan" }
  | { readonly is: "gate-change"; readonly change: GateChangeView }
  | { readonly is: "question"; readonly question: QuestionView }
  | { readonly is: "account"; readonly account: AccountView }
  | { readonly is: "setup"; readonly failure: Failure }
  | { readonly is: "machine"; readonly text: string };

/** Empty for a run that is over. A stopped run needs no machines. */
export function needsOf(view: Standing, run?: RunWord): readonly Need[] {
  if (view.times.closedAt !== undefined) return [];
  const { gateChanges, questions, accounts, setup } = view;
  const lack = lacksMachine(view, run);
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
    ...(lack ? [{ is: "machine", text: lack } as const] : []),
  ];
}

/** A key that is different for each need, even while others come and go. */
export function needKey(need: Need): string {
  switch (need.is) {
    case "question":
      return `question ${need.question.question}`;
    case "gate-change":
      return `gate-change ${need.change.task}`;
    case "account":
      return `account ${need.account.account}`;
    default:
      return need.is;
  }
}

/** Says that jobs wait and no machine could take them; empty otherwise, and for a run that is not under way. */
export function lacksMachine(view: Standing, run?: RunWord): string {
  const machines = view.machines ?? [];
  const untaken = view.running.filter(({ isUntaken }) => isUntaken);
  if (run === "stopped" || view.times.closedAt !== undefined || untaken.length === 0) return "";
  if (machines.length === 0) return "no machine is in the fleet now: jobs wait (skein worker --join)";
  const ready = machines.filter(({ state }) => state === "ready");
  if (ready.length === 0)
    return `no machine is ready (${machinesLabel(machines)}): jobs wait (skein worker --join)`;
  const lacking = untaken.find(
    ({ needs = [] }) => !ready.some(({ labels }) => needs.every((label) => labels.includes(label))),
  );
  if (!lacking) return "";
  const labels = lacking.needs!.join(",");
  const names = lacking.tasks.map(({ name }) => name).join(" + ");
  return `no machine that is ready has ${labels}: ${names} waits (skein worker --join --labels ${labels})`;
}

/** Said while nothing is needed: a new user cannot know that nothing is missing. */
export const calmLabel = (view: Standing, run: RunWord): string =>
  run === "running" && needsOf(view, run).length === 0 ? "Nothing needs you" : "";

/** Where the work of a run is, and which command brings it to the user's branch. */
export type WayToDeliver = {
  readonly branch: string;
  readonly command: string;
  /** The branch that the target can be delivered to without questions: it is known, and checked out nowhere. */
  readonly into?: string;
};

/** For a run that is over: where its work is, and what to type next. */
export function endLabel(
  { is, ended, times, tally, target }: Standing,
  { branch, command }: WayToDeliver,
): string {
  if (times.closedAt === undefined) return "";
  if (ended !== undefined) return ENDED_WORDS[ended];
  if (tally.gate.landings === 0) return "Nothing landed; your branches are as they were";
  if (target.health === "red" || target.health === "suspect")
    return `What landed is on branch ${branch}, on which gate commands fail: ${RED_IS_DELIVERED}`;
  return is === "done"
    ? `The work is on branch ${branch}. Next: ${command}`
    : `What landed is on branch ${branch}. Next: ${command} --partial`;
}

const ENDED_WORDS = {
  answered: "The answer is in the report; nothing was to be changed",
  unchanged: "Nothing had to be changed: the success criterion passes without a change",
} as const;

/** The questions that a person has to answer. */
export const questionsFor = (view: Standing): readonly QuestionView[] =>
  needsOf(view).flatMap((need) => (need.is === "question" ? [need.question] : []));

/** What waits for approval: the plan first, then changes of the gate, one task each. */
export function approvalFor(view: Standing): { readonly task?: GateChangeView["task"] } | undefined {
  const need = needsOf(view).find(({ is }) => is === "plan" || is === "gate-change");
  return need && (need.is === "gate-change" ? { task: need.change.task } : {});
}

/** True if `resume` would change something: it also retries what a person had to repair. */
export const canResume = (view: Standing): boolean =>
  view.is === "paused" || needsOf(view).some(({ is }) => is === "account" || is === "setup");
