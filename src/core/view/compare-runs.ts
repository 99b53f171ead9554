/** Compares two runs: their figures side by side, and the tasks that ended differently. */
import { type RunState, taskOf } from "../log/state.ts";
import type { Figures } from "./figures.ts";
import type { RunReport } from "./report.ts";
import { rowsOf } from "./view.ts";

export type Comparison = {
  readonly isEqual: boolean;
  readonly figures: readonly FigureChange[];
  /** By name; null: that run has no such task. */
  readonly tasks: readonly {
    readonly name: string;
    readonly before: string | null;
    readonly after: string | null;
  }[];
};

/** `change`: the second value minus the first; null if one of them is unknown. */
export type FigureChange = {
  readonly figure: keyof Figures;
  readonly before: number | null;
  readonly after: number | null;
  readonly change: number | null;
};

type Side = { readonly state: RunState; readonly report: RunReport };

export function compareRuns(one: Side, other: Side): Comparison {
  const names = Object.keys(one.report.figures) as (keyof Figures)[];
  const figures = names.map((figure): FigureChange => {
    const [before, after] = [one.report.figures[figure], other.report.figures[figure]];
    return { figure, before, after, change: before === null || after === null ? null : after - before };
  });
  const [was, is] = [endsOf(one.state), endsOf(other.state)];
  const tasks = [...new Set([...was.keys(), ...is.keys()])]
    .map((name) => ({ name, before: was.get(name) ?? null, after: is.get(name) ?? null }))
    .filter(({ before, after }) => before !== after);
  const isEqual = tasks.length === 0 && figures.every(({ before, after }) => before === after);
  return { isEqual, figures, tasks };
}

/** The ends of all tasks, without the goal, and without subtasks, which each worker chooses for itself. */
const endsOf = (state: RunState): ReadonlyMap<string, string> =>
  new Map(
    rowsOf(state)
      .filter(({ task, depth }) => depth > 0 && !taskOf(state, task).spec.spawn)
      .map(({ name, word }) => [name, word]),
  );
