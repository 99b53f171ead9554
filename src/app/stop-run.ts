/** Stops a run that another process drives: asks that process, and waits until it has let go of the run. */
import { failure } from "../core/failure.ts";
import { hasFailed } from "../core/result.ts";
import type { Project } from "../ports/project.ts";
import type { Owner, RunHome } from "../ports/runs.ts";
import { type Refused, refused } from "./refused.ts";
import { runToStop } from "./which-run.ts";

type StopRequest = {
  /** Undefined: the only one that is running. */
  readonly run: string | undefined;
  /** Without waiting for the landing in progress. */
  readonly isUrgent: boolean;
  /** The process is about to be asked. */
  readonly onAsk: (run: string, owner: Owner) => void;
};

/** `run` is undefined if none is running. */
type StopEnd =
  | { readonly is: "idle"; readonly run: string | undefined }
  | { readonly is: "stopped"; readonly run: string; readonly pid: number };

type StopParts = {
  readonly project: Project;
  /** Resolves when something of the run's lock may have changed, also when nothing did for a while. */
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
