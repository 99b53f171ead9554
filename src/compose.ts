/** Which parts make a run on this machine? The only place that names adapters. */
import path from "node:path";
import { CommandAgent, type CommandOptions } from "./adapters/agents/command.ts";
import { keepsWhole } from "./adapters/agents/keeps-whole.ts";
import { scripted, scriptedCommand } from "./adapters/agents/scripted.ts";
import { GitCheckout } from "./adapters/checkouts/git.ts";
import { sharedLooks } from "./adapters/checkouts/shared-looks.ts";
import { systemClock } from "./adapters/clocks/system.ts";
import { CommandGate } from "./adapters/gates/command.ts";
import { configuredRules, detectedRules, type GateRules } from "./adapters/gates/rules.ts";
import { InProcessJobQueue } from "./adapters/job-queues/in-process.ts";
import { JobFiles } from "./adapters/job-queues/job-files.ts";
import { FolderMailbox } from "./adapters/mailboxes/folder.ts";
import { whyUnstartable } from "./adapters/programs/command.ts";
import { LocalPrograms } from "./adapters/programs/local.ts";
import * as delivery from "./adapters/repositories/deliver.ts";
import { GitRepository } from "./adapters/repositories/git.ts";
import { createTarget, type Located, locate, resolveBase } from "./adapters/repositories/locate.ts";
import * as salvage from "./adapters/repositories/salvage.ts";
import { FolderRuns } from "./adapters/runs/folder-runs.ts";
import { newRunName } from "./adapters/runs/run-name.ts";
import { stateFolderFor } from "./adapters/runs/state-folder.ts";
import { FileTranscripts } from "./adapters/transcripts/files.ts";
import { CloneWorkspaces } from "./adapters/workspaces/clones.ts";
import type { AgentSpec } from "./config/commands.ts";
import type { Config } from "./config/schema.ts";
import { toPolicy } from "./config/to-policy.ts";
import { targetBranchOf } from "./core/brief.ts";
import type { Command } from "./core/event.ts";
import { type Failure, failure } from "./core/failure.ts";
import { judgeGate } from "./core/gate.ts";
import type { JobId } from "./core/job.ts";
import { redactor, secretsOf } from "./core/redact.ts";
import { Drive, type Watch } from "./engine/drive.ts";
import type { EngineEnd } from "./engine/engine.ts";
import type { JobParts } from "./jobs/job-parts.ts";
import { collectJob, jobRunner } from "./jobs/run-job.ts";
import type { Agent } from "./ports/agent.ts";
import type { EventLog } from "./ports/event-log.ts";
import type { Mailbox } from "./ports/mailbox.ts";
import { type Failed, hasFailed } from "./ports/repository.ts";
import type { RunHome, Runs } from "./ports/runs.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A repository that runs can be made in, and where its runs are kept. */
export type Project = {
  readonly located: Located;
  readonly stateFolder: string;
  readonly runs: Runs;
};

export async function openProject(
  folder: string,
  env: Environment,
  signal: AbortSignal,
): Promise<Project | Failed> {
  const located = await locate(folder, signal);
  if (hasFailed(located)) return located;
  const state = stateFolderFor(located.gitDir, env, located.top);
  if (hasFailed(state)) return state;
  return { located, stateFolder: state.folder, runs: new FolderRuns({ folder: state.folder }) };
}

/** Makes the run's home and its record; nothing of it runs, and no ref exists, before `startRun`. */
export async function createRun(
  project: Project,
  wanted: {
    readonly goal: string;
    readonly base: string;
    readonly baseBranch?: string;
    readonly config: Config;
  },
): Promise<RunHome | Failed> {
  const { config, ...request } = wanted;
  const { toSettings } = await import("./config/settings.ts"); // Its schema library takes 100 ms; `status` needs none.
  return project.runs.create({
    run: newRunName(new Date(), Math.random),
    ...request,
    createdAt: Date.now(),
    settings: toSettings(config),
  });
}

/** Takes back `createRun`, unless the run has begun, or another process has it. */
export async function discardRun(home: RunHome): Promise<void> {
  const lock = await home.lock();
  if (hasFailed(lock)) return;
  await ((await isEmpty(home.log)) ? lock.discard() : lock.release());
}

export type RunOptions = {
  readonly config: Config;
  readonly env: Environment;
  readonly watch: Watch;
  /** Stands between the engine and the log, for who wants to see or delay what is written. */
  readonly around?: (log: EventLog) => EventLog;
};

/** A run that is going on in this process. */
export type LiveRun = {
  readonly run: string;
  /** Once the engine has ended, nothing of the run is left running, and the run's lock is free. */
  readonly ended: Promise<EngineEnd>;
  readonly stopGently: () => void;
  readonly stopNow: () => void;
};

/** Starts a new run, or goes on with one that was stopped or killed: there is no difference. */
export async function startRun(
  project: Project,
  home: RunHome,
  options: RunOptions,
  signal: AbortSignal,
): Promise<LiveRun | Failed> {
  const { config } = options;
  const lock = await home.lock();
  if (hasFailed(lock)) return lock;
  const world = openWorld(project, home, options);
  const ready = await prepare(project, home, config, world, signal);
  if (hasFailed(ready)) {
    await world.close();
    await lock.release();
    return ready;
  }
  const { log } = home;
  const policy = toPolicy(config);
  const parts = { log: options.around?.(log) ?? log, queue: world.queue, clock: systemClock(), policy };
  const drive = new Drive(parts, options.watch);
  const over = new AbortController();
  const running = drive.run(ready.first);
  const listening = drive.listen(mailboxOf(home), over.signal);
  const ended = running.then(async (end) => {
    over.abort();
    await listening;
    await world.queue.close();
    if (end.is === "closed") await giveBackAll(world);
    await world.close();
    await lock.release();
    return end;
  });
  return {
    run: home.record.run,
    ended,
    stopGently: () => drive.stopGently(GENTLE_STOP_MS),
    stopNow: () => drive.stopNow(),
  };
}

/** Where anybody leaves what is to be said to a run, whether it goes on now or later. */
export const mailboxOf = ({ folder }: RunHome): Mailbox => new FolderMailbox(path.join(folder, "commands"));

/** What a landing that is nearly through is worth waiting for, with a person at the keyboard. */
const GENTLE_STOP_MS = 10_000;

/** Everything outside the engine that one run uses. */
type World = {
  readonly queue: InProcessJobQueue;
  readonly files: JobFiles;
  readonly programs: LocalPrograms;
  readonly workspaces: CloneWorkspaces;
  readonly jobs: JobParts;
  readonly close: () => Promise<void>;
};

function openWorld(project: Project, home: RunHome, { config, env }: RunOptions): World {
  const { top } = project.located;
  const at = (name: string) => path.join(home.folder, name);
  const policy = toPolicy(config);
  const secrets = secretsOf(env);
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
  const gate = new CommandGate({
    rules: rulesOf(config, top),
    workspaces,
    programs,
    transcripts,
    limits: {
      maxMs: config.gateTimeout,
      maxOutputBytes: config.gateOutput,
      maxFileBytes: MAX_GATE_FILE_BYTES,
    },
    maxAtOnce: MAX_GATES,
  });
  const agents = { folder: at("jobs"), programs, transcripts, limits };
  const worker = agentOf(config.agent!, agents);
  const { leaseMs, retry } = policy;
  const repository = new GitRepository({ folder: top });
  const jobs: JobParts = {
    repository,
    workspaces,
    gate,
    worker,
    planner:
      config.planner === undefined
        ? worker
        : config.planner === "none"
          ? keepsWhole
          : agentOf(config.planner, agents),
    checkout: sharedLooks(
      new GitCheckout({ folder: top, own: config.branchPrefix || `${home.record.run}/` }),
    ),
    redact: redactor(secrets),
    maxTurnMs: { plan: leaseMs.plan + retry.graceMs, work: leaseMs.work + retry.graceMs },
  };
  const files = new JobFiles(at("jobs"));
  const queue = new InProcessJobQueue(jobRunner(jobs), files);
  return { queue, files, programs, workspaces, jobs, close: async () => repository.close() };
}

/** Two: a landing and a check of the target. */
const MAX_GATES = 2;
/** A build may write what a worker may not hand in. */
const MAX_GATE_FILE_BYTES = 8 * 1024 ** 3;

const rulesOf = ({ gate }: Config, folder: string): GateRules =>
  gate === "auto" ? detectedRules(folder) : configuredRules(gate === "none" ? [] : gate);

const agentOf = (spec: AgentSpec, options: Omit<CommandOptions, "command">): Agent =>
  spec.kind === "scripted"
    ? scripted(spec.script, options)
    : new CommandAgent({ ...options, command: spec.command });

/** What the gate of a commit will be, in words; no commands if there is none. */
export const gateOf = (project: Project, config: Config, commit: string, signal: AbortSignal) =>
  rulesOf(config, project.located.top).of(commit, signal);

/** Why nothing could be worked on: no agent is named, or its program is not there. */
export async function agentProblem(
  project: Project,
  config: Config,
  env: Environment,
): Promise<Failure | undefined> {
  if (config.agent === undefined) {
    return failure(
      "agent-unreachable",
      "no agent is configured",
      "name a program that does the work, such as --agent ./my-agent.sh, or agent: in skein.yaml; or try skein demo",
    );
  }
  const planner = config.planner === undefined || config.planner === "none" ? [] : [config.planner];
  for (const spec of [config.agent, ...planner]) {
    const problem = await whyUnstartable({
      command: spec.kind === "scripted" ? scriptedCommand(spec.script) : spec.command,
      folder: project.located.top,
      environment: { PATH: env["PATH"] ?? "" },
    });
    if (problem) return problem;
  }
  return undefined;
}

/** Cleans up after an engine that was killed, and says what the engine is to be told first. */
async function prepare(
  project: Project,
  home: RunHome,
  config: Config,
  world: World,
  signal: AbortSignal,
): Promise<{ readonly first: Command } | Failed> {
  const { run, goal, base } = home.record;
  if (!(await isEmpty(home.log))) {
    await collectLeftovers(world);
    return { first: { type: "resume" } };
  }
  const target = await createTarget(
    project.located.top,
    targetBranchOf(run, config.branchPrefix),
    base,
    signal,
  );
  if (hasFailed(target)) return target;
  return { first: { type: "open", request: { run, goal, base } } };
}

/** What was running is ended, what was finished is kept as an answer, and every workspace is given back. */
async function collectLeftovers({ files, programs, jobs }: World): Promise<void> {
  for (const { id, brief } of await files.open()) {
    const wasRunning = (await programs.endLeftovers(id)) > 0;
    const answer = await collectJob(brief, jobs, wasRunning);
    if (answer) await files.end(id, answer);
  }
  await programs.endAll();
}

/** Once more for what could not be kept when its job ended; what still cannot be stays where it is. */
async function giveBackAll({ files, workspaces, jobs }: World): Promise<void> {
  for (const id of await workspaces.holders()) {
    const brief = await files.briefOf(id);
    const workspace = await workspaces.heldBy(id);
    if (brief) await collectJob(brief, jobs, true);
    else if (workspace) await workspaces.release(workspace); // A gate's: there is nothing of anybody's in it.
  }
  if ((await workspaces.holders()).length === 0) await workspaces.close();
}

/** Damage is found by the engine, which says where. */
async function isEmpty(log: EventLog): Promise<boolean> {
  try {
    for await (const _ of log.read(0)) return false;
    return true;
  } catch {
    return false;
  }
}

/** What came of a delivery; all but the first two have changed nothing of the user's. */
export type DeliveryEnd =
  | Exclude<delivery.Delivered, { readonly is: "base-moved" }>
  | { readonly is: "conflict"; readonly files: readonly string[] }
  | { readonly is: "red"; readonly failures: readonly string[] }
  | { readonly is: "base-keeps-moving" };

/** Brings the target to the user's branch. What that branch has meanwhile is merged into the target first, and gated. */
export async function deliverRun(
  project: Project,
  home: RunHome,
  options: Omit<RunOptions, "watch" | "around"> & {
    readonly baseBranch: string;
    readonly intoCheckout: boolean;
  },
  signal: AbortSignal,
): Promise<DeliveryEnd | Failed> {
  const lock = await home.lock();
  if (hasFailed(lock)) return lock;
  const world = openWorld(project, home, { ...options, watch: () => {} });
  const { baseBranch, intoCheckout, config } = options;
  const target = targetBranchOf(home.record.run, config.branchPrefix);
  const wanted = { folder: project.located.top, run: home.record.run, baseBranch, target, intoCheckout };
  try {
    for (let merges = 0; merges < MAX_BASE_MERGES; merges += 1) {
      const delivered = await delivery.deliver(wanted, signal);
      if (hasFailed(delivered) || delivered.is !== "base-moved") return delivered;
      const merged = await delivery.mergeBase(wanted, signal);
      if (hasFailed(merged) || merged.is === "conflict") return merged;
      const landed = await landBase(merged, { run: wanted.run, target }, world, signal);
      if (landed) return landed;
    }
    return { is: "base-keeps-moving" };
  } finally {
    await world.workspaces.close();
    await world.close();
    await lock.release();
  }
}

const MAX_BASE_MERGES = 3;

/** The user's branch on top of the target, gated like every candidate; undefined once the target is there. */
async function landBase(
  { commit, onto }: { readonly commit: string; readonly onto: string },
  { run, target }: { readonly run: string; readonly target: string },
  { jobs }: World,
  signal: AbortSignal,
): Promise<DeliveryEnd | Failed | undefined> {
  const gated = await jobs.gate.run({ job: "deliver" as JobId, commit, rules: onto }, signal);
  if (hasFailed(gated)) return gated;
  const verdict = judgeGate(gated.report, { is: "green" });
  if (!verdict.ok) return { is: "red", failures: verdict.failures };
  const proof = { run, members: [], proof: verdict.proof, report: gated.report, flags: [] };
  const landed = await jobs.repository.land({ target, from: onto, to: commit, proof }, signal);
  return hasFailed(landed) ? landed : undefined; // Moved by somebody else: looked at again by the caller.
}

export type Salvaged = salvage.Salvaged;
export const salvageList = ({ located }: Project, signal: AbortSignal) =>
  salvage.salvageList(located.top, signal);
export const salvageRestore = ({ located }: Project, entry: Salvaged, branch: string, signal: AbortSignal) =>
  salvage.salvageRestore(located.top, entry, branch, signal);
export const salvageDrop = ({ located }: Project, entry: Salvaged, signal: AbortSignal) =>
  salvage.salvageDrop(located.top, entry, signal);

/** The commit that a person means by a name; what they typed is not trusted. */
export const commitOf = ({ located }: Project, name: string, signal: AbortSignal) =>
  resolveBase(located, name, signal);
