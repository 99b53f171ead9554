/** Tells a run's coordinator when a machine joins the fleet, leaves it, or falls silent. */
import { setTimeout as pause } from "node:timers/promises";
import type { Report } from "../../core/log/event.ts";
import { hasFailed } from "../../core/result.ts";
import type { Database } from "./database.ts";
import { type FleetWorker, SILENT_MS } from "./workers.ts";

/** Joining and leaving is notified at once; only silence has to be polled for. */
const LOOK_MS = 5_000;
/** Groups machines that change at about the same time, and limits how often one that changes often is reported. */
const GATHER_MS = 1_000;

type MachineRow = Pick<FleetWorker, "name" | "labels" | "capacity" | "state"> & {
  readonly isSilent: boolean;
};

/** Runs until `signal`. `tell` resolves once the log has the report. */
export async function followMachines(
  database: Database,
  tell: (report: Report) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const told = new Map<string, string>();
  using nudges = database.nudges("workers");
  const next = async () => {
    await pause(GATHER_MS, undefined, { signal }).catch(() => {}); // The loop checks the signal.
    await nudges.next(signal, LOOK_MS);
  };
  for (; !signal.aborted; await next()) {
    const rows = await database.ask<MachineRow>(
      `SELECT name, labels, capacity, state, seen_at < now() - $1 * interval '1 ms' AS "isSilent"
       FROM $S.worker ORDER BY name`,
      [SILENT_MS],
      { signal },
    );
    if (hasFailed(rows)) continue;
    for (const { name: machine, labels, capacity, ...row } of rows) {
      const state = row.isSilent && row.state !== "gone" ? "silent" : row.state;
      const report: Report = { type: "machine", machine, state, capacity, labels };
      if (told.get(machine) === JSON.stringify(report)) continue;
      told.set(machine, JSON.stringify(report));
      void tell(report);
    }
  }
}
