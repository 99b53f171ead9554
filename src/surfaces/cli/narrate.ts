/** How is an event told to a person? One line each for what matters; nothing for the rest. */
import type { Event, EventOf } from "../../core/event.ts";
import { failuresOf } from "../../core/gate.ts";
import { CHECKOUT_CHANGED } from "../../core/handoff.ts";
import type { Job } from "../../core/job.ts";
import type { RunState } from "../../core/state.ts";
import type { TaskId } from "../../core/task.ts";
import { nameOf } from "../../core/view.ts";
import { harmless, short } from "./words.ts";

/** `tone` says how it should look, where there are colours. */
export type Line = { readonly tone: "plain" | "good" | "bad" | "quiet"; readonly text: string };

/** `state` is the state after the event. */
export function narrate(event: Event, state: RunState): Line | undefined {
  const name = (id: TaskId) => nameOf(state, id);
  switch (event.type) {
    case "run.opened":
      return plain(`goal: ${event.request.goal}`);
    case "run.paused":
      return plain("paused: no new work is started");
    case "run.resumed":
      return plain("the pause is over");
    case "run.steered":
      return plain(`told to the planner: ${event.message}`);
    case "run.cancel-requested":
      return bad(`the run is being cancelled: ${event.reason}`);
    case "command.refused":
      return bad(`refused: ${event.command}: ${event.reason}`);
    case "job.started":
      return started(event.job, state);
    case "job.ended":
      return jobEnded(event);
    case "plan.accepted":
      return event.into.length === 0
        ? undefined
        : plain(`${name(event.task)} is split into ${event.into.map((child) => child.spec.key).join(", ")}`);
    case "plan.kept-whole":
      return plain(`${name(event.task)} is not worth splitting: one worker takes it`);
    case "plan.rejected":
      return bad(
        `the planner of ${name(event.task)} is asked again: ${event.reasons.join("; ") || event.failure.message}`,
      );
    case "plan.ended":
      return event.over === "finished"
        ? plain(`the planner of ${name(event.task)} has nothing more to ask for`)
        : bad(event.over.message);
    case "task.handed-off":
      return handedOff(event, name(event.task));
    case "task.retried":
      return bad(
        `${name(event.task)}, attempt ${event.attempt}: ${event.failure.message}; it will be tried again`,
      );
    case "task.held-back":
      return quiet(`${name(event.task)} waits: ${name(event.behind)} has its files`);
    case "task.done":
      return good(`${name(event.task)} is done`);
    case "task.failed":
      return bad(`${name(event.task)} failed: ${event.failure.message}`);
    case "task.skipped":
      return bad(`${name(event.task)} is skipped, because ${name(event.because)} did not land`);
    case "task.cancelled":
      return bad(`${name(event.task)} is cancelled: ${event.reason}`);
    case "batch.landed":
      return landed(event, name);
    case "landing.turned":
      return turned(event, name);
    case "target.checked":
      return state.target.health === "green"
        ? undefined
        : bad(`${short(event.tip)} is ${state.target.health}: ${failuresOf(event.report).join(", ")}`);
    case "target.unchecked":
      return bad(`the target could not be checked: ${event.failure.message}`);
    case "target.moved":
      return bad(`somebody else has moved the target to ${short(event.tip)}`);
    case "base.moved":
      return plain(`the base is now at ${short(event.commit)}`);
    case "budget.exhausted":
      return bad("the budget is used up: nothing new is started");
    case "repair.planned":
      return bad(`the target is red; fix tasks: ${event.into.map((fix) => fix.spec.key).join(", ")}`);
    case "repair.given-up":
      return bad(`the target could not be repaired: ${event.failures.join(", ")}`);
    case "run.closed":
      return event.how === "done"
        ? good("the run is done")
        : bad(`the run ${endWords(event.how)}: ${event.left.join("; ")}`);
    default:
      return undefined;
  }
}

/** "failed", "is incomplete", "was cancelled": what follows "the run". */
export const endWords = (how: string): string =>
  how === "failed" ? "failed" : how === "cancelled" ? "was cancelled" : `is ${how}`;

const line =
  (tone: Line["tone"]) =>
  (text: string): Line => ({ tone, text: harmless(text.replace(/\s+/g, " ")) });
const plain = line("plain");
const good = line("good");
const bad = line("bad");
const quiet = line("quiet");

function jobEnded({ job, how }: EventOf<"job.ended">): Line | undefined {
  switch (how) {
    case "answered-late":
      return plain("a job that was given up has answered after all; nothing had replaced it, so it counts");
    case "expired":
      return bad(`${job} has not answered in time`);
    case "interrupted":
      return quiet(`${job} was interrupted: it is started again, and nobody is charged for it`);
    default:
      return undefined;
  }
}

/** What the planner hears of as one concern among others, the person whose files they are is told at once. */
function handedOff({ handoff }: EventOf<"task.handed-off">, name: string): Line {
  const strays = handoff.concerns.filter((concern) => concern.startsWith(CHECKOUT_CHANGED));
  const ready = `${name} is ready to land`;
  return strays.length === 0 ? plain(ready) : bad(`${ready}, but ${strays.join("; ")}`);
}

function started(job: Job, state: RunState): Line | undefined {
  switch (job.kind) {
    case "plan":
      return quiet(`a planner looks at ${nameOf(state, job.task)} (turn ${job.turn})`);
    case "work":
      return quiet(
        `a worker starts on ${nameOf(state, job.task)}${job.attempt > 1 ? ` (attempt ${job.attempt})` : ""}`,
      );
    case "land":
      return quiet(
        `gating ${job.members.map((m) => nameOf(state, m.task)).join(" + ")} on top of ${short(state.target.tip)}`,
      );
    case "check":
      return quiet(`checking ${short(state.target.tip)}`);
  }
}

function landed(event: Event & { readonly type: "batch.landed" }, name: (id: TaskId) => string): Line {
  const flaky = event.flaky.length > 0 ? `; flaky: ${event.flaky.join(", ")}` : "";
  return good(
    `${event.members.map((m) => name(m.task)).join(" + ")} landed as ${short(event.commit)}${flaky}`,
  );
}

function turned(
  event: Event & { readonly type: "landing.turned" },
  name: (id: TaskId) => string,
): Line | undefined {
  const { phase } = event;
  switch (phase.is) {
    case "open":
      return undefined;
    case "again":
      return bad(`the gate is red (${phase.failures.join(", ")}): the same candidate is run once more`);
    case "base":
      return bad("red twice: is it the target itself?");
    case "hunt":
      return bad(
        `the target is green, so one of ${phase.guilty.map((m) => name(m.task)).join(", ")} is guilty`,
      );
  }
}
