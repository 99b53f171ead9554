/** Tells what an idle run waits for, and until when. */

import { isProposed, nameOf, type RunState, retryKey, runTime, wallTime } from "../log/state.ts";
import { due } from "../rules/due.ts";
import { parkedAccounts, refusedAccounts } from "../rules/governor.ts";
import type { Policy } from "../rules/policy.ts";
import { isParked, type Standstill } from "../rules/standstill.ts";
import type { TaskId } from "../task.ts";

/** `until`: by the machine's clock; undefined if only a person can end the wait. */
export type Wait = { readonly what: string; readonly until?: number };

/** `wall`: the time by the machine's clock. */
export function waitOf(state: RunState, policy: Policy, wall: number): Wait | undefined {
  if (!state.request || state.closed) return undefined;
  const { failure } = state.setup;
  if (failure) return { what: `the set-up failed; fix it, then resume: ${failure.message}` };
  const standstill = isParked(state, policy);
  if (standstill) return accountsWait(state, standstill);
  if (state.running.size > 0) return undefined;
  const { facts, deadline } = due(state, policy, runTime(state, wall));
  if (facts.length > 0) return undefined; // It goes on at once.
  if (state.paused) return { what: "the run is paused" }; // Nothing starts, whatever else happens.
  if (isProposed(state)) return { what: "its plan needs your approval (skein approve)" };
  if (state.unapproved.size > 0) {
    const names = [...state.unapproved.keys()].map((id) => nameOf(state, id)).join(", ");
    return { what: `${names} needs your approval to land (skein approve)` };
  }
  const asked = [...state.questions.values()].filter(({ to }) => to === "person");
  if (asked.length > 0) {
    const first = Math.min(...asked.map(({ until }) => until));
    const names = asked.map(({ id, task }) => `${id} of ${nameOf(state, task)}`).join(", ");
    return { what: `an answer to ${names} (skein answer)`, until: wallTime(state, first) };
  }
  if (deadline === undefined) return undefined;
  return { what: whatAt(state, deadline), until: wallTime(state, deadline) };
}

/** "the rate limit of anthropic resets", or what a person must do. */
function accountsWait(state: RunState, { accounts, until }: Standstill): Wait {
  if (until !== undefined) {
    const names = parkedAccounts(state).map(({ account }) => account);
    return { what: `the rate limit of ${names.join(", ")} resets`, until: wallTime(state, until) };
  }
  const [first] = refusedAccounts(state);
  const why = first === undefined ? "" : `: ${first.failure.message}`;
  return { what: `the key of ${accounts.join(", ")} was refused; fix it, then resume${why}` };
}

function whatAt(state: RunState, at: number): string {
  if (state.landing.retryAt === at) {
    const { problem } = state.landing;
    return `landing is retried${problem ? ` (${problem.message})` : ""}`;
  }
  const question = state.questions.values().find(({ until }) => until === at);
  if (question) return `${question.id} of ${nameOf(state, question.task)} uses its default`;
  const waiting = state.tasks.values().filter(({ id }) => state.deadlines.get(retryKey(id)) === at);
  const [first] = waiting.take(1);
  if (first === undefined)
    return state.target.health === "red" || state.target.health === "suspect"
      ? "the failing target is checked again"
      : "the target is checked again";
  return isPlanners(state, first.id)
    ? `the planner of ${nameOf(state, first.id)} is asked again`
    : `${nameOf(state, first.id)} is retried`;
}

function isPlanners(state: RunState, id: TaskId): boolean {
  const task = state.tasks.get(id)!;
  return task.state.is === "delegated" || task.spec.shape === "plan";
}
