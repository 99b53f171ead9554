/** Says why commands of the repository would not be confined as required, before an agent is paid. */
import type { Config } from "../config/schema.ts";
import type { Failure } from "../core/failure.ts";
import { type Failed, hasFailed } from "../core/result.ts";

/** `hasCriteria`: tasks of the run's plan are checked by commands, besides the gate. */
export async function unconfined(
  { sandbox, gateSandbox }: Pick<Config, "sandbox" | "gateSandbox">,
  hasCriteria: boolean,
  open: () => Promise<object | Failed>,
): Promise<Failure | undefined> {
  if (sandbox !== "required" || !(gateSandbox === "auto" || hasCriteria)) return undefined;
  const opened = await open();
  return hasFailed(opened) ? opened.failure : undefined;
}
