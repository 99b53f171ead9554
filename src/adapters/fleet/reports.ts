/** Passes workers' reports about refused accounts to the coordinator, and deletes each once the log has it. */
import * as z from "zod";
import type { Report } from "../../core/log/event.ts";
import { hasFailed } from "../../core/result.ts";
import { parseJson } from "../../text/json.ts";
import { orAbort } from "../or-abort.ts";
import type { Database } from "./database.ts";
import { ACCOUNT_FAILURE } from "./governor.ts";

const REPORT = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("account-refused"),
    account: z.string(),
    failure: ACCOUNT_FAILURE.extend({ kind: z.enum(["quota", "authentication"]) }),
  }),
  z.object({ type: z.literal("account-worked"), account: z.string() }),
]);

/** Runs until `signal`. `tell` resolves once the log has the report; it may never do so if the engine ends. */
export async function followAccounts(
  database: Database,
  run: string,
  tell: (report: Report) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  using nudges = database.nudges(`report:${run}`);
  for (; !signal.aborted; await nudges.next(signal)) {
    const rows = await database.ask<{ readonly id: string; readonly body: string }>(
      "SELECT id, body FROM $S.report WHERE run = $1 AND job IS NULL ORDER BY id",
      [run],
      { signal },
    );
    for (const { id, body } of hasFailed(rows) ? [] : rows) {
      const report = REPORT.safeParse(parseJson(body)).data as Report | undefined;
      if (report) await orAbort(tell(report), signal).catch(() => {}); // The signal is checked below.
      if (signal.aborted) return; // The next coordinator reports it again, which does no harm.
      await database.ask("DELETE FROM $S.report WHERE id = $1", [id]);
    }
  }
}
