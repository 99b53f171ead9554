/** Builds the whole view of a run, its state and its history, as plain values for every surface. */
import { forPeople } from "../failure.ts";
import type { GivenUpView } from "../log/event.ts";
import { isDeclined, nameOf, type RunState, taskOf, wallTime } from "../log/state.ts";
import { givenUpOf } from "../rules/given-up.ts";
import { type EndedAs, ROOT, type Task } from "../task.ts";
import { gatingIn, type TaskWord, wordOf } from "./rows.ts";
import { type Seen, type Standing, standingOf } from "./standing.ts";
import type { LandedStory, RetriedAttempt } from "./story.ts";
import { costsOf, type TallyView } from "./tally-view.ts";
import type { QuestionView } from "./view-people.ts";
import {
  type ConcernView,
  concernsOf,
  leftOf,
  type Named,
  type UndoneView,
  undoneOf,
} from "./view-reasons.ts";

export { isUngated } from "../log/target-health.ts";
export { findTask, gatingIn, rowOf, rowsOf, type TaskRow, treeOf } from "./rows.ts";
export { nothingSeen, type RunningView, type Seen, see } from "./standing.ts";
export type { GivenUpView, QuestionView, UndoneView };

/** Everything in it is JSON. */
export type RunView = Omit<Standing, "tally"> & {
  readonly landings: readonly LandingView[];
  /** The results of tasks that were to land nothing, or had nothing to change. */
  readonly answers: readonly AnswerView[];
  /** How many tasks are done and were split: they land through their children. */
  readonly split: number;
  readonly setbacks: readonly FailedAttemptView[];
  /** Settled, but not done. */
  readonly undone: readonly UndoneView[];
  /** Tasks that are not done and no longer asked for, with what their planner said about them. */
  readonly givenUp: readonly GivenUpView[];
  readonly concerns: readonly ConcernView[];
  /** What else the end of the run left, without what concerns a task. */
  readonly left: readonly string[];
  readonly flaky: readonly string[];
  readonly tally: TallyView;
};

export type LandingView = Omit<LandedStory, "members"> & {
  readonly members: readonly (Named & { readonly attempt: number })[];
};
type AnswerView = Named & { readonly ended: EndedAs; readonly text: string };
/** `end`: the present state of the task. */
export type FailedAttemptView = RetriedAttempt & { readonly name: string; readonly end: TaskWord };

export function viewOf(seen: Seen): RunView {
  const { state, story } = seen;
  const tasks = [...state.tasks.values()];
  const standing = standingOf(seen);
  return {
    ...standing,
    landings: story.landings.map((landed) => landingView(state, landed)),
    answers: tasks.flatMap((task) => answerView(state, task)),
    split: tasks.filter(
      ({ id, spec, state: { is } }) => is === "done" && id !== ROOT && spec.shape === "plan",
    ).length,
    setbacks: failedAttemptViews(state, story.failedAttempts),
    ...unfinishedOf(seen),
    tally: { ...standing.tally, costs: costsOf(state) },
  };
}

function answerView(run: RunState, { id, state }: Task): readonly AnswerView[] {
  if (state.is !== "done" || state.ended === undefined) return [];
  return [{ task: id, name: nameOf(run, id), ended: state.ended, text: state.handoff.summary }];
}

/** What is not done, or not done well. */
export const unfinishedOf = ({
  state,
  story,
}: Seen): Pick<RunView, "undone" | "givenUp" | "concerns" | "left" | "flaky"> => ({
  undone: undoneOf(
    state,
    [...state.tasks.values()].filter((task) => !isDeclined(state, task) && !task.spec.spawn),
  ),
  givenUp: givenUpOf(state),
  concerns: concernsOf(state, story),
  left: leftOf(state),
  flaky: [...state.flaky].flatMap(([name, times]) => (times > 0 ? [name] : [])),
});

export const landingView = (state: RunState, landed: LandedStory): LandingView => ({
  ...landed,
  at: wallTime(state, landed.at),
  members: landed.members.map((member) => ({ ...member, name: nameOf(state, member.task) })),
});

export function failedAttemptViews(
  state: RunState,
  failed: readonly RetriedAttempt[],
): readonly FailedAttemptView[] {
  const gating = gatingIn(state);
  return failed.map((one) => ({
    ...one,
    at: wallTime(state, one.at),
    failure: forPeople(one.failure),
    name: nameOf(state, one.task),
    end: wordOf(state, taskOf(state, one.task), gating),
  }));
}
