/** Builds everything that one run uses where it is coordinated: its jobs' parts, its engine, and its place in git. */
import { GitBaseBranch } from "../adapters/base-branches.ts";
import { systemClock } from "../adapters/clocks/system.ts";
import { fleetLinkOf } from "../adapters/fleet/fleet-runs.ts";
import { governorOf } from "../adapters/fleet/governor-of.ts";
import { InProcessJobQueue } from "../adapters/job-queues/in-process.ts";
import { GitPlace } from "../adapters/runs/git-place.ts";
import { changedAt } from "../adapters/workspaces/changed-at.ts";
import { openChannel } from "../app/channel.ts";
import type { RunWorld, WorldOptions } from "../app/parts.ts";
import { quietOf } from "../config/to-parts.ts";
import { toPolicy } from "../config/to-policy.ts";
import { targetBranchOf } from "../core/brief.ts";
import { jobRunner } from "../jobs/run-job.ts";
import type { Environment, Project } from "../ports/project.ts";
import type { RunHome } from "../ports/runs.ts";
import { openFleet } from "./fleet-world.ts";
import { openJobs } from "./jobs.ts";

export function openWorld(
  project: Project,
  env: Environment,
  home: RunHome,
  { config, agents }: WorldOptions,
): RunWorld {
  const { top, gitDir } = project.located;
  const { run, baseBranch } = home.record;
  const clock = systemClock();
  const { governor, termsOf, reports, close } = governorOf(home, clock);
  const given = { config, ...(agents && { agents }) };
  const policy = toPolicy(config);
  const quiet = agents ? {} : { quiet: quietOf(config) }; // Functions give no signs of life.
  const channel = openChannel(governor, policy, { clock, changedAt, ...quiet }, reports);
  const target = targetBranchOf(run, config.branchPrefix);
  const link = fleetLinkOf(home);
  const fleet = link && openFleet({ project, home, config, target, link, termsOf, ...channel });
  const opened = openJobs({ project, env, home, governor, top, clock, ...channel, ...given, ...fleet });
  opened.stack.defer(close);
  if (fleet) opened.stack.defer(fleet.close);
  const { stack, jobs, files, programs, workspaces, shelf, scratchpad, gate } = opened;
  const { keepBranches, workspace } = config;
  const { filters } = workspace;
  const own = new GitPlace({ ...project, ...project.located, home, target, shelf, filters, keepBranches });
  const place = fleet ? fleet.placeOf(own) : own;
  const queue = new InProcessJobQueue(jobRunner(jobs), files);
  return {
    ...{ run, files, programs, workspaces, jobs, channel },
    engine: { queue: fleet ? fleet.queueOf(queue, jobs, agents !== undefined) : queue, clock, policy },
    ...(baseBranch !== undefined && { baseBranch: new GitBaseBranch({ gitDir, branch: baseBranch }) }),
    place: Object.assign(place, {
      unready: async (signal: AbortSignal) => (await opened.unready()) ?? (await place.filterProblem(signal)),
    }),
    ...(fleet && { notice: fleet.notice }),
    leave: scratchpad.leave,
    settle: () => gate.close(),
    close: () => stack.disposeAsync(),
  };
}
