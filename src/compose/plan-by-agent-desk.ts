/** Who is asked for a plan, and how does one turn of it go? In a workspace at HEAD, with tools that only look. */
import { systemClock } from "../adapters/clocks/system.ts";
import { gitSurroundings } from "../adapters/surroundings.ts";
import { changedAt } from "../adapters/workspaces/changed-at.ts";
import { secretsFor } from "../config/accounts.ts";
import type { AgentSpec } from "../config/commands.ts";
import type { Config } from "../config/schema.ts";
import { toPolicy } from "../config/to-policy.ts";
import type { PlanBrief } from "../core/brief.ts";
import { jobId } from "../core/job.ts";
import { hasFailed } from "../core/result.ts";
import { ROOT, type TaskSpec } from "../core/task.ts";
import { runWatched } from "../jobs/watched.ts";
import { type Asking, MAX_TASKS, planRequest } from "../planning/by-agent/plan-request.ts";
import type { PlannerTurn } from "../planning/by-agent/plan-turns.ts";
import type { ExecutionPlan } from "../planning/plan.ts";
import { type Ask, asSaid, type Said } from "../ports/agent.ts";
import type { Signs } from "../ports/signs.ts";
import { redactor } from "../text/redact.ts";
import { specialistsOf } from "./agent-parts.ts";
import { agentsOf } from "./agents.ts";
import { loneParts, loneWorkspaces } from "./lone-agent.ts";
import { loneGovernor } from "./plan-by-agent-governor.ts";
import type { PlanningPlace } from "./plan-by-agent-place.ts";
import type { Environment, Project } from "./project.ts";

export type DeskParts = Omit<Asking, "agents"> & {
  readonly request: string;
  /** Judged with it: its score, and its goal where the agent gives none. The agent does not see it. */
  readonly rulesPlan: ExecutionPlan;
  readonly config: Config;
  readonly env: Environment;
  readonly spec: AgentSpec;
};

type Desk = {
  readonly agents: Asking["agents"];
  readonly redact: (text: string) => string;
  readonly ask: (turn: PlannerTurn) => Promise<Said>;
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
  const secrets = secretsFor(config, env);
  const agent = agentsOf(loneParts(project, parts, place, { governor, secrets })).worker;
  const workspaces = loneWorkspaces(place, top, parts);
  const roles = await specialistsOf(top)();
  const facts = await gitSurroundings(gitDir).of(head, signal);
  const signs: Signs = {
    clock,
    quiet: { warnMs: config.quiet.warn || FOR_EVER, stopMs: config.quiet.stop || FOR_EVER },
    changedAt,
    waitedMs: (job) => governor.waitedMs(job),
    tell: ({ ms }) => ms > 0 && say(`no sign of life for ${Math.round(ms / 60_000)} min`),
  };
  const ask = async ({ number, refused }: PlannerTurn): Promise<Said> => {
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
    const said = await runWatched(agent, told, signs, signal);
    await workspaces.release(workspace);
    return asSaid(said);
  };
  return { agents: roles, redact: redactor(secrets), ask };
}

const FOR_EVER = Number.POSITIVE_INFINITY;

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
