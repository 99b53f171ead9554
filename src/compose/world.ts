/** What does one run use of this machine? Its workspaces, programs, gate, agents and files, put together. */
import path from "node:path";
import { fileArtefacts } from "../adapters/artefacts.ts";
import { GitBaseBranch } from "../adapters/base-branches.ts";
import { callsOf } from "../adapters/call-desk/door.ts";
import { systemClock } from "../adapters/clocks/system.ts";
import { CommandCriteria } from "../adapters/criteria.ts";
import { InProcessGovernor } from "../adapters/governor.ts";
import { InProcessJobQueue } from "../adapters/job-queues/in-process.ts";
import { JobFiles } from "../adapters/job-queues/job-files.ts";
import { FolderOutbox } from "../adapters/outboxes.ts";
import { GitRepository } from "../adapters/repositories/git.ts";
import { GitPlace } from "../adapters/runs/git-place.ts";
import { repositorySandbox } from "../adapters/sandboxes/repository-sandbox.ts";
import { scratchpadOf } from "../adapters/scratchpads.ts";
import { gitSurroundings } from "../adapters/surroundings.ts";
import { FileTranscripts } from "../adapters/transcripts.ts";
import { openWorkshop } from "../adapters/workshop.ts";
import { changedAt } from "../adapters/workspaces/changed-at.ts";
import { openChannel } from "../app/channel.ts";
import type { RunWorld, WorldOptions } from "../app/parts.ts";
import { secretsFor } from "../config/accounts.ts";
import * as configured from "../config/to-parts.ts";
import { toPolicy } from "../config/to-policy.ts";
import { targetBranchOf } from "../core/brief.ts";
import { hasFailed } from "../core/result.ts";
import type { JobParts } from "../jobs/job-parts.ts";
import { jobRunner } from "../jobs/run-job.ts";
import { recordedPlan } from "../planning/recorded-plan.ts";
import type { Environment, Project } from "../ports/project.ts";
import type { RunHome } from "../ports/runs.ts";
import { redactor } from "../text/redact.ts";
import { agentsOf, filesIn } from "./agents.ts";
import { specialistsOf, templatesOf } from "./roles.ts";

export function openWorld(
  project: Project,
  env: Environment,
  home: RunHome,
  { config, agents }: WorldOptions,
): RunWorld {
  const stack = new AsyncDisposableStack();
  const isFunctions = agents !== undefined; // They give no signs of what they do.
  const { top, gitDir } = project.located;
  const { run, baseBranch } = home.record;
  const at = (name: string) => path.join(home.folder, name);
  const policy = toPolicy(config);
  const secrets = secretsFor(config, env);
  const redact = redactor(secrets);
  const clock = systemClock();
  const governor = new InProcessGovernor(clock);
  const quiet = isFunctions ? {} : { quiet: configured.quietOf(config) };
  const channel = openChannel(governor, policy, { clock, changedAt, ...quiet });
  const { maxTranscript: maxBytes } = config.log;
  const transcripts = new FileTranscripts({ folder: at("transcripts"), secrets, maxBytes });
  const sandbox = repositorySandbox(project, config, env);
  const limits = configured.gateLimits(config);
  const { checkout, programs, plain, shelf, workspaces, gate } = openWorkshop(config, {
    ...{ project, home, env, clock, limits, sandbox, transcripts, redact, ...channel },
    ...configured.workshopSettings(config, env),
  });
  const repository = stack.adopt(new GitRepository({ folder: top, shelf }), (one) => one.close());
  stack.defer(() => workspaces.leave());
  const calls = callsOf(home.folder);
  stack.defer(() => calls.desk.close());
  stack.defer(() => gate.close());
  // Not among the jobs: an agent is told of its folder, and must not be able to write its own answer.
  const folder = at("turns");
  const turns = { folder, programs, transcripts, limits: configured.turnLimits(config), redact, calls };
  const conversations = at("conversations");
  const agentParts = { config, env, top, turns, conversations, governor, sandbox };
  const { worker, planner } = agentsOf(agentParts, agents);
  const scratchpad = scratchpadOf(project, home, env);
  const plan = recordedPlan(home, scratchpad.folder);
  const tries = { programs: plain, transcripts, limits, redact, sandbox, scratchpad: scratchpad.folder };
  const isAsked = !isFunctions && configured.isReconciler(config);
  const files = new JobFiles(at("jobs"));
  const { leaseMs, retry } = policy;
  const jobs: JobParts = {
    ...{ repository, workspaces, gate, worker, checkout, redact, signs: channel.signs, unkept: new Map() },
    planner: plan.planner ?? planner,
    reconciler: isAsked ? (planner === "none" ? worker : planner) : "rules",
    remember: (job, answer) => files.end(job, answer).catch(() => {}), // The queue tries again.
    surroundings: gitSurroundings(gitDir),
    specialists: specialistsOf(top),
    subtasks: {
      templates: async () => (await templatesOf(top, false)).registry,
      filesIn,
      artefacts: fileArtefacts(at("artefacts"), redact),
    },
    outbox: new FolderOutbox(scratchpad),
    criteria: new CommandCriteria(tries),
    maxTurnMs: { plan: leaseMs.plan + retry.graceMs, work: leaseMs.work + retry.graceMs },
  };
  /** Before anybody is paid: why its gate and its criteria would not be confined as required. */
  const unconfined = async () => {
    const isNeeded = config.sandbox === "required" && (config.gateSandbox === "auto" || plan.hasCriteria);
    const opened = isNeeded ? await sandbox() : undefined;
    return opened && hasFailed(opened) ? opened.failure : undefined;
  };
  const target = targetBranchOf(run, config.branchPrefix);
  const { filters } = config.workspace;
  const place = new GitPlace({ ...project, ...project.located, home, target, shelf, filters });
  return {
    ...{ run, files, programs, workspaces, jobs, channel },
    engine: { queue: new InProcessJobQueue(jobRunner(jobs), files), clock, policy },
    ...(baseBranch !== undefined && { baseBranch: new GitBaseBranch({ gitDir, branch: baseBranch }) }),
    place: Object.assign(place, {
      unready: async (signal: AbortSignal) =>
        plan.problem ?? scratchpad.problem ?? (await unconfined()) ?? (await place.filterProblem(signal)),
    }),
    leave: scratchpad.leave,
    settle: () => gate.close(),
    close: () => stack.disposeAsync(),
  };
}
