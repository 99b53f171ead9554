/** Describes a run in a list of runs: its state, its duration, and whether its work was delivered. */
import { elapsedMs } from "./elapsed.ts";
import { runLabel, runWord, spentLabel } from "./labels.ts";
import { needsOf } from "./needs.ts";
import type { Standing } from "./standing.ts";

/** The run's record, which is written before its log begins. */
type Asked = { readonly run: string; readonly goal: string; readonly createdAt: number };
export type RunLine = Asked &
  Pick<Standing, "is"> & {
    readonly label: string;
    readonly done: number;
    readonly total: number;
    readonly needsYou: boolean;
    readonly isOver: boolean;
    readonly elapsedMs: number;
    /** Empty if no cost was reported. */
    readonly cost: string;
    /** Set for a run that is over, as git says now; `nothing`: nothing landed in it. */
    readonly delivered?: "yes" | "no" | "nothing";
  };

/** `now`: by the machine's clock. */
export const runLine = (
  { run, goal, createdAt }: Asked,
  view: Standing,
  { isDriven, now }: { readonly isDriven: boolean; readonly now: number },
): RunLine => ({
  run,
  goal,
  createdAt,
  is: view.is,
  label: runLabel(runWord(view, isDriven)),
  done: view.counts.done,
  total: view.counts.total,
  needsYou: needsOf(view, runWord(view, isDriven)).length > 0,
  isOver: view.times.closedAt !== undefined,
  elapsedMs: elapsedMs(view, { isDriven, now }),
  cost: view.spent.tokens > 0 || view.spent.microdollars > 0 ? spentLabel(view.spent) : "",
  ...(view.times.closedAt !== undefined && view.tally.gate.landings === 0 && { delivered: "nothing" }),
});
