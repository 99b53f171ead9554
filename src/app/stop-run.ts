/** Stops a run that another process drives: asks that process, and waits until it has released the run. */
import { failure } from "../core/failure.ts";
import { hasFailed } from "../core/result.ts";
import type { Project } from "../ports/project.ts";
import type { Owner, RunHome } from "../ports/runs.ts";
import { type Refused, refused } from "./refused.ts";
import { runToStop } from "./which-run.ts";

type StopRequest = {
  /** Undefined: the only run that is running. */
  readonly run: string | undefined;
  /** Whether to stop without waiting for the landing in progress. */
  readonly isUrgent: boolean;
  /** Called right before the process is asked. */
  readonly onAsk: (run: string, owner: Owner) => void;
};

/** `run` is undefined if no run is running. */
type StopEnd =
  | { readonly is: "idle"; readonly run: string | undefined }
  | { readonly is: "stopped"; readonly run: string; readonly pid: number };

type StopParts = {
  readonly project: Project;
  /** Resolves when the run's lock may have changed, and also after a while without a change. */
  readonly lockChanges: (
    home: RunHome,
  ) => Disposable & { readonly next: (signal: AbortSignal) => Promise<void> };
};

export async function stopRun(
  { run, isUrgent, onAsk }: StopRequest,
  { project, lockChanges }: StopParts,
  signal: AbortSignal,
): Promise<StopEnd | Refused> {
  const home = await runToStop(run, project);
  if (home === undefined) return { is: "idle", run: undefined };
  if (hasFailed(home)) return home;
  const name = home.record.run;
  const owner = await home.owner();
  if (!owner) return { is: "idle", run: name };
  onAsk(name, owner);
  using changes = lockChanges(home);
  const failed = await home.stop(owner, isUrgent);
  if (failed) return refused("run", failed.failure);
  while (!signal.aborted) {
    const now = await home.owner();
    if (now?.pid !== owner.pid || now.since !== owner.since)
      return { is: "stopped", run: name, pid: owner.pid };
    await changes.next(signal);
  }
  return refused("run", stillRunning(name, owner, isUrgent));
}

const stillRunning = (run: string, { pid, host }: Owner, isUrgent: boolean) => {
  const on = host === undefined ? "" : ` on ${host}`;
  return failure(
    "repository",
    `run ${run} was asked to stop, but process ${pid}${on} is still running`,
    isUrgent
      ? `kill -9 ${pid}${on}; nothing is lost, skein resume ${run} continues`
      : `skein stop ${run} --now`,
  );
};
