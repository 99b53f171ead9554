/** Measures how long a run has taken, without the time in which no process drove it. */
import type { Standing } from "./standing.ts";

/** `now`: when the run is looked at. `isDriven`: whether a process drives it; undefined if unknown. */
type Look = { readonly isDriven: boolean | undefined; readonly now: number };
type Times = Pick<Standing, "times">;

/** For a run that a process drives: now. Otherwise the end of the run, or its last event. */
export const endOf = ({ times: { closedAt, lastAt } }: Times, look?: Look): number =>
  closedAt ?? (look?.isDriven ? look.now : lastAt);

export const elapsedMs = (view: Times, look?: Look): number =>
  endOf(view, look) - view.times.openedAt - view.times.idleMs;
