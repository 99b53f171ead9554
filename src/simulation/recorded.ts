/** Reads the logs of this repository's earlier runs for a forecast to learn from. */

import { failure, messageOf } from "../core/failure.ts";
import type { Event } from "../core/log/event.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { RunHome, Runs } from "../ports/runs.ts";
import { type Learnt, NOTHING_LEARNT } from "./assumed.ts";
import { learnFrom } from "./learnt.ts";

/** Agents, gates and repositories change, so older runs say little about the next one. */
const MAX_RUNS = 20;

/** Reads the newest runs. A run that cannot be read is left out, and `skein status` says why. */
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

/** Events of other types hold long texts, and say nothing about durations. */
const isTelling = ({ type }: Event): boolean =>
  type === "job.started" ||
  type === "job.taken" ||
  type === "job.returned" ||
  type === "job.ended" ||
  type === "plan.accepted" ||
  type === "repair.planned" ||
  type === "task.retried" ||
  type === "task.failed";
