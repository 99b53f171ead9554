/** Does an agent start here, and give a session? Asked of those that speak ACP; their model is not called. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { stateFolderFor } from "../adapters/runs/state-folder.ts";
import { environmentOf } from "../adapters/workspaces/environment.ts";
import { SKEIN } from "../adapters/workspaces/source.ts";
import { anchored } from "../app/find-agent.ts";
import { secretsFor } from "../config/accounts.ts";
import type { AgentSpec } from "../config/commands.ts";
import { type Failure, failure } from "../core/failure.ts";
import { jobId } from "../core/job.ts";
import { hasFailed } from "../core/result.ts";
import { ROOT } from "../core/task.ts";
import { redactor } from "../text/redact.ts";
import type { AgentFacts, SessionFacts, Settled } from "./inspect.ts";
import { openPlanningPlace, type PlanningPlace } from "./plan-by-agent-place.ts";

/** The same agents, those that speak ACP and could be started with what came of it. Nothing of them is left running. */
export async function inspectSessions(
  settled: Settled,
  agents: readonly AgentFacts[],
  signal: AbortSignal,
  maxMs: number = MAX_MS,
): Promise<readonly AgentFacts[]> {
  if (!agents.some(isTalkedWith)) return agents;
  const { located, env } = settled;
  const state = stateFolderFor(located.gitDir, env, located.top);
  const place = hasFailed(state) ? state : await openPlanningPlace(state.folder);
  if (hasFailed(place)) return agents.map((one) => withSession(one, { ms: 0, problem: place.failure }));
  try {
    const tried = agents.map(async (agent, at) =>
      isTalkedWith(agent)
        ? withSession(agent, await trySession(settled, { place, spec: agent.spec, at, maxMs }, signal))
        : agent,
    );
    return await Promise.all(tried);
  } finally {
    await place.close();
  }
}

/** As in a run: a first start takes up to 12 s, on a busy machine twice that. */
const MAX_MS = 60_000;

type Acp = AgentSpec & { readonly kind: "acp" };

const isTalkedWith = (agent: AgentFacts): agent is AgentFacts & { readonly spec: Acp } =>
  agent.problem === undefined && typeof agent.spec === "object" && agent.spec.kind === "acp";

const withSession = (agent: AgentFacts, session: SessionFacts): AgentFacts =>
  isTalkedWith(agent) ? { ...agent, session, ...(session.problem && { problem: session.problem }) } : agent;

type Trial = {
  readonly place: PlanningPlace;
  readonly spec: Acp;
  readonly at: number;
  readonly maxMs: number;
};

async function trySession(
  { located, config, env }: Settled,
  { place, spec, at, maxMs }: Trial,
  signal: AbortSignal,
): Promise<SessionFacts> {
  const { openAcpAgent } = await import("./acp-agent.ts");
  const folder = path.join(place.folder, `session-${at}`);
  const temporary = path.join(folder, "tmp");
  await mkdir(temporary, { recursive: true });
  const programs = {
    ...{ folder, programs: place.programs, transcripts: { open: () => SILENT } },
    limits: { maxOutputBytes: config.log.maxTranscript, maxFileBytes: config.workspace.maxFile },
    redact: redactor(secretsFor(config, env)),
  };
  const own = anchored(spec, located.top) as Acp;
  const agent = await openAcpAgent(own, { config, env, top: located.top, programs });
  if (hasFailed(agent)) return { ms: 0, problem: agent.failure };
  const { pass } = config.workspace;
  const environment = environmentOf({
    ...{ from: env, pass, temporary, ceiling: place.folder, person: SKEIN, settings: [] },
  });
  const start = performance.now();
  const job = jobId({ kind: "plan", task: ROOT, turn: at + 1 });
  const problem = await agent.reach({ job, folder, environment, maxMs }, signal);
  const ms = Math.round(performance.now() - start);
  return problem
    ? { ms, problem: problem.kind === "timed-out" ? silent(spec.name, maxMs) : problem }
    : { ms };
}

const SILENT = { write: () => {}, close: async () => {} };

const silent = (name: string, maxMs: number): Failure =>
  failure(
    "agent-unreachable",
    `${name} was started, and gave no session within ${Math.round(maxMs / 1_000)} s`,
    "start it by hand to see whether it speaks the Agent Client Protocol on its standard input and output",
  );
