/** How is an event told to a person? One line each for what matters; nothing for the rest. */
import type { Event, EventOf } from "../../core/event.ts";
import type { Failure, FailureKind } from "../../core/failure.ts";
import { wordsForPeople } from "../../core/for-people.ts";
import { failuresOf, type GateReport } from "../../core/gate.ts";
import { CHECKOUT_CHANGED, checkoutChanged } from "../../core/handoff.ts";
import { type Job, type Member, taskOfJob } from "../../core/job.ts";
import { DID_YOU_MEAN } from "../../core/plan-answer.ts";
import { isVerified, nameOf, type RunState, taskOf, wallTime } from "../../core/state.ts";
import { duringOf } from "../../core/story.ts";
import { isRepair, ROOT, type TaskId } from "../../core/task.ts";
import { isUngated } from "../../core/view.ts";
import { leftOf, reasonOf, undoneOf, undoneText, unreachedTasks } from "../../core/view-reasons.ts";
import { bad, good, type Line, plain, quiet } from "./line.ts";
import { goesOn, narrateCall } from "./narrate-call.ts";
import { clockTime, day, duration, firstLine, plural, short } from "./words.ts";

export type { Line };

/** `state` is the state after the event. `hasPlanner`: somebody else than the workers plans in this run. */
export function narrate(
  event: Event,
  state: RunState,
  { hasPlanner = true }: { readonly hasPlanner?: boolean } = {},
): Line | undefined {
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
      return event.job.kind === "plan" && !hasPlanner ? undefined : started(event.job, state);
    case "job.ended":
      return jobEnded(event);
    case "job.quiet":
      return quietText(event, state);
    case "checkout.changed":
      return bad(checkoutChanged(duringOf(event.job), event.places));
    case "clock.jumped":
      return bad(
        `the machine's clock jumped ${event.ms > 0 ? "forward" : "back"} by ${duration(Math.abs(event.ms))}: waits and ` +
          "limits go by the time that passed, resets of quotas by the new time",
      );
    case "account.parked":
      return bad(
        `the quota of ${event.account} is used up: whoever needs it waits until ${untilText(event, state)} ` +
          `(${duration(event.until - event.at)}): ${event.failure.message}`,
      );
    case "account.refused":
      return bad(`the credentials of ${event.account} were refused: ${event.failure.message}`);
    case "account.woken":
      return plain(`${event.account} is called again`);
    case "plan.accepted":
      return event.into.length === 0
        ? undefined
        : plain(`${name(event.task)} is split into ${event.into.map((child) => child.spec.key).join(", ")}`);
    case "plan.kept-whole":
      return hasPlanner
        ? plain(`${name(event.task)} is not worth splitting: one worker takes it`)
        : plain("one worker takes the whole goal");
    case "plan.rejected":
      if (event.failure.kind === "agent-unreachable") return unreachable(event, state);
      if (event.charge === "nothing" && !event.sentBack)
        return again(`the planner of ${name(event.task)}`, event.failure.kind);
      return bad(
        `the planner of ${name(event.task)} is asked again: ${wordsForPeople(event.reasons.join("; ") || event.failure.message)}` +
          (event.failure.next === DID_YOU_MEAN ? nextOf(event.failure) : ""),
      );
    case "plan.ended":
      if (event.over !== "finished") return bad(event.over.message);
      return hasPlanner ? plain(`the planner of ${name(event.task)} has nothing more to ask for`) : undefined;
    case "task.handed-off":
      return handedOff(event, name(event.task));
    case "task.retried":
      if (event.charge === "nothing") return again(name(event.task), event.failure.kind);
      if (event.failure.kind === "agent-unreachable") return unreachable(event, state);
      return bad(
        `${event.failure.kind === "gate-red" ? "found: " : ""}${name(event.task)}, attempt ${event.attempt}: ${event.failure.message}; it will be tried again`,
      );
    case "subtask.spawned":
    case "subtask.refused":
    case "question.asked":
    case "question.passed":
    case "question.answered":
      return narrateCall(event, state);
    case "plan.proposed":
      return bad(
        `the plan waits for your approval: skein show ${state.request?.run} has its tasks; then skein approve ${state.request?.run}`,
      );
    case "plan.approved":
      return good("the plan is approved");
    case "landing.proposed": {
      const { run } = state.request!;
      return bad(
        `${name(event.task)} changes ${event.flags.join(", ")}: it waits for your approval before it lands: ` +
          `skein show ${run} ${event.task}, then skein approve ${run} ${event.task}`,
      );
    }
    case "landing.approved":
      return good(`${name(event.task)} may land: it is approved`);
    case "landing.declined":
      return bad(`the landing of ${name(event.task)} is declined: ${event.reason}`);
    case "plan.declined":
      return bad(`the plan is declined: ${event.reason}`);
    case "task.held-back":
      return quiet(`${name(event.task)} waits: ${name(event.behind)} has its files`);
    case "task.done":
      return done(event, state);
    case "task.failed":
      return bad(
        undoneText({
          task: event.task,
          name: name(event.task),
          end: "failed",
          reason: reasonOf(state, event.task, event.failure),
        }),
      );
    case "task.skipped":
      return bad(`${name(event.task)} is skipped, because ${name(event.because)} did not land`);
    case "task.cancel-requested":
      return bad(
        `${name(event.task)} is to be cancelled, but is landing: it is cancelled unless it lands now`,
      );
    case "task.cancelled":
      return bad(`${name(event.task)} is cancelled: ${event.reason}`);
    case "batch.landed":
      return landed(event, state);
    case "landing.lost":
      return bad(
        `somebody took back the landing of ${event.members.map((m) => name(m.task)).join(" + ")} (${event.commit.slice(0, 10)}): it is not in the target any more`,
      );
    case "landing.turned":
      return turned(event, name);
    case "target.checked":
      return checked(event, state);
    case "target.unchecked":
      return bad(`the target could not be checked: ${event.failure.message}`);
    case "setup.failed":
      return bad(`nothing more is started: ${event.failure.message}`);
    case "setup.retried":
      return plain("the set-up is tried again");
    case "gate.probed":
      return probed(event);
    case "gate.unprobed":
      return bad(`the gate could not be probed: ${event.failure.message}`);
    case "target.moved":
      return bad(`somebody else has moved the target to ${short(event.tip)}`);
    case "base.moved":
      return plain(
        `the base branch has moved to ${short(event.commit)}; deliver will merge it and gate the result first`,
      );
    case "budget.exhausted":
      return bad(
        event.all
          ? "the budget is used up: nothing new is started"
          : "the budget is used up, but for what finished work needs to land: nothing else is started",
      );
    case "repair.planned":
      return event.into.length === 0
        ? undefined
        : bad(
            `${event.into.map(({ spec }) => `${spec.key} is to mend it (${spec.scope.join(", ")})`).join("; ")}: nothing else lands before that`,
          );
    case "repair.given-up":
      return bad(`the target could not be repaired: ${event.failures.join(", ")}`);
    case "run.closed":
      return event.how === "done" ? good("the run is done") : bad(closedText(event, state));
    default:
      return undefined;
  }
}

const nextOf = ({ next }: Failure): string => (next === undefined ? "" : `; ${next}`);

/** "failed", "is incomplete", "was cancelled": what follows "the run". */
export const endWords = (how: string): string =>
  how === "failed" ? "failed" : how === "cancelled" ? "was cancelled" : `is ${how}`;

function jobEnded({ job, how }: EventOf<"job.ended">): Line | undefined {
  const isAgents = job.startsWith("work:") || job.startsWith("plan:");
  const what = job.startsWith("land") ? "a landing" : "a look at the target";
  switch (how) {
    case "answered-late":
      return plain("a job that was given up has answered after all; nothing had replaced it, so it counts");
    case "expired":
      return bad(`${isAgents ? job : what} has not answered in time`);
    // Of a worker and a planner the next event says it, with the name of the task.
    case "interrupted":
      return isAgents ? undefined : quiet(`${what} was interrupted: it is started again`);
    default:
      return undefined;
  }
}

/** Through no fault of its own, and without being counted. */
const again = (who: string, why: FailureKind): Line => quiet(`${who} ${AGAIN[why] ?? AGAIN_ANYWAY}`);

const AGAIN: Readonly<Partial<Record<FailureKind, string>>> = {
  interrupted: "was interrupted by a restart: it is tried again",
  quota: "is tried again when the quota is back; this counts for nothing",
  setup: "is tried again once its workspace can be set up; this counts for nothing",
  authentication: "is tried again once the credentials are right; this counts for nothing",
};
const AGAIN_ANYWAY = "came to nothing: it is tried again";

/** Once for all who meet it, and then rarely: when one of them has tried five times more. */
function unreachable(
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
  const times = isFirst ? "" : ` (so far ${own} times)`;
  return bad(`the agent cannot be reached, ${who} will be tried again${times}: ${failure.message}`);
}

const SAID_EVERY = 5;

/** "the gate runs npm test (for 5 min 00 s)"; how long is left out where it has only begun. */
export const slowText = (ms: number, doing: string): string =>
  ms < 60_000 ? doing : `${doing} (for ${duration(ms)})`;

/** What many have met at once is said once, and that it is over when it is for all. */
function slowLine({ job, ms, doing = "" }: EventOf<"job.quiet">, state: RunState): Line | undefined {
  const others = state.running.entries().filter(([id, other]) => id !== job && other.doing === doing);
  if ([...others].length > 0) return undefined;
  return ms > 0 ? bad(slowText(ms, doing)) : quiet(`no longer so: ${doing}`);
}

function quietText(event: EventOf<"job.quiet">, state: RunState): Line | undefined {
  const { job, ms } = event;
  if (event.doing !== undefined) return slowLine(event, state);
  const task = taskOfJob(job);
  const name = task === undefined ? job : nameOf(state, task);
  const who = job.startsWith("plan:") ? `the planner of ${name}` : name;
  return ms === 0
    ? quiet(`${who} gives signs of life again`)
    : bad(`${who} has given no sign of life for ${duration(ms)}`);
}

/** The goal is done when the run closes as done, and not before: fixes and looks at the target may follow. */
function done({ task, handoff }: EventOf<"task.done">, state: RunState): Line | undefined {
  const name = nameOf(state, task);
  const { target, spent, planners } = state;
  const lacks = [...(planners.get(task)?.concerns.values() ?? [])].some(({ kind }) => kind === "undone");
  const isPart = handoff.status !== "complete" || lacks;
  if (task !== ROOT) return isPart ? bad(`${name} is partly done`) : good(`${name} is done`);
  if (isPart || spent.exhausted || target.health === "red") return bad("the goal is partly done");
  return isVerified(state) ? good("the goal is done") : undefined;
}

/** "suspect" is a word for those who wrote the rules. */
function checked({ tip, report }: EventOf<"target.checked">, state: RunState): Line | undefined {
  const { health } = state.target;
  const isBase = tip === state.request?.base;
  if (health === "green") return isBase ? idle(report) : undefined;
  const names = namesOf(failuresOf(report));
  const what = isBase ? "the base" : `the target ${short(tip)}`;
  if (health !== "red") return bad(`${what} is red once; looking again: ${names}`);
  const { round, givenUp } = state.repair;
  if (round > 0 || givenUp) return bad(`${what} is still red: ${names}`);
  return bad(`${what} is red: ${names}; fixes come first`);
}

/** Of what is unproven, the next event says why. */
function probed({ probed: found }: EventOf<"gate.probed">): Line | undefined {
  if (found.is === "unproven") return undefined;
  return found.is === "proved"
    ? quiet("the gate is red without your sources, as it should be")
    : bad(notProbedText(found));
}

export const notProbedText = ({ why }: { readonly why: string }): string =>
  `the gate was not probed (${why}): it could be green without looking at your code`;

/** Said once, of the base: what lands first is not held to anything. */
function idle({ commands }: GateReport): Line | undefined {
  const names = commands.filter(({ nothingYet }) => nothingYet).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return plain(
    `the gate has nothing to run yet (${names.join(", ")}); it counts from the first test that lands`,
  );
}

function namesOf(failures: readonly string[]): string {
  const some = failures.slice(0, MAX_FAILURES).join(", ");
  return failures.length > MAX_FAILURES ? `${some} and ${failures.length - MAX_FAILURES} more` : some;
}

const MAX_FAILURES = 5;

/** What every task came to was said before. */
function closedText({ how }: EventOf<"run.closed">, state: RunState): string {
  const undone = undoneOf(state, state.tasks.values()).filter(
    ({ task, reason, replacedBy }) =>
      task !== ROOT && !reason.startsWith("because ") && replacedBy === undefined,
  );
  const some = undone.slice(0, MAX_FAILURES).map(({ name }) => name);
  const more = undone.length > some.length ? ` and ${undone.length - some.length} more` : "";
  const left = [...(some.length > 0 ? [`not done: ${some.join(", ")}${more}`] : []), ...leftOf(state)];
  return `the run ${endWords(how)}${left.length > 0 ? `: ${left.join("; ")}` : ""}`;
}

/** What the planner hears of as one concern among others, the person whose files they are is told at once. */
function handedOff({ handoff }: EventOf<"task.handed-off">, name: string): Line {
  const strays = handoff.concerns.filter((concern) => concern.startsWith(CHECKOUT_CHANGED));
  const { flags = [] } = handoff;
  const ready = `${name} is ready to land`;
  const but = [...(flags.length > 0 ? [`it changes ${flags.join(", ")}`] : []), ...strays];
  return but.length === 0 ? plain(ready) : bad(`${ready}, but ${but.join("; ")}`);
}

function started(job: Job, state: RunState): Line | undefined {
  switch (job.kind) {
    case "plan":
      return quiet(`a planner looks at ${nameOf(state, job.task)} (turn ${job.turn})`);
    case "work":
      return (
        goesOn(job.task, state) ??
        quiet(
          `a worker starts on ${nameOf(state, job.task)}${job.attempt > 1 ? ` (attempt ${job.attempt})` : titleOf(state, job.task)}`,
        )
      );
    case "land":
      return quiet(
        `${isUngated(state) ? "landing" : "gating"} ${job.members.map((m) => nameOf(state, m.task)).join(" + ")} on top of ${short(state.target.tip)}`,
      );
    case "check":
      return quiet(
        job.probe
          ? "probing the gate: is it red without your sources?"
          : `checking ${short(state.target.tip)}`,
      );
  }
}

/** Plans number their tasks, and a number alone tells nobody what it is. */
function titleOf(state: RunState, task: TaskId): string {
  const { key, description } = taskOf(state, task).spec;
  return /^\d+$/.test(key) ? `: ${firstLine(description, 70).replace(/\.$/, "")}` : "";
}

function landed(event: EventOf<"batch.landed">, state: RunState): Line {
  const { members, commit, flaky, proof } = event;
  const isFix = proof === "green" && members.some(({ task }) => isRepair(taskOf(state, task)));
  const mended = isFix ? ": the target is mended" : "";
  const odd = flaky.length > 0 ? `; flaky, red and then green on the same tree: ${namesOf(flaky)}` : "";
  return good(
    `${members.map((m) => nameOf(state, m.task)).join(" + ")} landed as ${short(commit)}${mended}${odd}`,
  );
}

/** What comes after a red gate, step by step; who is found guilty is told with the new attempt. */
function turned(
  { phase, failure }: EventOf<"landing.turned">,
  name: (id: TaskId) => string,
): Line | undefined {
  if (failure) return bad(`a landing failed, and is tried again: ${failure.message}${nextOf(failure)}`);
  const all = (members: readonly Member[]) => members.map((m) => name(m.task)).join(", ");
  switch (phase.is) {
    case "open":
      return undefined;
    case "again": {
      const { members, failures, run } = phase;
      const who = members.length === 1 ? all(members) : `${members.length} tasks`;
      const what = run > 2 ? "the gate is red again" : "the gate is red"; // For another reason, or a known flaky test.
      return bad(`${what} with ${who}; once more, it may be a flaky test: ${namesOf(failures)}`);
    }
    case "base":
      return bad("red again; is the target itself red?");
    case "hunt": {
      const { guilty, next, reds, isEarly } = phase;
      if (isEarly) return bad(`red again, in files that only ${all(next)} changed: tried without the others`);
      if (reds > 0) return bad(`red with ${all(next)}; once more, to be sure`);
      if (guilty.length === 1) return bad(`the others are green: only ${all(guilty)} is left`);
      return bad(`it is one of these ${guilty.length}: ${all(guilty)}`);
    }
  }
}

/** By the machine's clock; with its day, if that is another one. */
function untilText({ until, at }: EventOf<"account.parked">, state: RunState): string {
  const [then, now] = [wallTime(state, until), wallTime(state, at)];
  return day(then) === day(now) ? clockTime(then) : `${day(then)} ${clockTime(then)}`;
}
