/** Is what a run is kept in still there? Its log and its folder can be emptied or removed; what is left then is said. */
import { readdir } from "node:fs/promises";
import path from "node:path";
import { Wakes } from "../adapters/files/wakes.ts";
import { targetBranchOf } from "../core/brief.ts";
import { type Failure, failure } from "../core/failure.ts";
import type { RunHome } from "../ports/runs.ts";

/** A log that holds nothing, of a run that had begun: no job is begun before the log has the reason for it. */
export async function lostLog(home: RunHome, prefix: string): Promise<Failure | undefined> {
  const jobs = await readdir(path.join(home.folder, "jobs")).catch(() => []); // None was begun yet.
  return jobs.length === 0 ? undefined : emptyLog(home, prefix);
}

export const emptyLog = (home: RunHome, prefix: string): Failure =>
  failure(
    "repository",
    `the log of run ${home.record.run} is lost: there is no event in ${path.join(home.folder, "events.db")}, but the run had begun`,
    goOnWithout(home, prefix),
  );

/** What can be done without the log. */
export function goOnWithout({ record: { run } }: Pick<RunHome, "record">, prefix: string): string {
  const target = targetBranchOf(run, prefix);
  return (
    `restore events.db from a backup; or go on without it: what landed is still on ${target}, what was kept of ` +
    `attempts is in skein salvage, and skein run "<goal>" --base ${target} starts from there`
  );
}

/** Waits until somebody removes the folder of a run that goes on, or until `signal`. */
export async function folderGone(home: RunHome, signal: AbortSignal): Promise<void> {
  const wakes = new Wakes(home.folder);
  try {
    while (!signal.aborted && home.isThere()) await wakes.next(signal);
  } finally {
    wakes.close();
  }
}

/** Undefined if it is there. */
export function goneFolder(home: RunHome, prefix: string): Failure | undefined {
  if (home.isThere()) return undefined;
  const { run } = home.record;
  const target = targetBranchOf(run, prefix);
  return failure(
    "repository",
    `the folder of run ${run} was removed while it went on, with its log: ${home.folder}`,
    `what landed is still on ${target}, and what was handed in on ${prefix}${run}/task/…: ` +
      `skein run "<goal>" --base ${target} starts from there`,
  );
}
