/** Reads from the logs of this repository's earlier runs what a forecast learns from. */

import { failure, messageOf } from "../core/failure.ts";
import type { Event } from "../core/log/event.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { RunHome, Runs } from "../ports/runs.ts";
import { type Learnt, NOTHING_LEARNT } from "./assumed.ts";
import { learnFrom } from "./learnt.ts";

/** Agents, gates and repositories change: what was long ago says little about the next run. */
const MAX_RUNS = 20;

/** Of the newest runs; one that cannot be read teaches nothing, and `skein status` says why. */
export async function learntHere(runs: Runs): Promise<Learnt> {
  const read: (readonly Event[])[] = [];
  for (const record of (await runs.list()).slice(0, MAX_RUNS)) {
    const home = hasFailed(record) ? record : await runs.open(record.run);
    const events = hasFailed(home) ? home : await tellingEvents(home);
    if (!hasFailed(events) && events.length > 0) read.push(events);
  }
  return read.length === 0 ? NOTHING_LEARNT : learnFrom(read);
}

async function tellingEvents({ log, record }: RunHome): Promise<readonly Event[] | Failed> {
  const events: Event[] = [];
  try {
    for await (const event of log.read(0)) if (isTelling(event)) events.push(event);
    return events;
  } catch (error) {
    return {
      failure: failure("repository", `the log of run ${record.run} cannot be read: ${messageOf(error)}`),
    };
  }
}

/** The others hold long texts, and say nothing of times. */
const isTelling = ({ type }: Event): boolean =>
  type === "job.started" ||
  type === "job.taken" ||
  type === "job.returned" ||
  type === "job.ended" ||
  type === "plan.accepted" ||
  type === "repair.planned" ||
  type === "task.retried" ||
  type === "task.failed";
