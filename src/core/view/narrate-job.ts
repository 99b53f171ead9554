/** Says in a line what happens to a job: that it begins, is slow or quiet, or ends without an answer. */

import { duration, firstLine, short } from "../../text/words.ts";
import { type Job, taskOfJob } from "../job.ts";
import type { EventOf } from "../log/event.ts";
import { nameOf, type RunState, taskOf } from "../log/state.ts";
import { ROOT, type TaskId } from "../task.ts";
import { bad, type Line, plain, quiet } from "./line.ts";
import { goesOn } from "./narrate-call.ts";
import { targetName } from "./narrate-gate.ts";
import { isUngated } from "./view.ts";

type JobEvent = EventOf<
  "job.started" | "job.taken" | "job.returned" | "job.ended" | "job.quiet" | "job.prepared"
>;

/** Without a planner, the turns of the fixed planner are not shown. */
export function narrateJob(event: JobEvent, state: RunState, hasPlanner: boolean): Line | undefined {
  switch (event.type) {
    case "job.started":
      if (event.job.kind === "plan" && !hasPlanner) return undefined;
      return event.isOffered ? offered(event.job, state) : started(event.job, state);
    case "job.taken": {
      const { job } = state.running.get(event.job) ?? {};
      return job && (hasPlanner || job.kind !== "plan") ? taken(job, event.machine, state) : undefined;
    }
    case "job.returned":
      return quiet(`The machine of ${event.job} is gone; the job waits for another`);
    case "job.ended":
      return jobEnded(event);
    case "job.quiet":
      return quietText(event, state);
    case "job.prepared":
      return quiet(
        `${capital(preparedFor(event.job, state))}: its workspace is ready after ${duration(event.ms)}, ${event.doing}`,
      );
  }
}

function jobEnded({ job, how }: EventOf<"job.ended">): Line | undefined {
  const isAgents = job.startsWith("work:") || job.startsWith("plan:");
  const what = job.startsWith("land") ? "Landing" : "Check of the target";
  switch (how) {
    case "answered-late":
      return plain("A job answered after its time limit; nothing had replaced it, so its answer counts");
    case "expired":
      return bad(`${isAgents ? job : what} timed out`);
    // For a worker or a planner, the next event says it with the name of the task.
    case "interrupted":
      return isAgents ? undefined : quiet(`${what} interrupted; restarting it`);
    default:
      return undefined;
  }
}

/** "the gate runs npm test (for 5 min 00 s)"; without the duration if it has only begun. */
export const slowText = (ms: number, doing: string): string =>
  ms < 60_000 ? doing : `${doing} (for ${duration(ms)})`;

/** If several jobs are slow in the same step, it is said once, and its end is said when the last one is through. */
function slowLine({ job, ms, doing = "" }: EventOf<"job.quiet">, state: RunState): Line | undefined {
  const others = state.running.entries().filter(([id, other]) => id !== job && other.doing === doing);
  if ([...others].length > 0) return undefined;
  return ms > 0 ? bad(slowText(ms, doing)) : quiet(`No longer: ${doing}`);
}

function preparedFor(job: EventOf<"job.prepared">["job"], state: RunState): string {
  const task = taskOfJob(job);
  return task === undefined ? "the gate" : nameOf(state, task);
}

function quietText(event: EventOf<"job.quiet">, state: RunState): Line | undefined {
  const { job, ms } = event;
  if (event.doing !== undefined) return slowLine(event, state);
  const task = taskOfJob(job);
  const name = task === undefined ? job : nameOf(state, task);
  const who = job.startsWith("plan:") && task ? capital(plannerOf(task, state)) : name;
  return ms === 0 ? quiet(`${who} is active again`) : bad(`${who} has shown no activity for ${duration(ms)}`);
}

/** If a machine is ready, no line is made: it will take the job soon, and that is shown with its name. */
function offered(job: Job, state: RunState): Line | undefined {
  if (job.kind === "land" || job.kind === "check") return started(job, state);
  const isReady = state.machines.values().some((machine) => machine.state === "ready");
  return isReady ? undefined : quiet(`${capital(whoOf(job, state))} waits for a machine`);
}

function taken(job: Job, machine: string, state: RunState): Line | undefined {
  if (job.kind === "land" || job.kind === "check") return quiet(`${machine} runs the gate`);
  if (job.kind === "work" && !goesOn(job.task, state))
    return quiet(`${machine} starts ${workOf(job, state)}`);
  const line = started(job, state);
  return line && quiet(`${line.text} on ${machine}`);
}

function started(job: Job, state: RunState): Line | undefined {
  switch (job.kind) {
    case "plan":
      return quiet(`Planning${job.task === ROOT ? "" : ` ${nameOf(state, job.task)}`} (turn ${job.turn})`);
    case "work":
      return goesOn(job.task, state) ?? quiet(`Worker started on ${workOf(job, state)}`);
    case "land": {
      if (job.moves !== undefined) return undefined; // The landing itself is shown at once.
      const on = job.on?.length ?? 0;
      const ahead = on === 0 ? "" : on === 1 ? " and one candidate" : ` and ${on} candidates`;
      return quiet(
        `${isUngated(state) ? "Landing" : "Running the gate:"} ${job.members.map((m) => nameOf(state, m.task)).join(" + ")} on top of ${short(state.target.tip)}${ahead}`,
      );
    }
    case "check":
      return quiet(
        job.probe
          ? "Probing the gate: it should fail without your sources"
          : `${gateOnText(state)} ${targetName(state.target.tip, state)}`,
      );
  }
}

/**
 * Whether a run has a gate is known only after the first check of the target, so the first check is not called a gate
 * run.
 */
const gateOnText = (state: RunState): string => {
  if (isUngated(state)) return "Looking for conflict markers, as there is no gate, in";
  return state.target.report.commands.length > 0 ? "Running the gate on" : "Checking";
};

const workOf = ({ task, attempt }: Job & { readonly kind: "work" }, state: RunState): string =>
  nameOf(state, task) + (attempt > 1 ? ` (attempt ${attempt})` : titleOf(state, task));

/** Tasks of plans may be named by a number only, so the title is added. */
function titleOf(state: RunState, task: TaskId): string {
  const { key, description } = taskOf(state, task).spec;
  return /^\d+$/.test(key) ? `: ${firstLine(description, 70).replace(/\.$/, "")}` : "";
}

const whoOf = (job: Job & { readonly kind: "plan" | "work" }, state: RunState): string =>
  job.kind === "plan" ? plannerOf(job.task, state) : nameOf(state, job.task);

export const plannerOf = (task: TaskId, state: RunState): string =>
  task === ROOT ? "the planner" : `the planner of ${nameOf(state, task)}`;

/** Capitalises "the …"; a task's name is never changed. */
export const capital = (who: string): string => who.replace(/^the /, "The ");
