/** What does one run use of this machine? Its workspaces, programs, gate, agents and files, put together. */
import path from "node:path";
import { FileArtefacts } from "../adapters/artefacts.ts";
import { GitCheckout } from "../adapters/checkouts/git.ts";
import { sharedLooks } from "../adapters/checkouts/shared-looks.ts";
import { systemClock } from "../adapters/clocks/system.ts";
import { CommandGate } from "../adapters/gates/command.ts";
import { lookingOutside } from "../adapters/gates/look-outside.ts";
import { provedGatesIn } from "../adapters/gates/proved-gates.ts";
import { configuredRules, detectedRules, type GateRules } from "../adapters/gates/rules.ts";
import { forbiddenFilter } from "../adapters/git/filters.ts";
import { Shelf } from "../adapters/git/shelf.ts";
import { InProcessJobQueue } from "../adapters/job-queues/in-process.ts";
import { JobFiles, type OpenJob } from "../adapters/job-queues/job-files.ts";
import { LocalPrograms } from "../adapters/programs/local.ts";
import { conflictsOf } from "../adapters/repositories/conflicts.ts";
import { GitRepository } from "../adapters/repositories/git.ts";
import { heldBy } from "../adapters/repositories/names.ts";
import { GitSurroundings } from "../adapters/surroundings/git.ts";
import { FileTranscripts } from "../adapters/transcripts/files.ts";
import { CloneWorkspaces } from "../adapters/workspaces/clones.ts";
import type { Config } from "../config/schema.ts";
import { toPolicy } from "../config/to-policy.ts";
import type { Brief, WorkBrief } from "../core/brief.ts";
import type { Failure } from "../core/failure.ts";
import type { JobId } from "../core/job.ts";
import { redactor } from "../core/redact.ts";
import type { TaskId } from "../core/task.ts";
import { type JobParts, jobIdOf } from "../jobs/job-parts.ts";
import { collectJob, isCut, jobRunner } from "../jobs/run-job.ts";
import { recallUnkept, salvageRefOf } from "../jobs/work.ts";
import type { Agent } from "../ports/agent.ts";
import type { Answer } from "../ports/job-queue.ts";
import { hasFailed } from "../ports/repository.ts";
import type { RunHome } from "../ports/runs.ts";
import type { Workspace, Workspaces } from "../ports/workspaces.ts";
import { specialistsOf } from "./agent-parts.ts";
import { agentsOf, type GivenAgents } from "./agents.ts";
import { callsOf } from "./calls.ts";
import { type Channel, openChannel } from "./channel.ts";
import { confinedPrograms } from "./confined.ts";
import { planWorld } from "./plan-parts.ts";
import type { Environment, Project } from "./project.ts";
import { secretsFor } from "./secrets.ts";
import { templatesOf } from "./subtask-templates.ts";
import { filesIn } from "./subtasks.ts";

/** Everything outside the engine that one run uses. */
export type World = {
  readonly run: string;
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
  const secrets = secretsFor(config, env);
  const redact = redactor(secrets);
  const programs = new LocalPrograms({ folder: at("programs") });
  const transcripts = new FileTranscripts({
    folder: at("transcripts"),
    secrets,
    maxBytes: config.log.maxTranscript,
  });
  // Not among the jobs: an agent is told of its folder, and must not be able to write its own answer.
  const channel = openChannel(systemClock(), policy, isFunctions ? {} : { quiet: quietOf(config) });
  const checkout = sharedLooks(
    new GitCheckout({ folder: top, own: config.branchPrefix || `${home.record.run}/` }),
  );
  const watch = { config, env, programs, checkout, tell: channel.checkoutChanged };
  const confined = confinedPrograms(project, watch);
  const { setup, setupTimeout, copy, share, pass, filters, maxFile } = config.workspace;
  const shelf = shelfOf(project, home);
  const workspaces = new CloneWorkspaces({
    repository: top,
    folder: home.folder,
    programs,
    setupPrograms: confined.setup,
    environment: env,
    ...(setup === undefined ? {} : { setup }),
    limits: { maxMs: setupTimeout, maxOutputBytes: config.gateOutput, maxFileBytes: MAX_GATE_FILE_BYTES },
    copy,
    share,
    pass,
    filters,
    maxFileBytes: maxFile,
    holds: heldBy(home.record.run),
    shelf,
    plansAreFull: isStartedFromPackages(config),
    // The place of a job that is prepared, or probed, has a name that nobody knows.
    onSlowCopy: ({ job, ...copy }) =>
      channel.signs.tell({ job: job.replace(/\.(?:next|probe)$/, "") as JobId, ...copy }),
  });
  const limits = { maxOutputBytes: config.log.maxTranscript, maxFileBytes: maxFile };
  const gateLimits = {
    maxMs: config.gateTimeout,
    maxOutputBytes: config.gateOutput,
    maxFileBytes: MAX_GATE_FILE_BYTES,
  };
  const gateParts = {
    repository: top,
    rules: rulesOf(config, top),
    conflicts: conflictsOf(gitDir),
    workspaces,
    transcripts,
    limits: gateLimits,
    redact,
    maxAtOnce: MAX_GATES,
    proved: provedGatesIn(project.stateFolder),
    surroundings: surroundingsOf(config, env),
    alsoRun: linesRunBy(config),
  };
  const inside = new CommandGate({ ...gateParts, programs: confined.gate });
  const gate = lookingOutside({
    inside,
    outside: new CommandGate({ ...gateParts, programs: confined.plain, workspaces: untouched(workspaces) }),
    isConfined: confined.isGateConfined,
    network: config.network,
  });
  const calls = callsOf(home.folder);
  const { worker, planner } = agentsOf(
    {
      config,
      env,
      top,
      gitDir,
      stateFolder: project.stateFolder,
      runFolder: home.folder,
      programs: { folder: at("turns"), programs, transcripts, limits, redact, calls },
      governor: channel.governor,
    },
    options.agents,
  );
  const { plain, sandbox } = confined;
  const tried = { config, env, programs: plain, transcripts, limits: gateLimits, redact, sandbox };
  const { problem, planner: fixed, unready, leave, ...terms } = planWorld(project, home, tried);
  const { leaseMs, retry } = policy;
  const repository = new GitRepository({ folder: top, shelf });
  const files = new JobFiles(at("jobs"));
  const jobs: JobParts = {
    repository,
    workspaces,
    gate,
    worker,
    planner: fixed ?? planner,
    reconciler: reconcilerOf(config, isFunctions, planner === "none" ? worker : planner),
    checkout,
    remember: (job, answer) => files.end(job, answer).catch(() => {}), // The queue tries again.
    unkept: new Map(),
    redact,
    surroundings: new GitSurroundings(gitDir),
    specialists: specialistsOf(top),
    signs: channel.signs,
    subtasks: {
      templates: async () => (await templatesOf(top, false)).registry,
      filesIn,
      artefacts: new FileArtefacts(at("artefacts"), redact),
    },
    ...terms,
    maxTurnMs: { plan: leaseMs.plan + retry.graceMs, work: leaseMs.work + retry.graceMs },
  };
  const queue = new InProcessJobQueue(jobRunner(jobs), files);
  const settle = () => inside.close();
  const close = async () => {
    await settle();
    await calls.desk.close();
    await workspaces.leave();
    repository.close();
  };
  const { run } = home.record;
  const world = { run, queue, files, programs, workspaces, jobs, channel, unready, settle, leave, close };
  return problem ? { ...world, problem } : world;
}

/** Of what the run wrote into the repository and somebody may remove from it. */
export const shelfOf = ({ located: { gitDir } }: Project, { folder }: Pick<RunHome, "folder">): Shelf =>
  new Shelf(path.join(gitDir, "objects"), path.join(folder, "shelf"));

/** For a look outside of the sandbox: a place of its own that is removed afterwards, set up as the user would. */
const untouched = (workspaces: Workspaces): Workspaces => ({
  take: (want, signal) => workspaces.take({ ...want, use: "probe", isUnconfined: true }, signal),
  keep: (workspace, as, signal) => workspaces.keep(workspace, as, signal),
  release: (workspace) => workspaces.release(workspace),
  heldBy: (job) => workspaces.heldBy(job),
});

/** Only those who are told what is wanted: a program of the user's own knows of plans and work. */
function reconcilerOf({ reconciler, agent, planner }: Config, isFunctions: boolean, asked: Agent) {
  const spec = typeof planner === "object" ? planner : agent;
  const isTold = !isFunctions && (spec?.kind === "model" || spec?.kind === "acp");
  return reconciler === "model" && isTold ? asked : "rules";
}

/** `npx my-agent`: the planner itself may be among the packages that are copied or installed. */
const isStartedFromPackages = ({ planner, agent }: Config): boolean => {
  const spec = typeof planner === "object" ? planner : agent;
  const [program = ""] = spec && "command" in spec ? spec.command : [];
  return /^(?:np[xm]|pnpm|yarn|bunx?|uvx?|poetry|pdm)$/.test(path.basename(program));
};

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

/** What people put into their repository for Skein to run, besides the gate. */
const linesRunBy = ({ agent, planner, workspace: { setup } }: Config): readonly string[] => [
  ...[agent, typeof planner === "object" ? planner : undefined].flatMap((spec) =>
    spec && "command" in spec ? spec.command.join(" ") : [],
  ),
  ...(setup === undefined ? [] : [setup]),
];

/** What decides, besides the tree, which programs and packages a gate's commands find. */
const surroundingsOf = ({ workspace }: Config, env: Environment): string =>
  JSON.stringify([
    workspace,
    ["PATH", "VIRTUAL_ENV", "PYTHONPATH", "NODE_PATH"].map((name) => env[name] ?? ""),
  ]);

/** What the gate of a commit will be, in words; no commands if there is none. */
export const gateOf = (
  project: Pick<Project, "located">,
  config: Config,
  commit: string,
  signal: AbortSignal,
) => rulesOf(config, project.located.top).of(commit, signal);

/** Why workspaces would not have the files of a commit as the user has them. */
export const filterProblem = (
  { located }: Pick<Project, "located">,
  { workspace }: Config,
  commit: string,
  signal: AbortSignal,
) => forbiddenFilter({ ...located, commit, allowed: workspace.filters }, signal);

/**
 * What was running is ended, what was finished is kept as an answer, and every workspace is given back. Side by side:
 * criteria may take their time. What was stopped on the way is left as it is, for the next engine.
 */
export async function collectLeftovers(world: World, signal: AbortSignal): Promise<void> {
  const { files, programs, jobs } = world;
  const collect = async ({ id, brief, isOfEarlierBoot }: OpenJob) => {
    const isEnded = (await programs.endLeftovers(id)) === 0;
    // Files of an agent that nobody had synced may be empty after a power cut: what it said of them does not count.
    const wasRunning = isOfEarlierBoot || !(isEnded || (await hasCalled(brief, jobs)));
    const found = await collectJob(brief, jobs, wasRunning, signal);
    if (found && isCut(found)) await files.cut(id, found.spent);
    else if (found && !(signal.aborted && isInterrupted(found))) await files.end(id, found);
  };
  await Promise.all((await files.open()).map(collect));
  if (signal.aborted) return;
  await programs.endAll();
  await keepHeld(world, { isOver: false });
}

/** Its call was acknowledged: all that it still had to do was to end. */
const hasCalled = async (brief: Brief, { worker }: JobParts): Promise<boolean> =>
  brief.kind === "work" && (await worker.collect(jobIdOf(brief)))?.is === "called";

const isInterrupted = ({ outcome }: Answer): boolean =>
  outcome.is === "failed" && outcome.failure.kind === "interrupted";

/** At the end of a run: the disk is given back, but for what could not be kept. Says what stays, and why. */
export async function giveBackAll(world: World): Promise<readonly string[]> {
  world.leave();
  await keepHeld(world, { isOver: true });
  return world.workspaces.close();
}

/**
 * Once more for what could not be kept when its job ended; what still cannot be stays where it is. While the run goes
 * on, the work of a turn that ended well is left to the next attempt at its task.
 */
async function keepHeld(
  { run, files, workspaces, jobs }: World,
  { isOver }: { isOver: boolean },
): Promise<void> {
  for (const { job, use } of await workspaces.holders()) {
    const brief = use === "agent" ? await files.briefOf(job) : undefined;
    const workspace = await workspaces.heldBy(job);
    const outcome = (await files.answerOf(job))?.outcome;
    // What worked, or ended with a call, is a branch already, and nothing in a gate's is anybody's.
    const isKept = use !== "agent" || (outcome !== undefined && KEPT.has(outcome.is));
    const isMachines = outcome?.is === "failed" && outcome.failure.kind === "repository";
    const isFinished =
      !isOver && isMachines && brief?.kind === "work" && !(await hasLaterResult(brief, files));
    if (workspace && isKept) await workspaces.release(workspace);
    else if (workspace && isFinished && (await recallUnkept(brief, workspace, jobs))) continue;
    else if (brief) await collectJob(brief, jobs, true, NEVER);
    else if (workspace && (await isSalvaged(run, workspace, workspaces))) await workspaces.release(workspace);
  }
}

/** Who only answered its subtask has made nothing that counts. */
const KEPT: ReadonlySet<string> = new Set<Answer["outcome"]["is"]>([
  "worked",
  "called",
  "answered",
  "passed-on",
]);

/** An engine that was killed before it gave the workspace back: a later attempt has handed that work in. */
async function hasLaterResult(brief: WorkBrief, files: JobFiles): Promise<boolean> {
  for (let attempt = brief.attempt + 1; ; attempt += 1) {
    const job = jobIdOf({ ...brief, attempt });
    if ((await files.briefOf(job)) === undefined) return false;
    const outcome = (await files.answerOf(job))?.outcome.is;
    if (outcome === "worked" || outcome === "called") return true;
  }
}

/** By the name of its job alone, if the brief is lost. What a planner changed is nobody's. */
async function isSalvaged(run: string, workspace: Workspace, workspaces: CloneWorkspaces): Promise<boolean> {
  const [, task, attempt] = /^work:(.+)#(\d+)$/.exec(workspace.job) ?? [];
  if (task === undefined) return true;
  const ref = salvageRefOf({ run, task: task as TaskId, attempt: Number(attempt) });
  const message = `Found in the workspace of ${workspace.job}, whose brief is lost`;
  return !hasFailed(await workspaces.keep(workspace, { ref, message }, NEVER));
}
