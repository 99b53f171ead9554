/** Facts about a task for all views: its files, jobs, change, landing, failed attempts, and why it was given up. */
import { forPeople } from "../failure.ts";
import { EVERYTHING } from "../scope.ts";
import type { Task, TaskId, TaskSpec } from "../task.ts";
import type { JobSpan } from "./job-spans.ts";
import { type RunWord, stateLabel } from "./labels.ts";
import type { TaskRow } from "./rows.ts";
import {
  type FailedAttemptView,
  failedAttemptViews,
  type LandingView,
  landingView,
  type RunView,
  type Seen,
} from "./view.ts";

/** The files that the task may change, or "any file" if its scope names none. */
export const scopeLabel = ({ scope, terms }: Pick<TaskSpec, "scope" | "terms">): string =>
  terms?.loose || scope.length === 0 || scope.includes(EVERYTHING) ? "any file" : scope.join(", ");

/** The jobs that worked on the task or planned it, in the order of their starts. */
export const jobsOf = ({ story }: Seen, id: TaskId): readonly JobSpan[] =>
  story.spans.all.filter(({ kind, tasks }) => (kind === "work" || kind === "plan") && tasks[0] === id);

/** The commits between which the task's diff is; undefined before its worker has handed anything off. */
export function changeOf({ base, state }: Task): { readonly from: string; readonly to: string } | undefined {
  const to = "handoff" in state ? state.handoff?.commit : undefined;
  return to === undefined || base === "" ? undefined : { from: base, to };
}

/** The last landing: one that was taken off the target is made again. */
export function landingOf({ state, story }: Seen, id: TaskId): LandingView | undefined {
  const landed = story.landings.findLast(({ members }) => members.some(({ task }) => task === id));
  return landed && landingView(state, landed);
}

/** Without interruptions by a stop or a restart, which use up no attempt. */
export const failedAttempts = ({ setbacks }: Pick<RunView, "setbacks">): readonly FailedAttemptView[] =>
  setbacks.filter(({ charge }) => charge !== "nothing");

/** The failed attempts of one task. */
export const failedAttemptsOf = ({ state, story }: Seen, id: TaskId): readonly FailedAttemptView[] =>
  failedAttempts({
    setbacks: failedAttemptViews(
      state,
      story.failedAttempts.filter(({ task }) => task === id),
    ),
  });

/** "done, attempt 2; attempt 1 failed: breaks the gate", for views with room for it. */
export function stateAndWhy(seen: Seen, row: TaskRow, run: RunWord): string {
  const state = stateLabel(row, run);
  const last = lastFailure(seen, row);
  const why = last && forPeople(last.failure).message.split(/[:;]/, 1)[0];
  return last ? `${state}; attempt ${last.attempt} failed: ${why}` : state;
}

/** The last failure of a task that was attempted again. */
export const lastFailure = ({ story }: Seen, { task: id, attempts }: Pick<TaskRow, "task" | "attempts">) =>
  attempts < 2
    ? undefined
    : story.failedAttempts.findLast(
        ({ task, of, charge }) => task === id && of === "work" && charge !== "nothing",
      );

/** Empty once the run is closed, because then they are part of what is left. */
export const givenUpTexts = ({ givenUp, times }: Pick<RunView, "givenUp" | "times">): readonly string[] =>
  times.closedAt === undefined ? givenUp.map(({ name, reason }) => `${name}: ${reason}`) : [];
