/** Starts a goal or a plan as a new run in this process. */
import type { Config } from "../config/schema.ts";
import { toSettings } from "../config/settings.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import { Fold } from "../engine/fold.ts";
import type { ExecutionPlan } from "../planning/plan.ts";
import type { Base } from "../ports/project.ts";
import type { RunHome } from "../ports/runs.ts";
import { type FollowParts, followRun, type LiveRun, type RunListeners } from "./follow-run.ts";
import { lookAtStart, type StartParts, type StartReady, type StartRequest } from "./look-at-start.ts";
import type { Parts } from "./parts.ts";
import { misused, type Refused, refused } from "./refused.ts";

type BeginRequest = RunListeners &
  StartRequest & {
    readonly goal: string;
    /** The plan to follow instead of asking a planner. */
    readonly plan?: ExecutionPlan;
    /** The ids of what files of the repository may ask for in this run; undefined: everything. */
    readonly agreed?: readonly string[];
    /** Called right before the run starts. */
    readonly onReady?: (ready: RunReady) => Promise<void>;
  };

export type RunReady = StartReady & { readonly home: RunHome };

type BeginParts = FollowParts & StartParts & Pick<Parts, "project" | "newRunName">;

/** If it is refused, or stopped before it has begun, nothing of the run is left. */
export async function beginRun(
  request: BeginRequest,
  parts: BeginParts,
  signal: AbortSignal,
): Promise<(LiveRun & RunReady) | Refused> {
  const ready = await prepareRun(request, parts, signal);
  if (hasFailed(ready)) return ready;
  const { home, config } = ready;
  const live = await followRun({ ...request, home, config }, parts, signal);
  if (hasFailed(live)) {
    await discardRun(home);
    return live;
  }
  return { ...live, ...ready };
}

/** Makes the run; `followRun` starts it. */
export async function prepareRun(
  request: BeginRequest,
  parts: BeginParts,
  signal: AbortSignal,
): Promise<RunReady | Refused> {
  const { goal, plan, agreed } = request;
  if (goal.trim() === "") return misused("the goal is empty", "say what should be done");
  const start = await lookAtStart(request, parts, signal);
  if (hasFailed(start)) return start;
  const more = { ...(plan && { plan }), ...(agreed && { agreed }) };
  const home = await createRun({ goal, ...start.base, config: start.config, ...more }, parts);
  if (hasFailed(home)) return refused("repository", home.failure);
  const ready = { ...start, home };
  await request.onReady?.(ready);
  return ready;
}

type NewRun = Base & {
  readonly goal: string;
  readonly config: Config;
  readonly plan?: ExecutionPlan;
  readonly agreed?: readonly string[];
};

/** Makes the run's home and its record. No job runs, and no ref exists, before the run is followed. */
export const createRun = (
  { config, agreed, ...request }: NewRun,
  { project, newRunName }: Pick<Parts, "project" | "newRunName">,
): Promise<RunHome | Failed> =>
  project.runs.create({
    run: newRunName(),
    ...request,
    ...(agreed && { agreed: [...(project.agreed ?? []), ...agreed] }),
    createdAt: Date.now(),
    settings: toSettings(config),
  });

/** Removes what `createRun` made, unless the run has begun or another process has it. */
export async function discardRun(home: RunHome): Promise<void> {
  const lock = await home.lock();
  if (hasFailed(lock)) return;
  const fold = new Fold();
  const isBegun = (await fold.catchUp(home.log)) !== undefined || fold.events > 0;
  await (isBegun ? lock.release() : lock.discard());
}

/** A configuration without a planner. `isSaid`: the user set the number of workers, which overrides the plan. */
export const followingPlan = (
  config: Config,
  { max_concurrent: workers }: ExecutionPlan,
  isSaid: boolean,
): Config => ({ ...config, planner: "none", ...(isSaid ? {} : { workers }) });
