/** How does a coordinator hear that an account was refused on another machine? By reports, which are gone once the log has them. */
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

/** Until `signal`. `tell` resolves once the log has what follows; it may never, if the engine ends. */
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
      if (report) await orAbort(tell(report), signal).catch(() => {}); // Looked at below.
      if (signal.aborted) return; // Told again to the next coordinator: twice is as good as once.
      await database.ask("DELETE FROM $S.report WHERE id = $1", [id]);
    }
  }
}
