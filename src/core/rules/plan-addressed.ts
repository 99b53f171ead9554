/** What does a planner's answer say about its open concerns, and is it enough? */

import { Lines } from "../../text/lines.ts";
import type { Addressing } from "../answers/plan-answer.ts";
import { cut } from "../handoff.ts";
import type { Addressed } from "../log/event.ts";
import { type Concern, type Planner, type RunState, taskOf } from "../log/state.ts";
import type { TaskId } from "../task.ts";
import { NO_REASON } from "./given-up.ts";

export type CheckedAddressed = {
  readonly addressed: readonly Addressed[];
  /** Why the answer cannot be used. */
  readonly reasons: readonly string[];
  /** Concerns whose id alone was given for the first time, and what is asked about them. */
  readonly sentBack: readonly string[];
  readonly questions: readonly string[];
  readonly notes: readonly string[];
};

/**
 * What was only said is dealt with by naming it. What was not done needs the task that took its place, or a reason; an
 * id alone is sent back once, and counts as given up without a reason if it comes again. `made`: the tasks of this
 * answer.
 */
export function checkAddressed(
  state: RunState,
  {
    planner,
    answered,
    made,
  }: {
    readonly planner: Planner | undefined;
    readonly answered: readonly Addressing[];
    readonly made: ReadonlyMap<string, TaskId>;
  },
): CheckedAddressed {
  const [reasons, questions, notes] = [new Lines(), new Lines(), new Lines()];
  const addressed: Addressed[] = [];
  const sentBack: string[] = [];
  for (const { concern: id, by: key, because } of answered) {
    const concern = planner?.concerns.get(id);
    const reason = because === undefined ? {} : { because };
    if (!planner || !concern)
      notes.add(`"${id}" is not an open concern; nothing was marked as addressed by it`);
    else if (concern.kind === "said") addressed.push({ concern: id, ...reason });
    else if (key !== undefined) {
      const by = made.get(key) ?? planner.keys.get(key);
      const why = by === undefined ? "there is no such task" : unfit(state, concern, by);
      if (why !== undefined) reasons.add(`"${key}" cannot have taken the place of ${id}: ${why}`);
      else addressed.push({ concern: id, by: by!, ...reason });
    } else if (because !== undefined) addressed.push({ concern: id, because });
    else if (concern.isSentBack) addressed.push({ concern: id, because: NO_REASON });
    else {
      sentBack.push(id);
      questions.add(question(concern));
    }
  }
  return { addressed, sentBack, reasons: reasons.all(), questions: questions.all(), notes: notes.all() };
}

const question = ({ id, text }: Concern): string =>
  `${id} (${cut(text, 120)}) is about something that was not done: say what took its place, ` +
  `{"concern": "${id}", "by": "id of your task"}, or why it is given up, {"concern": "${id}", "because": "…"}`;

/** Why `by` cannot have taken the place; undefined if it can. So whatever takes a place is newer: there is no circle. */
function unfit(state: RunState, { from, plannedBefore }: Concern, by: TaskId): string | undefined {
  if (by === from) return "it is the task itself";
  if (ordinalOf(by) <= plannedBefore)
    return "that task was given before this was known; give a new one, or a reason";
  if (!state.tasks.has(by)) return undefined; // A task of this very answer.
  const { is } = taskOf(state, by).state;
  const isUndone = is === "failed" || is === "skipped" || is === "cancelled";
  return isUndone ? `it ${is === "failed" ? "failed" : `was ${is}`} itself` : undefined;
}

/** "t.2.7": 7. */
const ordinalOf = (id: TaskId): number => Number(id.slice(id.lastIndexOf(".") + 1));
