/** How is a run shown in a list of runs? */
import { runLabel } from "./labels.ts";
import { needsOf } from "./needs.ts";
import type { RunView } from "./view.ts";

export type RunLine = Pick<RunView, "run" | "goal" | "is"> & {
  readonly createdAt: number;
  readonly label: string;
  readonly done: number;
  readonly total: number;
  readonly needsYou: boolean;
  readonly isOver: boolean;
};

export const runLine = (view: RunView, createdAt: number, isDriven: boolean): RunLine => ({
  run: view.run,
  goal: view.goal,
  is: view.is,
  createdAt,
  label: runLabel(view, isDriven),
  done: view.counts.done,
  total: view.counts.total,
  needsYou: needsOf(view).length > 0,
  isOver: view.times.closedAt !== undefined,
});
