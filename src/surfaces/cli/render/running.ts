/** Words what runs now: a job, a wait, and the target. */
import { healthWord, placeLabel } from "../../../core/view/labels.ts";
import { slowText } from "../../../core/view/narrate-job.ts";
import type { RunningView, RunView } from "../../../core/view/view.ts";
import type { Wait } from "../../../core/view/view-wait.ts";
import { clockTime, duration, short } from "../../../text/words.ts";

/** "waiting: a is retried in 30 s, at 12:00:30". */
export const waitText = ({ what, until }: Wait, now: number): string =>
  until === undefined
    ? `waiting: ${what}`
    : `waiting: ${what} in ${duration(until - now)}, at ${clockTime(until)}`;

export function runningText(running: RunningView, target: RunView["target"]): string {
  const { quietMs = 0, parkedUntil, doing } = running;
  const what = doneBy(running, target) + placeLabel(running);
  if (parkedUntil !== undefined) return `${what}, rate limited`;
  if (doing !== undefined) return `${what}, ${slowText(quietMs, doing)}`;
  return quietMs > 0 ? `${what}, no activity for ${duration(quietMs)}` : what;
}

function doneBy(
  { kind, number, tasks, probe, on, isMoving }: RunningView,
  target: RunView["target"],
): string {
  const names = tasks.map(({ name }) => name).join(" + ");
  switch (kind) {
    case "plan":
      return `planning ${names}`;
    case "work":
      return `${names}${number > 1 ? ` (attempt ${number})` : ""}`;
    case "land":
      return `${target.isUngated || isMoving ? "landing" : "running the gate:"} ${names}${on ? `, on top of ${on} more` : ""}`;
    case "check":
      return probe ? "probing the gate" : `checking the target ${short(target.tip)}`;
  }
}

export const targetText = (target: RunView["target"]): string => `${short(target.tip)} ${healthWord(target)}`;
