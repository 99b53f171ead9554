/** Checks that an agent that speaks ACP starts here and gives a session, without a call of its model. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { failure } from "../../core/failure.ts";
import { jobId } from "../../core/job.ts";
import { ROOT } from "../../core/task.ts";
import type { SessionFacts } from "../../ports/inspection.ts";
import type { Environment } from "../../ports/project.ts";
import type { AcpAgent } from "../agents/acp/acp-agent.ts";
import { environmentOf } from "../workspaces/environment.ts";
import { SKEIN } from "../workspaces/source.ts";

type SessionTrial = {
  readonly agent: Pick<AcpAgent, "reach">;
  readonly name: string;
  readonly env: Environment;
  readonly pass: readonly string[];
  /** Removed by the caller. */
  readonly folder: string;
  readonly maxMs: number;
};

export async function trySession(trial: SessionTrial, signal: AbortSignal): Promise<SessionFacts> {
  const { agent, name, env, pass, maxMs } = trial;
  const folder = path.join(trial.folder, "session");
  const temporary = path.join(folder, "tmp");
  await mkdir(temporary, { recursive: true });
  const own = { from: env, pass, temporary, ceiling: trial.folder, person: SKEIN, settings: [] };
  const job = jobId({ kind: "plan", task: ROOT, turn: 1 });
  const start = performance.now();
  const problem = await agent.reach({ job, folder, environment: environmentOf(own), maxMs }, signal);
  const ms = Math.round(performance.now() - start);
  if (problem === undefined) return { ms };
  const silent = failure(
    "agent-unreachable",
    `${name} was started, and gave no session within ${Math.round(maxMs / 1_000)} s`,
    "start it by hand to see whether it speaks the Agent Client Protocol on its standard input and output",
  );
  return { ms, problem: problem.kind === "timed-out" ? silent : problem };
}
