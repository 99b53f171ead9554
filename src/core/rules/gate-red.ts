/** Builds the failure of an attempt that was refused because the gate failed. */
import { type Failure, failure } from "../failure.ts";

type GateSaid = { readonly detail?: string | undefined; readonly stale?: string | undefined };

/**
 * Adds the gate's output, so that the next attempt need not guess. `stale` is said in the message, because no attempt
 * can repair what is installed.
 */
export const gateRed = (message: string, { detail, stale }: GateSaid): Failure => ({
  ...failure(
    "gate-red",
    stale === undefined ? message : `${message}; ${stale}`,
    "make the gate pass on the current target",
  ),
  ...(detail ? { detail } : {}),
});
