/** Lists the runs of the gate and of success criteria, with the names under which their output is kept. */

import { clockTime, precise } from "../../text/words.ts";
import { type JobId, jobId } from "../job.ts";
import { nameOf, type RunState, taskOf, wallTime } from "../log/state.ts";
import type { TaskId } from "../task.ts";
import { isGates, type JobSpan } from "./job-spans.ts";
import type { Seen } from "./view.ts";
import type { Named } from "./view-reasons.ts";

export type GateRunView = {
  /**
   * The name of the kept output. In runs of an older Skein only the last gate run of a job was kept, under the job's
   * name.
   */
  readonly output: string;
  readonly job: JobId;
  /** A probe runs the gate on the target without its sources, where the gate must fail. */
  readonly of: "landing" | "check" | "probe" | "criterion";
  /** Of a landing, all tasks of the candidate; of a criterion, its task; of a check, none. */
  readonly members: readonly (Named & { readonly attempt: number })[];
  /** When its job began, in ms by the machine's clock. */
  readonly at: number;
  /** Undefined if not recorded: it is running, it was stopped, or an older Skein ran it. */
  readonly ms?: number;
  readonly green?: boolean;
  readonly isRunning?: true;
};

/** In the order of their starts. A landing that only moves the target runs no gate. */
export const gateRunsOf = ({ state, story }: Seen): readonly GateRunView[] => {
  return story.spans.all.flatMap((span) => {
    if (!isGates(span)) return [];
    const members = span.members.map((one) => ({ ...one, name: nameOf(state, one.task) }));
    const of = span.isProbe ? "probe" : span.kind === "check" ? "check" : "landing";
    return runsOfSpan(state, span, { of, members });
  });
};

/** The gate runs about a task: its criterion, and the candidates that it was part of. */
export function gateRunsOfTask(seen: Seen, task: TaskId, attempt?: number): readonly GateRunView[] {
  const isIts = (run: GateRunView) =>
    run.members.some((one) => one.task === task && (attempt === undefined || one.attempt === attempt));
  return [...criteriaOf(seen, task), ...gateRunsOf(seen)].filter(isIts).toSorted((a, b) => a.at - b.at);
}

/** "14:02:11 failed in 2.3 s: gate for parser (attempt 2), lexer, land#3". */
export function gateRunLabel({ of, job, members, at, ms, green, isRunning }: GateRunView): string {
  const names = namesLabel(
    members.map(({ name, attempt }) => (attempt > 1 ? `${name} (attempt ${attempt})` : name)),
  );
  const what = {
    check: "gate on the target",
    probe: "the gate itself (probe)",
    criterion: `criterion of ${names}`,
    landing: `gate for ${names}`,
  }[of];
  return `${clockTime(at)} ${gateRunEnd({ green, isRunning })}${ms === undefined ? "" : ` in ${precise(ms)}`}: ${what}, ${job}`;
}

type RunEnd = { readonly green: boolean | undefined; readonly isRunning: true | undefined };

export const gateRunEnd = ({ green, isRunning }: RunEnd): string =>
  green === undefined ? (isRunning ? "running" : "ended") : green ? "passed" : "failed";

const MAX_NAMES = 3;

/** "a, b, c + 4 more". */
export const namesLabel = (names: readonly string[]): string =>
  names.length > MAX_NAMES
    ? `${names.slice(0, MAX_NAMES).join(", ")} + ${names.length - MAX_NAMES} more`
    : names.join(", ");

/** The name under which the output of a worker's criterion is kept. */
export const criterionOutput = (job: JobId): string => `${job}.criterion`;
/** The name under which the output of a probe is kept. */
export const probeOutput = (job: JobId): string => `${job}.probe`;

function criteriaOf({ state, story }: Seen, task: TaskId): readonly GateRunView[] {
  if (taskOf(state, task).spec.terms?.criterion === undefined) return [];
  const attempts = story.spans.all.filter(({ kind, tasks }) => kind === "work" && tasks[0] === task);
  return attempts.map(({ number, from }) => {
    const job = jobId({ kind: "work", task, attempt: number });
    const members = [{ task, attempt: number, name: nameOf(state, task) }];
    return { output: criterionOutput(job), job, of: "criterion", members, at: wallTime(state, from) };
  });
}

function runsOfSpan(
  state: RunState,
  { job, from, to, gates }: JobSpan,
  about: Pick<GateRunView, "of" | "members">,
): readonly GateRunView[] {
  const at = wallTime(state, from);
  if (gates) return gates.map((run) => ({ ...run, job, ...about, at }));
  const output = about.of === "probe" ? probeOutput(job) : job;
  return [{ output, job, ...about, at, ...(to === undefined && { isRunning: true as const }) }];
}
