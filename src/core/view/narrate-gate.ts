/** Makes lines for people about gate runs and landings: what failed, what is bisected, what landed. */

import { ago, capital, clockTime, short } from "../../text/words.ts";
import { baseLookLines, baseLookTitle, RED_IS_DELIVERED } from "../base-look-words.ts";
import type { Failure } from "../failure.ts";
import { failuresOf, type GateReport } from "../gate.ts";
import type { Member } from "../job.ts";
import type { EventOf } from "../log/event.ts";
import { nameOf, type RunState, taskOf, wallTime } from "../log/state.ts";
import type { OnRedBase } from "../rules/policy.ts";
import { BASE_QUESTION } from "../subtask.ts";
import { isRepair, type TaskId } from "../task.ts";
import { bad, good, type Line, plain, quiet, withBelow } from "./line.ts";

export function checked(event: EventOf<"target.checked">, state: RunState): Line | undefined {
  const { tip, report, leftovers, passedAt, at } = event;
  const { health } = state.target;
  const isBase = tip === state.request?.base;
  if (passedAt !== undefined)
    return quiet(`The gate passed on the base ${ago(wallTime(state, at) - passedAt)}; it is not run again`);
  if (health === "green") return isBase ? idle(report) : undefined;
  const names = namesOf(failuresOf(report));
  const what = targetName(tip, state);
  if (health !== "red") return bad(`Gate failed on ${what}; ${rerunning(leftovers !== undefined)}: ${names}`);
  const { round, givenUp } = state.repair;
  if (round > 0 || givenUp) return bad(`Gate still fails on ${what}: ${names}`);
  return bad(`Gate fails on ${what}: ${names}`);
}

/** Shows the failures with the output that says why. If the run stops, the refusal shows them instead. */
export function baseFailed({ look, choice }: EventOf<"base.failed">, state: RunState): Line {
  const line = bad(`${capital(baseLookTitle(look))}; ${NEXT_OF_BASE[choice](state)}`);
  return choice === "stop" ? line : withBelow(line, [...baseLookLines(look), capital(RED_IS_DELIVERED)]);
}

const NEXT_OF_BASE: Readonly<Record<"ask" | OnRedBase, (state: RunState) => string>> = {
  ask: (state) => {
    const { default: otherwise = "", until = 0 } = state.questions.get(BASE_QUESTION) ?? {};
    const answer = `skein answer ${state.request?.run} ${BASE_QUESTION} repair|continue|stop`;
    return `nothing is started before you say what happens: ${answer}; at ${clockTime(wallTime(state, until))} it takes ${otherwise}`;
  },
  repair: () => "agents repair it first, one round for each kind of failure",
  continue: () => "the run goes on beside it: only what makes nothing worse lands",
  stop: () => "nothing is started",
};
const rerunning = (isUsed: boolean): string =>
  isUsed ? "re-running in a fresh workspace" : "re-running in case it is flaky";

export const baseAnswered = ({ by, choice }: EventOf<"base.answered">): Line =>
  plain(
    `${by === "person" ? "You chose" : "There was no answer in time, so the run goes on with"}: ${choice}`,
  );

/** If a failing base stops the run, the refusal shows the output below this line. */
export function setupFailed({ failure }: EventOf<"setup.failed">, { redBase }: RunState): Line {
  const { message } = failure;
  return bad(`No new work starts: ${redBase?.choice === "stop" ? message.split("\n")[0] : message}`);
}

/** For an unproven gate, the next event says why. */
export function probed({ probed: found }: EventOf<"gate.probed">): Line | undefined {
  if (found.is === "unproven") return undefined;
  return found.is === "proved"
    ? quiet("Gate probe passed: the gate fails without your sources, as it should")
    : bad(notProbedText(found));
}

export const notProbedText = ({ why }: { readonly why: string }): string =>
  `The gate was not probed (${why}): it may pass without testing your code`;

/** Shown once, for the base: the first landings are not tested by anything. */
function idle({ commands }: GateReport): Line | undefined {
  const names = commands.filter(({ nothingYet }) => nothingYet).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return plain(
    `The gate has nothing to run yet (${names.join(", ")}); it applies from the first test that lands`,
  );
}

function namesOf(failures: readonly string[]): string {
  const some = failures.slice(0, MAX_FAILURES).join(", ");
  return failures.length > MAX_FAILURES ? `${some} and ${failures.length - MAX_FAILURES} more` : some;
}

const MAX_FAILURES = 5;

export function landed(event: EventOf<"batch.landed">, state: RunState): Line {
  const { members, commit, flaky, proof, flags = [] } = event;
  const isFix = proof === "green" && members.some(({ task }) => isRepair(taskOf(state, task)));
  const repaired = isFix ? ": the target is repaired" : "";
  const beside = proof === "red-to-red" ? ` on a failing target${comparedText(event.compared)}` : "";
  const odd = flaky.length > 0 ? `; flaky, failed and then passed on the same tree: ${namesOf(flaky)}` : "";
  const names = members.map((m) => nameOf(state, m.task)).join(" + ");
  const text = `${names} landed as ${short(commit)}${beside}${repaired}${odd}`;
  return flags.length > 0 ? bad(`${text}, but ${flags.join("; ")}`) : good(text);
}

/** Says what was compared, and no more. */
const comparedText = (compared: readonly string[] = []): string =>
  compared.length === 0 ? "" : ` (${compared.slice(0, MAX_FAILURES).join("; ")})`;

export function passedAhead({ passed }: EventOf<"candidate.passed">, name: (id: TaskId) => string): Line {
  const names = passed.members.map((m) => name(m.task)).join(" + ");
  return quiet(`${names} passed the gate; lands after the candidate that it was built on`);
}

/** No task is blamed before what its candidate was built on has landed. */
export function failedAhead({ failed }: EventOf<"candidate.failed">, state: RunState): Line | undefined {
  if (failed.is !== "red") return undefined;
  const names = failed.members.map((m) => nameOf(state, m.task)).join(" + ");
  return bad(`Gate failed with ${names}; waits for what it was built on: ${namesOf(failed.failures)}`);
}

/** Describes the steps after a failed gate; the task that broke it is named with its next attempt. */
export function turned(
  { phase, failure, isDiscard, requeue }: EventOf<"landing.turned">,
  name: (id: TaskId) => string,
): Line | undefined {
  if (isDiscard)
    return requeue.length === 0
      ? undefined
      : plain(`${requeue.map(name).join(", ")} will be gated again: what they were built on did not land`);
  if (failure) return bad(`Landing failed; retrying: ${failure.message}${nextOf(failure)}`);
  const all = (members: readonly Member[]) => members.map((m) => name(m.task)).join(", ");
  switch (phase.is) {
    case "open":
      return undefined;
    case "again": {
      const { members, failures, run, used } = phase;
      const who = members.length === 1 ? all(members) : `${members.length} tasks`;
      const what = run > 2 ? "Gate failed again" : "Gate failed"; // For another reason, or a known flaky test.
      const how = rerunning(used !== undefined && run === 2);
      return bad(`${what} with ${who}; ${how}: ${namesOf(failures)}`);
    }
    case "base":
      return bad("Gate failed again; checking whether the target itself fails");
    case "bisect": {
      const { guilty, next, reds, isEarly } = phase;
      if (isEarly)
        return bad(`Gate failed again, in files that only ${all(next)} changed: testing that alone`);
      if (reds > 0) return bad(`Gate failed with ${all(next)}; re-running to be sure`);
      if (guilty.length === 1) return bad(`Bisecting: the others pass, only ${all(guilty)} is left`);
      return bad(`Bisecting: one of these ${guilty.length} breaks the gate: ${all(guilty)}`);
    }
  }
}

export const targetName = (tip: string, { request }: RunState): string =>
  tip === request?.base ? "the base" : `the target ${short(tip)}`;

export const nextOf = ({ next }: Failure): string => (next === undefined ? "" : `; ${next}`);
