/** What does one run use of this machine? Its workspaces, programs, gate, agents and files, put together. */
import path from "node:path";
import { GitCheckout } from "../adapters/checkouts/git.ts";
import { sharedLooks } from "../adapters/checkouts/shared-looks.ts";
import { systemClock } from "../adapters/clocks/system.ts";
import { CommandGate } from "../adapters/gates/command.ts";
import { configuredRules, detectedRules, type GateRules } from "../adapters/gates/rules.ts";
import { InProcessJobQueue } from "../adapters/job-queues/in-process.ts";
import { JobFiles } from "../adapters/job-queues/job-files.ts";
import { LocalPrograms } from "../adapters/programs/local.ts";
import { conflictsOf } from "../adapters/repositories/conflicts.ts";
import { GitRepository } from "../adapters/repositories/git.ts";
import { GitSurroundings } from "../adapters/surroundings/git.ts";
import { FileTranscripts } from "../adapters/transcripts/files.ts";
import { CloneWorkspaces } from "../adapters/workspaces/clones.ts";
import { keyVariablesOf } from "../config/accounts.ts";
import type { Config } from "../config/schema.ts";
import { toPolicy } from "../config/to-policy.ts";
import type { Failure } from "../core/failure.ts";
import { redactor, secretsOf } from "../core/redact.ts";
import type { JobParts } from "../jobs/job-parts.ts";
import { collectJob, isCut, jobRunner } from "../jobs/run-job.ts";
import type { Agent } from "../ports/agent.ts";
import type { Answer } from "../ports/job-queue.ts";
import type { RunHome } from "../ports/runs.ts";
import { specialistsOf } from "./agent-parts.ts";
import { agentsOf, type GivenAgents } from "./agents.ts";
import { type Channel, openChannel } from "./channel.ts";
import { planWorld } from "./plan-parts.ts";
import type { Environment, Project } from "./project.ts";

/** Everything outside the engine that one run uses. */
export type World = {
  readonly queue: InProcessJobQueue;
  readonly files: JobFiles;
  readonly programs: LocalPrograms;
  readonly workspaces: CloneWorkspaces;
  readonly jobs: JobParts;
  readonly channel: Channel;
  /** Why the run cannot go on as its record says; what it has can still be tidied up and delivered. */
  readonly problem?: Failure;
  /** What a look at the machine says about the same, before anything is started. */
  readonly unready: () => Promise<Failure | undefined>;
  /** Ends what goes on beside the jobs, and waits for it. */
  readonly settle: () => Promise<void>;
  /** Once the run is over: gives up what other runs could use. */
  readonly leave: () => void;
  readonly close: () => Promise<void>;
};

export function openWorld(
  project: Project,
  home: RunHome,
  options: { readonly config: Config; readonly env: Environment; readonly agents?: GivenAgents },
): World {
  const { config, env } = options;
  const isFunctions = options.agents !== undefined; // They give no signs of what they do.
  const { top, gitDir } = project.located;
  const at = (name: string) => path.join(home.folder, name);
  const policy = toPolicy(config);
  const keys = keyVariablesOf(config).flatMap((name) => env[name]?.trim() ?? []);
  const secrets = [...secretsOf(env), ...keys];
  const redact = redactor(secrets);
  const programs = new LocalPrograms({ folder: at("programs") });
  const transcripts = new FileTranscripts({
    folder: at("transcripts"),
    secrets,
    maxBytes: config.log.maxTranscript,
  });
  const { setup, setupTimeout, copy, share, pass, maxFile } = config.workspace;
  const workspaces = new CloneWorkspaces({
    repository: top,
    folder: home.folder,
    programs,
    environment: env,
    ...(setup === undefined ? {} : { setup }),
    limits: { maxMs: setupTimeout, maxOutputBytes: config.gateOutput, maxFileBytes: MAX_GATE_FILE_BYTES },
    copy,
    share,
    pass,
    maxFileBytes: maxFile,
  });
  const limits = { maxOutputBytes: config.log.maxTranscript, maxFileBytes: maxFile };
  const gateLimits = {
    maxMs: config.gateTimeout,
    maxOutputBytes: config.gateOutput,
    maxFileBytes: MAX_GATE_FILE_BYTES,
  };
  const gate = new CommandGate({
    repository: top,
    rules: rulesOf(config, top),
    conflicts: conflictsOf(gitDir),
    workspaces,
    programs,
    transcripts,
    limits: gateLimits,
    redact,
    maxAtOnce: MAX_GATES,
  });
  // Not among the jobs: an agent is told of its folder, and must not be able to write its own answer.
  const channel = openChannel(systemClock(), policy, isFunctions ? {} : { quiet: quietOf(config) });
  const { worker, planner } = agentsOf(
    {
      config,
      env,
      top,
      gitDir,
      stateFolder: project.stateFolder,
      runFolder: home.folder,
      programs: { folder: at("turns"), programs, transcripts, limits, redact },
      governor: channel.governor,
    },
    options.agents,
  );
  const tried = { config, env, programs, transcripts, limits: gateLimits, redact };
  const { problem, planner: fixed, unready, leave, ...terms } = planWorld(project, home, tried);
  const { leaseMs, retry } = policy;
  const repository = new GitRepository({ folder: top });
  const files = new JobFiles(at("jobs"));
  const jobs: JobParts = {
    repository,
    workspaces,
    gate,
    worker,
    planner: fixed ?? planner,
    reconciler: reconcilerOf(config, isFunctions, planner === "none" ? worker : planner),
    checkout: sharedLooks(
      new GitCheckout({ folder: top, own: config.branchPrefix || `${home.record.run}/` }),
    ),
    remember: (job, answer) => files.end(job, answer).catch(() => {}), // The queue tries again.
    redact,
    surroundings: new GitSurroundings(gitDir),
    specialists: specialistsOf(top),
    signs: channel.signs,
    ...terms,
    maxTurnMs: { plan: leaseMs.plan + retry.graceMs, work: leaseMs.work + retry.graceMs },
  };
  const queue = new InProcessJobQueue(jobRunner(jobs), files);
  const settle = () => gate.close();
  const close = async () => {
    await settle();
    repository.close();
  };
  const world = { queue, files, programs, workspaces, jobs, channel, unready, settle, leave, close };
  return problem ? { ...world, problem } : world;
}

/** Only those who are told what is wanted: a program of the user's own knows of plans and work. */
function reconcilerOf({ reconciler, agent, planner }: Config, isFunctions: boolean, asked: Agent) {
  const spec = typeof planner === "object" ? planner : agent;
  const isTold = !isFunctions && (spec?.kind === "model" || spec?.kind === "acp");
  return reconciler === "model" && isTold ? asked : "rules";
}

/** 0: for ever. */
const quietOf = ({ quiet }: Config) => ({
  warnMs: quiet.warn || Number.POSITIVE_INFINITY,
  stopMs: quiet.stop || Number.POSITIVE_INFINITY,
});

const NEVER = new AbortController().signal;

/** Two: a landing and a check of the target. */
export const MAX_GATES = 2;

/** A build may write what a worker may not hand in. */
const MAX_GATE_FILE_BYTES = 8 * 1024 ** 3;

const rulesOf = ({ gate }: Config, folder: string): GateRules =>
  gate === "auto" ? detectedRules(folder) : configuredRules(gate === "none" ? [] : gate);

/** What the gate of a commit will be, in words; no commands if there is none. */
export const gateOf = (
  project: Pick<Project, "located">,
  config: Config,
  commit: string,
  signal: AbortSignal,
) => rulesOf(config, project.located.top).of(commit, signal);

/**
 * What was running is ended, what was finished is kept as an answer, and every workspace is given back. Side by side:
 * criteria may take their time. What was stopped on the way is left as it is, for the next engine.
 */
export async function collectLeftovers(world: World, signal: AbortSignal): Promise<void> {
  const { files, programs, jobs } = world;
  const collect = async ({ id, brief }: Awaited<ReturnType<JobFiles["open"]>>[number]) => {
    const wasRunning = (await programs.endLeftovers(id)) > 0;
    const found = await collectJob(brief, jobs, wasRunning, signal);
    if (found && isCut(found)) await files.cut(id, found.spent);
    else if (found && !(signal.aborted && isInterrupted(found))) await files.end(id, found);
  };
  await Promise.all((await files.open()).map(collect));
  if (signal.aborted) return;
  await programs.endAll();
  await keepHeld(world);
}

const isInterrupted = ({ outcome }: Answer): boolean =>
  outcome.is === "failed" && outcome.failure.kind === "interrupted";

/** At the end of a run: the disk is given back, but for what could not be kept. Says what stays, and why. */
export async function giveBackAll(world: World): Promise<readonly string[]> {
  world.leave();
  await keepHeld(world);
  return world.workspaces.close();
}

/** Once more for what could not be kept when its job ended; what still cannot be stays where it is. */
async function keepHeld({ files, workspaces, jobs }: World): Promise<void> {
  for (const { job, use } of await workspaces.holders()) {
    const brief = use === "agent" ? await files.briefOf(job) : undefined;
    const workspace = await workspaces.heldBy(job);
    // What worked is a branch already, and nothing in a gate's is anybody's.
    const isKept = use === "gate" || (await files.answerOf(job))?.outcome.is === "worked";
    if (workspace && isKept) await workspaces.release(workspace);
    else if (brief) await collectJob(brief, jobs, true, NEVER);
  }
}
