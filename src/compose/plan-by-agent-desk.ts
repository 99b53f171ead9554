/** Who is asked for a plan, and how does one turn of it go? In a workspace at HEAD, with tools that only look. */
import path from "node:path";
import { systemClock } from "../adapters/clocks/system.ts";
import { GitSurroundings } from "../adapters/surroundings/git.ts";
import { FileTranscripts } from "../adapters/transcripts/files.ts";
import { changedAt } from "../adapters/workspaces/changed-at.ts";
import { CloneWorkspaces } from "../adapters/workspaces/clones.ts";
import { accountsOf, keyVariablesOf } from "../config/accounts.ts";
import type { AgentSpec } from "../config/commands.ts";
import type { Config } from "../config/schema.ts";
import { toPolicy } from "../config/to-policy.ts";
import type { PlanBrief } from "../core/brief.ts";
import { jobId } from "../core/job.ts";
import { redactor, secretsOf } from "../core/redact.ts";
import { ROOT, type TaskSpec } from "../core/task.ts";
import { watched } from "../jobs/watched.ts";
import { type Asking, MAX_TASKS, planRequest } from "../planning/by-agent/plan-request.ts";
import type { Turn } from "../planning/by-agent/plan-turns.ts";
import type { Agent, Ask, Said } from "../ports/agent.ts";
import type { Governor } from "../ports/governor.ts";
import { hasFailed } from "../ports/repository.ts";
import type { Signs } from "../ports/signs.ts";
import { specialistsOf } from "./agent-parts.ts";
import { agentsOf } from "./agents.ts";
import { loneGovernor } from "./plan-by-agent-governor.ts";
import type { PlanningPlace } from "./plan-by-agent-place.ts";
import type { Environment, Project } from "./project.ts";

export type DeskParts = Omit<Asking, "agents"> & {
  readonly request: string;
  readonly config: Config;
  readonly env: Environment;
  readonly spec: AgentSpec;
};

export type Desk = {
  readonly agents: Asking["agents"];
  readonly redact: (text: string) => string;
  readonly ask: (turn: Turn) => Promise<Said>;
};

export async function openDesk(
  project: Project,
  parts: DeskParts,
  place: PlanningPlace,
  { say, signal }: { readonly say: (line: string) => void; readonly signal: AbortSignal },
): Promise<Desk> {
  const { config, env, request } = parts;
  const { top, gitDir, head } = project.located;
  const clock = systemClock();
  const governor = loneGovernor(clock, toPolicy(config));
  const keys = keyVariablesOf(config).flatMap((name) => env[name]?.trim() ?? []);
  const secrets = [...secretsOf(env), ...keys];
  const agent = openAgent(project, parts, place, { governor, secrets });
  const workspaces = workspacesIn(place, top, parts);
  const roles = await specialistsOf(top)();
  const facts = await new GitSurroundings(gitDir).of(head, signal);
  const signs: Signs = {
    clock,
    quiet: { warnMs: config.quiet.warn || FOR_EVER, stopMs: config.quiet.stop || FOR_EVER },
    changedAt,
    waitedMs: (job) => governor.waitedMs(job),
    tell: ({ ms }) => ms > 0 && say(`no sign of life for ${Math.round(ms / 60_000)} min`),
  };
  const ask = async ({ number, refused }: Turn): Promise<Said> => {
    const job = jobId({ kind: "plan", task: ROOT, turn: number });
    const workspace = await workspaces.take({ job, commit: head, use: "agent" }, signal);
    if (hasFailed(workspace)) return { is: "failed", failure: workspace.failure };
    const { folder, environment } = workspace;
    const brief: PlanBrief = {
      ...briefFor(request, head, number),
      rejected: refused?.reasons ?? [],
      request: planRequest({ ...parts, agents: roles }, refused?.json ?? ""),
    };
    const told: Ask = {
      ...{ job, brief, folder, environment, roles, maxMs: config.timeout.plan },
      ...(hasFailed(facts) ? {} : { facts }), // Whoever cannot be told of the repository can still look at it.
    };
    const said = await watched(agent, told, signs, signal);
    await workspaces.release(workspace);
    return said;
  };
  return { agents: roles, redact: redactor(secrets), ask };
}

const FOR_EVER = Number.POSITIVE_INFINITY;

/** What people call it. */
export const nameOf = (spec: AgentSpec): string =>
  spec.kind === "model" ? `${spec.model.provider}/${spec.model.model}` : accountsOf(spec)[0];

function openAgent(
  { located, stateFolder }: Project,
  { config, env, spec }: DeskParts,
  { folder, programs }: PlanningPlace,
  { governor, secrets }: { readonly governor: Governor; readonly secrets: readonly string[] },
): Agent {
  const { maxTranscript } = config.log;
  const transcripts = new FileTranscripts({
    folder: path.join(folder, "transcripts"),
    secrets,
    maxBytes: maxTranscript,
  });
  const { worker } = agentsOf({
    config: { ...config, agent: spec, planner: "none" },
    env,
    top: located.top,
    gitDir: located.gitDir,
    stateFolder,
    runFolder: folder,
    programs: {
      folder: path.join(folder, "turns"),
      programs,
      transcripts,
      limits: { maxOutputBytes: maxTranscript, maxFileBytes: config.workspace.maxFile },
      redact: redactor(secrets),
    },
    governor,
  });
  return worker;
}

/** Nothing is set up or copied there: it is looked at, and nothing in it is run. */
const workspacesIn = ({ folder, programs }: PlanningPlace, top: string, { config, env }: DeskParts) =>
  new CloneWorkspaces({
    repository: top,
    folder,
    programs,
    environment: env,
    limits: {
      maxMs: config.workspace.setupTimeout,
      maxOutputBytes: config.gateOutput,
      maxFileBytes: config.workspace.maxFile,
    },
    pass: config.workspace.pass,
    maxFileBytes: config.workspace.maxFile,
  });

const briefFor = (goal: string, tip: string, turn: number): PlanBrief => ({
  kind: "plan",
  run: "plan",
  goal,
  task: ROOT,
  spec: { ...SPEC, description: goal },
  depth: 0,
  turn,
  tip,
  transcript: "plan",
  scratchpad: "",
  first: true,
  maxTasks: MAX_TASKS,
  rejected: [],
  notes: [],
  news: [],
  active: [],
  concerns: [],
  steers: [],
});

const SPEC: TaskSpec = {
  key: "plan",
  description: "",
  acceptance: "Every part of the request is in a task",
  scope: ["./"],
  after: [],
  priority: 5,
  delivers: "change",
  shape: "plan",
  slug: "plan",
};
