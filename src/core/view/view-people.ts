/** Lists what a run needs from people and accounts: questions, approvals, accounts that are parked or refused. */
import type { Failure } from "../failure.ts";
import { nameOf, type RunState, wallTime } from "../log/state.ts";
import { parkedAccounts, refusedAccounts } from "../rules/governor.ts";
import type { SubtaskQuestion } from "../subtask.ts";
import type { Task } from "../task.ts";
import { type Named, named } from "./view-reasons.ts";

/** `until`: when the default is taken. `with`: the task that is asked first; undefined if you are asked. */
export type QuestionView = Named & {
  readonly question: string;
  readonly text: string;
  readonly default?: string;
  readonly until: number;
  readonly with?: string;
};
/** `until`: when it is called again; undefined if a person must fix its key and say `resume`. */
export type AccountView = {
  readonly account: string;
  readonly is: "parked" | "refused";
  readonly until?: number;
  readonly reason: string;
  readonly next?: string;
};
/** `proposed`: it waits for a person. */
export type GateChangeView = Named & {
  readonly is: "proposed" | "landing" | "landed";
  readonly flags: readonly string[];
};

export const questionView = (
  state: RunState,
  { id, task, text, until, to, ...rest }: SubtaskQuestion,
): QuestionView => ({
  ...named(state, task),
  question: id,
  text,
  ...(rest.default !== undefined && { default: rest.default }),
  until: wallTime(state, until),
  ...(to !== "person" && { with: nameOf(state, to) }),
});

/** Undefined for a task that changes neither the gate nor what steers agents. */
export function gateChangeView(state: RunState, { id, state: now }: Task): GateChangeView | undefined {
  const flags = now.is === "landing" || now.is === "done" ? now.handoff.flags : undefined;
  if (flags === undefined) return undefined;
  const is = now.is === "done" ? "landed" : state.unapproved.has(id) ? "proposed" : "landing";
  return { ...named(state, id), is, flags };
}

export function accountViews(state: RunState): readonly AccountView[] {
  const why = ({ message, next }: Failure) => ({ reason: message, ...(next !== undefined && { next }) });
  return [
    ...parkedAccounts(state).map(
      ({ account, until, failure }) =>
        ({ account, is: "parked", until: wallTime(state, until), ...why(failure) }) as const,
    ),
    ...refusedAccounts(state).map(
      ({ account, failure }) => ({ account, is: "refused", ...why(failure) }) as const,
    ),
  ];
}
