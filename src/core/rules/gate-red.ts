/** The failure of an attempt that was refused because the gate failed. */
import { type Failure, failure } from "../failure.ts";

type GateSaid = { readonly detail?: string | undefined; readonly stale?: string | undefined };

/** With what the gate wrote, so that the next attempt need not guess. What was not installed is no attempt's to mend. */
export const gateRed = (message: string, { detail, stale }: GateSaid): Failure => ({
  ...failure(
    "gate-red",
    stale === undefined ? message : `${message}; ${stale}`,
    "make the gate pass on the current target",
  ),
  ...(detail ? { detail } : {}),
});
