/** How is what runs now shown: each job, what is waited for, and the target? */
import { healthWord } from "../../../core/view/labels.ts";
import type { RunningView, RunView } from "../../../core/view/view.ts";
import type { Wait } from "../../../core/view/view-wait.ts";
import { clockTime, duration, harmless, plural, short } from "../../../text/words.ts";
import { slowText } from "./narrate.ts";

/** More of them would push the log off a small screen. */
const MAX_RUNNING = 8;

/** `startedAt`: when this process took the run up. */
export function areaOf(
  view: RunView,
  { now, startedAt, wait }: { readonly now: number; readonly startedAt: number; readonly wait?: Wait },
): readonly string[] {
  const { running, counts, target, queue } = view;
  const shown = running.slice(0, MAX_RUNNING).map((job) => {
    const since = duration(Math.max(0, now - job.since)).padStart(12);
    return `${since}  ${harmless(runningText(job, target))}`;
  });
  const more = running.length - shown.length;
  const parts = [
    `${counts.done} of ${plural(counts.total, "task")} done`,
    ...(queue.length > 0 ? [`${queue.length} to land`] : []),
    ...(counts.waiting > 0 ? [`${counts.waiting} waiting`] : []),
    ...(counts.failed > 0 ? [`${counts.failed} failed`] : []),
    ...(counts.skipped > 0 ? [`${counts.skipped} skipped`] : []),
    `target ${targetText(target)}`,
    duration(now - startedAt),
  ];
  const waiting = wait === undefined ? [] : [`${" ".repeat(14)}${harmless(waitText(wait, now))}`];
  return [
    "",
    ...shown,
    ...waiting,
    ...(more > 0 ? [`${" ".repeat(14)}and ${more} more`] : []),
    `  ${parts.join(" · ")}`,
  ];
}

/** "waiting: a is retried in 30 s, at 12:00:30". */
export const waitText = ({ what, until }: Wait, now: number): string =>
  until === undefined
    ? `waiting: ${what}`
    : `waiting: ${what} in ${duration(until - now)}, at ${clockTime(until)}`;

export function runningText(running: RunningView, target: RunView["target"]): string {
  const { quietMs = 0, parkedUntil, doing } = running;
  if (parkedUntil !== undefined) return `${doneBy(running, target)}, rate limited`;
  if (doing !== undefined) return `${doneBy(running, target)}, ${slowText(quietMs, doing)}`;
  return quietMs > 0
    ? `${doneBy(running, target)}, no activity for ${duration(quietMs)}`
    : doneBy(running, target);
}

function doneBy({ kind, number, tasks, probe }: RunningView, target: RunView["target"]): string {
  const names = tasks.map(({ name }) => name).join(" + ");
  switch (kind) {
    case "plan":
      return `planning ${names}`;
    case "work":
      return `${names}${number > 1 ? ` (attempt ${number})` : ""}`;
    case "land":
      return `${target.isUngated ? "landing" : "running the gate:"} ${names}`;
    case "check":
      return probe ? "probing the gate" : `checking the target ${short(target.tip)}`;
  }
}

export const targetText = (target: RunView["target"]): string => `${short(target.tip)} ${healthWord(target)}`;
