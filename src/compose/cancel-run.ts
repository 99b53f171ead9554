/** How is a run cancelled that no process drives? Its engine hears that first, starts nothing, and closes the log. */
import { systemClock } from "../adapters/clocks/system.ts";
import type { Config } from "../config/schema.ts";
import { toPolicy } from "../config/to-policy.ts";
import type { RunEnd } from "../core/event.ts";
import { failure } from "../core/failure.ts";
import { Drive } from "../engine/drive.ts";
import { type Failed, hasFailed } from "../ports/repository.ts";
import type { RunHome } from "../ports/runs.ts";
import { asFailed, letGoOf } from "./live-run.ts";
import { type Environment, isEmpty, type Project } from "./project.ts";
import { restoreRun } from "./restore-run.ts";
import { collectLeftovers, giveBackAll, openWorld } from "./world.ts";

/** `driven`: another process has the run by now, and can be told. `kept`: workspaces that could not be given back. */
export type StoppedEnd =
  | { readonly is: "driven" }
  | { readonly is: "closed"; readonly how: RunEnd; readonly kept: readonly string[] };

/**
 * What was at work is ended, and its work is kept, as when a run goes on. That it is cancelled and that it is closed
 * come into the log together: if this process is killed before, the run is stopped as it was; after it, `tidyRun` does
 * what is left.
 */
export async function cancelStopped(
  project: Project,
  home: RunHome,
  options: { readonly config: Config; readonly env: Environment; readonly reason?: string },
  signal: AbortSignal,
): Promise<StoppedEnd | Failed> {
  const { config, reason } = options;
  const lock = await home.lock();
  if (hasFailed(lock)) return { is: "driven" };
  const world = openWorld(project, home, options);
  try {
    if (await isEmpty(home.log)) return notBegun(home);
    await restoreRun(project, home, config, signal); // If the target cannot be brought back, it is cancelled all the same.
    await collectLeftovers(world, signal);
    if (signal.aborted) return { failure: failure("interrupted", "stopped before anything was cancelled") };
    const parts = { log: home.log, queue: world.queue, clock: systemClock(), policy: toPolicy(config) };
    const drive = new Drive(parts, () => {});
    signal.addEventListener("abort", () => drive.stopNow(), { once: true });
    const end = await drive.run({ type: "cancel", ...(reason === undefined ? {} : { reason }) });
    if (end.is === "lost") return end;
    if (end.is === "stopped") return { failure: failure("interrupted", "stopped before it was cancelled") };
    const kept = await giveBackAll(world);
    if (kept.length === 0) await letGoOf(project, home, config);
    return { is: "closed", how: end.state.closed!.how, kept };
  } catch (error) {
    return asFailed(error);
  } finally {
    await world.close();
    await lock.release();
  }
}

const notBegun = ({ record: { run } }: RunHome): Failed => ({
  failure: failure(
    "repository",
    `run ${run} has not begun: there is nothing to cancel`,
    `skein remove ${run} takes it away, skein resume ${run} begins it`,
  ),
});
