/** Words the state of a run, with the process that drives it. */
import type { RunWord } from "../../../core/view/labels.ts";
import type { Owner } from "../../../ports/runs.ts";

/** "running in process 12", "paused, in process 12", "stopped". */
export const runText = (word: RunWord, owner: Owner | undefined): string =>
  owner === undefined ? word : `${word}${word === "running" ? "" : ","} in ${processOf(owner)}`;

/** "process 12", or "process 12 on build-3" if that is another machine. */
export const processOf = ({ pid, host }: Owner): string =>
  host === undefined ? `process ${pid}` : `process ${pid} on ${host}`;
