/** How does a run stand, in one word? By what its log says, and by whether anybody drives it. */
import type { RunView } from "../../../core/view/view.ts";
import type { Owner } from "../../../ports/runs.ts";

export type RunWord = RunView["is"] | "running" | "stopped";

/** A run that nobody drives is stopped, whatever its log says was going on. */
export function runWord({ is }: Pick<RunView, "is">, owner: Owner | undefined): RunWord {
  if (!isOpen(is)) return is;
  if (owner === undefined) return "stopped";
  return is === "working" ? "running" : is;
}

/** Of a run that is not closed. */
const isOpen = (is: RunView["is"]): boolean =>
  is === "working" || is === "proposed" || is === "paused" || is === "cancelling";

/** "running in process 12", "paused, in process 12", "stopped". */
export const runText = (word: RunWord, owner: Owner | undefined): string =>
  owner === undefined ? word : `${word}${word === "running" ? "" : ","} in process ${owner.pid}`;
