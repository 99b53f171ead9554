/** Reads the logs of runs, and selects runs by what their logs say. */
import { failure, messageOf } from "../core/failure.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import { Fold } from "../engine/fold.ts";
import type { Owner, RunHome, Runs } from "../ports/runs.ts";
import { goOnWithoutLog, logIsLost } from "./lost-run.ts";
import { type Refused, refused } from "./refused.ts";

/** A run, and its log as read so far. */
export type SeenRun = { readonly home: RunHome; readonly seen: Fold };

export async function seeRun(home: RunHome): Promise<SeenRun | Refused> {
  const seen = new Fold();
  try {
    for await (const event of home.log.read(0)) seen.take(event);
  } catch (error) {
    const why = messageOf(error);
    const next = /newer Skein/.test(why) ? undefined : goOnWithoutLog(home.record);
    const message = `cannot read run ${home.record.run}: ${why}`;
    return refused("repository", failure("repository", message, next));
  }
  const isLost = seen.events === 0 && (await home.hasJobs());
  return isLost ? refused("repository", logIsLost(home)) : { home, seen };
}

/** The selected runs, newest first. Unreadable ones are left out; `skein status` says why they are unreadable. */
export async function runsWhere(
  runs: Runs,
  isWanted: (run: SeenRun) => boolean | Promise<boolean> = () => true,
): Promise<readonly SeenRun[]> {
  const found: SeenRun[] = [];
  for (const record of await runs.list()) {
    const home: RunHome | Failed = hasFailed(record) ? record : await runs.open(record.run);
    const run = hasFailed(home) ? home : await seeRun(home);
    if (!hasFailed(run) && (await isWanted(run))) found.push(run);
  }
  return found;
}

/** The refusal because another process drives the run. */
export const underWay = (run: string, { pid, host }: Owner): Refused =>
  refused(
    "run",
    failure(
      "repository",
      `run ${run} is running in process ${pid}${host === undefined ? "" : ` on ${host}`}; nothing was changed`,
      `watch it with skein logs ${run} -f, or end it with skein stop ${run}`,
    ),
  );
