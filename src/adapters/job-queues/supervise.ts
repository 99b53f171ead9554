/** Has pg-boss take jobs from silent machines every second, but only while heartbeats can arrive. */
import { setTimeout as pause } from "node:timers/promises";
import type { PgBoss } from "pg-boss";
import { hasFailed } from "../../core/result.ts";
import type { Database } from "../fleet/database.ts";
import { Hearing } from "./hearing.ts";

const EVERY_MS = 1_000;

/** Runs until `signal`. */
export async function superviseJobs(
  database: Database,
  boss: () => Promise<PgBoss>,
  signal: AbortSignal,
): Promise<void> {
  const hearing = new Hearing();
  while (!signal.aborted) {
    const isThere = !hasFailed(await database.ask("SELECT 1", [], { patienceMs: 0 }));
    if (hearing.isSureAt(performance.now(), isThere))
      await boss()
        .then((opened) => opened.supervise())
        .catch(() => {}); // It is done again in a second.
    await pause(EVERY_MS, undefined, { signal }).catch(() => {}); // The loop checks the signal.
  }
}
