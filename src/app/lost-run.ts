/** Builds refusals for a run whose log or folder is gone, with what a person can do; what landed is still in git. */
import { targetBranchOf } from "../core/brief.ts";
import { type Failure, failure } from "../core/failure.ts";
import type { RunHome, RunRecord } from "../ports/runs.ts";

/** The prefix of a run's branches, by its record, not by today's configuration. */
export function prefixOf({ settings }: RunRecord): string {
  const { branchPrefix } = Object(settings) as { branchPrefix?: unknown };
  return typeof branchPrefix === "string" ? branchPrefix : "skein/";
}

export const targetOf = (record: RunRecord): string => targetBranchOf(record.run, prefixOf(record));

/** The log has no events, but the run had begun: no job begins before the log has the reason for it. */
export const logIsLost = ({ record, folder }: RunHome): Failure =>
  failure(
    "repository",
    `the log of run ${record.run} is lost: there is no event in ${folder}/events.db, but the run had begun`,
    goOnWithoutLog(record),
  );

export function goOnWithoutLog(record: RunRecord): string {
  const target = targetOf(record);
  return (
    `restore events.db from a backup; or continue without it: what landed is still on ${target}, what was kept of ` +
    `attempts is in skein salvage, and skein run "<goal>" --base ${target} starts from there`
  );
}

/** Undefined if the folder still exists. */
export function folderIsLost(home: RunHome): Failure | undefined {
  if (home.isThere()) return undefined;
  const { record, folder } = home;
  const target = targetOf(record);
  return failure(
    "repository",
    `the folder of run ${record.run} was removed during the run, with its log: ${folder}`,
    `what landed is still on ${target}, and what was handed in on ${prefixOf(record)}${record.run}/task/…: ` +
      `skein run "<goal>" --base ${target} starts from there`,
  );
}
