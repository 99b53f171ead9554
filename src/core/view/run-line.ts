/** How is a run shown in a list of runs? */
import { runLabel, runWord } from "./labels.ts";
import { needsOf } from "./needs.ts";
import type { Standing } from "./standing.ts";

/** What was asked for, as it was recorded before anything was in the log. */
type Asked = { readonly run: string; readonly goal: string; readonly createdAt: number };
export type RunLine = Asked &
  Pick<Standing, "is"> & {
    readonly label: string;
    readonly done: number;
    readonly total: number;
    readonly needsYou: boolean;
    readonly isOver: boolean;
  };

export const runLine = ({ run, goal, createdAt }: Asked, view: Standing, isDriven: boolean): RunLine => ({
  run,
  goal,
  createdAt,
  is: view.is,
  label: runLabel(runWord(view, isDriven)),
  done: view.counts.done,
  total: view.counts.total,
  needsYou: needsOf(view, runWord(view, isDriven)).length > 0,
  isOver: view.times.closedAt !== undefined,
});
