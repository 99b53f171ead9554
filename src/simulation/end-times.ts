/** When was each job's end heard? As the log says, but those that an engine heard together at one moment. */

import type { JobId } from "../core/job.ts";
import type { Event } from "../core/log/event.ts";

/** A busy engine hears of several ends at once, and decides after the last: their times are a few ms apart at most. */
const TOGETHER_MS = 5;

export function endTimes(events: readonly Event[]): ReadonlyMap<JobId, number> {
  const times = new Map<JobId, number>();
  let group: JobId[] = [];
  let [groupAt, before] = [0, Number.NEGATIVE_INFINITY];
  const close = () => {
    // What was decided in between was decided before the next was heard.
    const at = Math.max(groupAt, before + 1);
    for (const id of group) times.set(id, at);
    if (group.length > 0) before = at;
    group = [];
  };
  for (const event of events) {
    if (event.type === "job.started") close();
    if (event.type !== "job.ended" || event.how === "dropped") continue;
    if (event.at - groupAt > TOGETHER_MS) close();
    group.push(event.job);
    groupAt = event.at;
  }
  close();
  return times;
}
