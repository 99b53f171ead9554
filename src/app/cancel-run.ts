/** Cancels a run that no process drives: its engine takes the cancel first, starts nothing, and closes the log. */
import type { Config } from "../config/schema.ts";
import { failure } from "../core/failure.ts";
import type { RunEnd } from "../core/log/event.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import { Drive } from "../engine/drive.ts";
import { asFailed } from "./follow-run.ts";
import { collectLeftovers, giveBackAll } from "./leftovers.ts";
import type { Parts } from "./parts.ts";
import type { SeenRun } from "./see-run.ts";

type CancelRequest = SeenRun & { readonly config: Config; readonly reason?: string };

/** `driven`: another process has the run now, and can be told. `kept`: workspaces that could not be given back. */
type Cancelled =
  | { readonly is: "driven" }
  | { readonly is: "closed"; readonly how: RunEnd; readonly kept: readonly string[] };

/**
 * Ends jobs that were running, and keeps their work. The cancel and the close are written to the log together: if this
 * process is killed before that, the run is stopped as it was; after that, `tidyRun` does the rest.
 */
export async function cancelRun(
  { home, seen, config, reason }: CancelRequest,
  { openWorld }: Pick<Parts, "openWorld">,
  signal: AbortSignal,
): Promise<Cancelled | Failed> {
  const lock = await home.lock();
  if (hasFailed(lock)) return { is: "driven" };
  await using stack = new AsyncDisposableStack();
  stack.defer(() => lock.release());
  const world = openWorld(home, { config });
  stack.defer(() => world.close());
  try {
    const unreadable = await seen.catchUp(home.log);
    if (unreadable) return unreadable;
    if (seen.events === 0) return notBegun(home.record.run);
    await world.place.restore(seen.state, signal); // A lost target is no reason not to cancel.
    await collectLeftovers(world, signal);
    if (signal.aborted) return { failure: failure("interrupted", "stopped before anything was cancelled") };
    const drive = new Drive({ ...world.engine, log: home.log }, () => {}, seen);
    signal.addEventListener("abort", () => drive.stopNow(), { once: true });
    const end = await drive.run({ type: "cancel", ...(reason === undefined ? {} : { reason }) });
    if (end.is === "lost") return end;
    if (end.is === "stopped") return { failure: failure("interrupted", "stopped before it was cancelled") };
    const kept = await giveBackAll(world);
    if (kept.length === 0) await world.place.letGo(end.state);
    return { is: "closed", how: end.state.closed!.how, kept };
  } catch (error) {
    return asFailed(error);
  }
}

const notBegun = (run: string): Failed => ({
  failure: failure(
    "repository",
    `run ${run} has not begun: there is nothing to cancel`,
    `skein remove ${run} removes it, skein resume ${run} starts it`,
  ),
});
