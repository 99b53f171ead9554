/** Says each event that matters to a person in one line. */

import { clockTime, day, duration, plural, short } from "../../text/words.ts";
import type { FailureKind } from "../failure.ts";
import { CHECKOUT_CHANGED, checkoutChanged, flaggedIn } from "../handoff.ts";
import type { Event, EventOf } from "../log/event.ts";
import { isVerified, nameOf, type RunState, taskOf, wallTime } from "../log/state.ts";
import { ROOT, type TaskId } from "../task.ts";
import { unreachable } from "../unreachable.ts";
import { leftoversLabel } from "./labels.ts";
import { bad, good, type Line, plain, quiet } from "./line.ts";
import { narrateCall } from "./narrate-call.ts";
import {
  baseAnswered,
  baseFailed,
  checked,
  failedAhead,
  landed,
  nextOf,
  passedAhead,
  probed,
  setupFailed,
  targetName,
  turned,
} from "./narrate-gate.ts";
import { capital, narrateJob, plannerOf } from "./narrate-job.ts";
import { machineText } from "./narrate-machine.ts";
import { duringOf } from "./story.ts";
import { leftOf, undoneOf, undoneText, unreachedTasks, whyFailed } from "./view-reasons.ts";

export type { Line };

/** `state`: the state after the event. `hasPlanner`: the run has a planner besides its workers. */
export function narrate(
  event: Event,
  state: RunState,
  { hasPlanner = true }: { readonly hasPlanner?: boolean } = {},
): Line | undefined {
  const name = (id: TaskId) => nameOf(state, id);
  switch (event.type) {
    case "run.opened":
      return plain(`Goal: ${event.request.goal}`);
    case "run.paused":
      return plain("Paused: no new work starts");
    case "run.resumed":
      return plain("Resumed after a pause");
    case "run.steered":
      return plain(`Message to the planner: ${event.message}`);
    case "run.cancel-requested":
      return bad(`Cancelling the run: ${event.reason}`);
    case "command.refused":
      return bad(`Refused ${event.command}: ${event.reason}`);
    case "job.started":
    case "job.taken":
    case "job.returned":
    case "job.ended":
    case "job.quiet":
    case "job.prepared":
      return narrateJob(event, state, hasPlanner);
    case "machine.cut-off":
    case "machine.changed":
      return machineText(event);
    case "checkout.changed":
      return bad(checkoutChanged(duringOf(event.job), event.places));
    case "clock.jumped":
      return bad(
        `The system clock jumped ${event.ms > 0 ? "forward" : "back"} by ${duration(Math.abs(event.ms))}: time limits ` +
          "follow the elapsed time, rate limit resets follow the new clock",
      );
    case "account.parked":
      return bad(
        `${event.account} is rate limited until ${untilText(event, state)} ` +
          `(for ${duration(event.until - event.at)}): ${event.failure.message}`,
      );
    case "account.refused":
      return bad(`The credentials of ${event.account} were refused: ${event.failure.message}`);
    case "account.woken":
      return plain(`${event.account} is available again`);
    case "plan.accepted":
      return event.into.length === 0
        ? undefined
        : plain(
            `New tasks${inTask(event.task, state)}: ${event.into.map((child) => child.spec.key).join(", ")}`,
          );
    case "plan.kept-whole":
      return hasPlanner
        ? plain(`${name(event.task)} is atomic: one worker does it`)
        : plain("No planner: one worker does the whole goal");
    case "plan.rejected":
      if (event.failure.kind === "agent-unreachable") return agentUnreachable(event, state);
      if (event.charge === "nothing" && !event.sentBack)
        return again(plannerOf(event.task, state), event.failure.kind);
      return bad(
        `Asking ${plannerOf(event.task, state)} again: ${event.failure.message}` +
          (event.failure.kind === "not-a-planner" ? nextOf(event.failure) : ""),
      );
    case "plan.ended":
      if (event.over !== "finished") return bad(event.over.message);
      return hasPlanner ? plain(`${capital(plannerOf(event.task, state))} has no further tasks`) : undefined;
    case "task.handed-off":
      return handedOff(event, name(event.task));
    case "task.retried":
      if (event.charge === "nothing") return again(name(event.task), event.failure.kind);
      if (event.failure.kind === "agent-unreachable") return agentUnreachable(event, state);
      return bad(`${name(event.task)}, attempt ${event.attempt}: ${event.failure.message}; retrying`);
    case "subtask.spawned":
    case "subtask.refused":
    case "question.asked":
    case "question.passed":
    case "question.answered":
      return narrateCall(event, state);
    case "plan.proposed":
      return bad(
        `The plan needs your approval: skein show ${state.request?.run}, then skein approve ${state.request?.run}`,
      );
    case "plan.approved":
      return good("Plan approved");
    case "landing.proposed": {
      const { run } = state.request!;
      return bad(
        `${name(event.task)} changes ${event.flags.join(", ")}: it needs your approval to land: ` +
          `skein show ${run} ${event.task}, then skein approve ${run} ${event.task}`,
      );
    }
    case "landing.approved":
      return good(`${name(event.task)} is approved to land`);
    case "landing.declined":
      return bad(`Declined to land ${name(event.task)}: ${event.reason}`);
    case "plan.declined":
      return bad(`Plan declined: ${event.reason}`);
    case "task.held-back":
      return quiet(`${name(event.task)} queued: ${name(event.behind)} is editing the same files`);
    case "task.done":
      return done(event, state);
    case "task.failed":
      return bad(
        undoneText({
          task: event.task,
          name: name(event.task),
          end: "failed",
          ...whyFailed(state, event.task, event.failure),
        }),
      );
    case "task.skipped":
      return bad(`${name(event.task)} skipped: ${name(event.because)} did not land`);
    case "task.cancel-requested":
      return bad(`Cancelling ${name(event.task)}, unless the landing in progress succeeds`);
    case "task.cancelled":
      return bad(`${name(event.task)} cancelled: ${event.reason}`);
    case "batch.landed":
      return landed(event, state);
    case "landing.lost":
      return bad(
        `The target no longer contains ${event.members.map((m) => name(m.task)).join(" + ")} (${event.commit.slice(0, 10)}): somebody else moved the branch`,
      );
    case "candidate.passed":
      return passedAhead(event, name);
    case "candidate.failed":
      return failedAhead(event, state);
    case "landing.turned":
      return turned(event, name);
    case "target.checked":
      return checked(event, state);
    case "base.failed":
      return baseFailed(event, state);
    case "base.answered":
      return baseAnswered(event);
    case "leftovers.found":
      return bad(leftoversLabel(event.leftovers));
    case "target.unchecked":
      return bad(`Could not check the target: ${event.failure.message}`);
    case "setup.failed":
      return setupFailed(event, state);
    case "setup.retried":
      return plain("Retrying the set-up");
    case "gate.probed":
      return probed(event);
    case "gate.unprobed":
      return bad(`Could not probe the gate: ${event.failure.message}`);
    case "target.moved":
      return bad(`Somebody else moved the target to ${short(event.tip)}`);
    case "base.moved":
      return plain(
        `The base branch moved to ${short(event.commit)}; skein deliver will merge it and run the gate first`,
      );
    case "budget.exhausted":
      return bad(
        event.all
          ? "Budget used up: no new work starts"
          : "Budget used up, except for landing finished work: no other work starts",
      );
    case "repair.planned":
      return event.into.length === 0
        ? undefined
        : bad(
            `Created ${event.into.map(({ spec }) => spec.key).join(", ")} to repair ${targetName(state.target.tip, state)}; ` +
              "landing is blocked until then",
          );
    case "repair.given-up":
      return bad(`Could not repair the target: ${event.failures.join(", ")}`);
    case "run.closed":
      return event.how === "done" ? good("The run is done") : bad(closedText(event, state));
    case "job.extended":
    case "account.worked":
    case "task.woken":
      return undefined;
    default:
      return unreachable(event);
  }
}

/** "failed", "is incomplete", "was cancelled": follows "the run". */
export const endWords = (how: string): string =>
  how === "failed" ? "failed" : how === "cancelled" ? "was cancelled" : `is ${how}`;

/** The failure was not the task's or planner's fault, so it uses up no attempt. */
const again = (who: string, why: FailureKind): Line =>
  quiet(`${capital(who)}: ${AGAIN[why] ?? "failed; retrying"} (not counted as an attempt)`);

const AGAIN: Readonly<Partial<Record<FailureKind, string>>> = {
  interrupted: "interrupted by a restart; retrying",
  quota: "rate limited; retrying after the reset",
  setup: "could not begin; retrying once that is fixed",
  authentication: "credentials refused; retrying once they work",
};

/** Shown once for all tasks that meet the same outage, and again whenever one of them has tried five times more. */
function agentUnreachable(
  { task, failure }: Pick<EventOf<"task.retried">, "task" | "failure">,
  state: RunState,
): Line | undefined {
  const waiting = unreachedTasks(state);
  const own = taskOf(state, task).tries.unreachable;
  const others = waiting.filter(({ id }) => id !== task);
  const isFirst = own <= 1 && others.length === 0;
  const isNews = own % SAID_EVERY === 0 && others.every(({ tries }) => tries.unreachable < own);
  if (!isFirst && !isNews) return undefined;
  const who = others.length === 0 ? nameOf(state, task) : plural(waiting.length, "task");
  const times = isFirst ? "" : ` (${own} tries so far)`;
  return bad(`Agent unreachable; retrying ${who}${times}: ${failure.message}`);
}

const SAID_EVERY = 5;

/** The goal is done only when the run closes as done, because fixes and checks of the target may follow. */
function done({ task, handoff, ended }: EventOf<"task.done">, state: RunState): Line | undefined {
  const name = nameOf(state, task);
  const { target, spent, planners } = state;
  const lacks = [...(planners.get(task)?.concerns.values() ?? [])].some(({ kind }) => kind === "undone");
  const isPart = handoff.status !== "complete" || lacks;
  if (ended && !isPart) return good(`${task === ROOT ? capital(name) : name} ${ENDED_WORDS[ended]}`);
  if (task !== ROOT) return isPart ? bad(`${name} is partly done`) : good(`${name} is done`);
  if (isPart || spent.exhausted || target.health === "red") return bad("The goal is partly done");
  return isVerified(state) || state.onlyAnswers ? good("The goal is done") : undefined;
}

const ENDED_WORDS = {
  answered: "is answered",
  unchanged: "had nothing to change: its success criterion passes without a change",
} as const;

const MAX_NAMES = 5;

/** How each task ended was shown before, so only the names of the undone ones follow. */
function closedText({ how }: EventOf<"run.closed">, state: RunState): string {
  const undone = undoneOf(state, state.tasks.values()).filter(
    ({ task, isOfParts, replacedBy }) => task !== ROOT && !isOfParts && replacedBy === undefined,
  );
  const some = undone.slice(0, MAX_NAMES).map(({ name }) => name);
  const more = undone.length > some.length ? ` and ${undone.length - some.length} more` : "";
  const left = [...(some.length > 0 ? [`not done: ${some.join(", ")}${more}`] : []), ...leftOf(state)];
  return `The run ${endWords(how)}${left.length > 0 ? `: ${left.join("; ")}` : ""}`;
}

/**
 * Changes in the user's checkout are shown at once, because they are the user's own files; the planner gets them as one
 * concern among others.
 */
function handedOff({ handoff }: EventOf<"task.handed-off">, name: string): Line {
  const strays = handoff.concerns.filter((concern) => concern.startsWith(CHECKOUT_CHANGED));
  const { flags = [] } = handoff;
  const ready = `${name} is ready to land`;
  const changes = flags.length > 0 ? [`it changes ${flags.join(", ")}`] : [];
  const but = [...changes, ...flaggedIn(handoff), ...strays];
  return but.length === 0 ? plain(ready) : bad(`${ready}, but ${but.join("; ")}`);
}

/** By the machine's clock, with the day if that is another day. */
function untilText({ until, at }: EventOf<"account.parked">, state: RunState): string {
  const [then, now] = [wallTime(state, until), wallTime(state, at)];
  return day(then) === day(now) ? clockTime(then) : `${day(then)} ${clockTime(then)}`;
}

const inTask = (task: TaskId, state: RunState): string => (task === ROOT ? "" : ` in ${nameOf(state, task)}`);
