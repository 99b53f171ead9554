/** What does one run use of this machine? Its workspaces, programs, gate, agents and files, put together. */
import path from "node:path";
import { fileArtefacts } from "../adapters/artefacts.ts";
import { GitBaseBranch } from "../adapters/base-branches.ts";
import { GitCheckout, sharedLooks } from "../adapters/checkouts.ts";
import { systemClock } from "../adapters/clocks/system.ts";
import { CommandGate } from "../adapters/gates/command.ts";
import { timedGate } from "../adapters/gates/gate-times.ts";
import { lookingOutside } from "../adapters/gates/look-outside.ts";
import { provedGatesIn } from "../adapters/gates/proved-gates.ts";
import { configuredRules, detectedRules, type GateRules } from "../adapters/gates/rules.ts";
import { forbiddenFilter } from "../adapters/git/filters.ts";
import { Shelf } from "../adapters/git/shelf.ts";
import { InProcessJobQueue } from "../adapters/job-queues/in-process.ts";
import { JobFiles } from "../adapters/job-queues/job-files.ts";
import { LocalPrograms } from "../adapters/programs/local.ts";
import { conflictsOf } from "../adapters/repositories/conflicts.ts";
import { GitRepository } from "../adapters/repositories/git.ts";
import { heldBy } from "../adapters/repositories/names.ts";
import { GitPlace } from "../adapters/runs/git-place.ts";
import { gitSurroundings } from "../adapters/surroundings.ts";
import { FileTranscripts } from "../adapters/transcripts.ts";
import { CloneWorkspaces } from "../adapters/workspaces/clones.ts";
import type { RunWorld, WorldOptions } from "../app/parts.ts";
import { secretsFor } from "../config/accounts.ts";
import type { Config } from "../config/schema.ts";
import type { Environment } from "../config/sources.ts";
import { toPolicy } from "../config/to-policy.ts";
import { targetBranchOf } from "../core/brief.ts";
import type { JobId } from "../core/job.ts";
import type { JobParts } from "../jobs/job-parts.ts";
import { jobRunner } from "../jobs/run-job.ts";
import type { Agent } from "../ports/agent.ts";
import type { Project } from "../ports/project.ts";
import type { RunHome } from "../ports/runs.ts";
import type { Workspaces } from "../ports/workspaces.ts";
import { redactor } from "../text/redact.ts";
import { specialistsOf } from "./agent-parts.ts";
import { agentsOf } from "./agents.ts";
import { callsOf } from "./calls.ts";
import { openChannel } from "./channel.ts";
import { confinedPrograms } from "./confined.ts";
import { planWorld } from "./plan-parts.ts";
import { templatesOf } from "./subtask-templates.ts";
import { filesIn } from "./subtasks.ts";

export function openWorld(
  project: Project,
  env: Environment,
  home: RunHome,
  { config, agents }: WorldOptions,
): RunWorld {
  const isFunctions = agents !== undefined; // They give no signs of what they do.
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
  const shelf = new Shelf(path.join(gitDir, "objects"), at("shelf"));
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
  const clock = systemClock();
  const looking = lookingOutside({
    inside,
    outside: new CommandGate({ ...gateParts, programs: confined.plain, workspaces: untouched(workspaces) }),
    isConfined: confined.isGateConfined,
    network: config.network,
  });
  const gate = timedGate(looking, at("gates"), () => clock.wall());
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
    agents,
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
    surroundings: gitSurroundings(gitDir),
    specialists: specialistsOf(top),
    signs: channel.signs,
    subtasks: {
      templates: async () => (await templatesOf(top, false)).registry,
      filesIn,
      artefacts: fileArtefacts(at("artefacts"), redact),
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
  const { run, baseBranch: branch } = home.record;
  const target = targetBranchOf(run, config.branchPrefix);
  const git = new GitPlace({
    ...{ top, gitDir, stateFolder: project.stateFolder },
    home,
    target,
    shelf,
    filters,
  });
  return {
    ...{ run, files, programs, workspaces, jobs, channel, leave, settle, close },
    engine: { queue, clock, policy },
    ...(branch !== undefined && { baseBranch: new GitBaseBranch({ gitDir, branch }) }),
    place: Object.assign(git, {
      unready: async (signal: AbortSignal) =>
        problem ?? (await unready()) ?? (await git.filterProblem(signal)),
    }),
  };
}

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
  { located }: Pick<Project, "located">,
  config: Config,
  commit: string,
  signal: AbortSignal,
) => rulesOf(config, located.top).of(commit, signal);

/** Why workspaces would not have the files of a commit as the user has them. */
export const filterProblem = (
  { located }: Pick<Project, "located">,
  { workspace }: Config,
  commit: string,
  signal: AbortSignal,
) => forbiddenFilter({ ...located, commit, allowed: workspace.filters }, signal);
