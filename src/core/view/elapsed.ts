/** Measures how long a run has taken, without the time in which no process drove it. */
import type { Standing } from "./standing.ts";

/** Who looks at a run that may be going on, and when; `isDriven`: undefined: not known. */
type Look = { readonly isDriven: boolean | undefined; readonly now: number };
type Times = Pick<Standing, "times">;

/** Where its time ends: for an open run now while some process drives it, else its last event. */
export const endOf = ({ times: { closedAt, lastAt } }: Times, look?: Look): number =>
  closedAt ?? (look?.isDriven ? look.now : lastAt);

export const elapsedMs = (view: Times, look?: Look): number =>
  endOf(view, look) - view.times.openedAt - view.times.idleMs;
