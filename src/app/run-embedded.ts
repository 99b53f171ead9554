/** Runs the engine inside a program without a repository: the log in memory, the agents as functions. */
import { readHandoff } from "../core/answers/handoff-answer.ts";
import type { WorkBrief } from "../core/brief.ts";
import { failure, messageOf } from "../core/failure.ts";
import type { Event } from "../core/log/event.ts";
import type { Policy } from "../core/rules/policy.ts";
import { readPath } from "../core/scope.ts";
import { Drive, type Watch } from "../engine/drive.ts";
import type { EngineEnd, EngineParts } from "../engine/engine.ts";
import { failed, jobIdOf } from "../jobs/job-parts.ts";
import { answerOf } from "../jobs/plan.ts";
import { type Agent, asSaid } from "../ports/agent.ts";
import type { Answer, RunJob } from "../ports/job-queue.ts";
import { findJson, type JsonObject } from "../text/json-salvage.ts";

type EmbeddedRun = {
  /** Earlier events; the engine continues from them. */
  readonly history: readonly Event[];
  readonly policy: Policy;
  readonly watch: Watch;
};

type EmbeddedParts = Pick<EngineParts, "log" | "clock"> & {
  /** Used as the planner and as the worker. */
  readonly agent: Agent;
  readonly queue: (run: RunJob) => EngineParts["queue"];
};

/**
 * Never throws. If `signal` aborts, the run is cancelled with its reason, without waiting for functions that are still
 * running.
 */
export async function runEmbedded(
  { history, policy, watch }: EmbeddedRun,
  { agent, log, clock, queue }: EmbeddedParts,
  signal: AbortSignal,
): Promise<EngineEnd> {
  await log.append(0, history);
  const drive = new Drive({ log, queue: queue(inMemory(agent, policy)), clock, policy }, watch);
  const cancel = () => void drive.say({ type: "cancel", reason: `aborted: ${messageOf(signal.reason)}` });
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    return await drive.run({ type: "resume" });
  } catch (error) {
    return {
      is: "lost",
      failure: failure("repository", `the engine broke: ${messageOf(error)}`, "report it"),
    };
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** Landing is switched off: changes stay where the worker put them, so every landing succeeds at once, ungated. */
function inMemory(agent: Agent, { leaseMs, retry }: Policy): RunJob {
  const nowhere = { folder: "", environment: {} };
  return async (brief, signal) => {
    switch (brief.kind) {
      case "plan": {
        const ask = { job: jobIdOf(brief), brief, ...nowhere, maxMs: leaseMs.plan + retry.graceMs };
        return answerOf(asSaid(await agent.turn(ask, signal)), { redact: (text) => text });
      }
      case "work": {
        const ask = { job: jobIdOf(brief), brief, ...nowhere, maxMs: leaseMs.work + retry.graceMs };
        const said = asSaid(await agent.turn(ask, signal));
        const answer = said.is === "failed" ? failed(said.failure) : claimed(brief, said.text);
        return said.spent ? { ...answer, spent: said.spent } : answer;
      }
      case "land": {
        const members = brief.members.map(({ task, attempt }) => ({ task, attempt }));
        const commit = `landing-${brief.turn}`;
        return { outcome: { is: "landed", commit, members, conflicts: [], proof: "ungated" } };
      }
      case "check":
        return { outcome: { is: "checked", tip: brief.tip, report: { commands: [] }, problems: [] } };
    }
  };
}

/** There is no branch to compare a claim with, so the claim must exist and be readable. */
function claimed(brief: WorkBrief, text: string): Answer {
  const read = readHandoff(text, brief.task);
  const refuse = (why: string) =>
    failed(
      failure(
        "agent-failed",
        `the work function returned ${why}`,
        "return { status, summary, filesChanged }",
      ),
    );
  if (read.is === "none") return refuse(text.trim() === "" ? "nothing" : "a text with no handoff in it");
  if (read.is === "broken") return refuse(`a handoff that cannot be read: ${read.reasons.join("; ")}`);
  const { files, diff, problems } = claimedFiles(text);
  if (problems.length > 0) return refuse(`files that cannot be meant: ${problems.join("; ")}`);
  const { linesAdded, linesRemoved, filesCreated, filesModified } = read.handoff.metrics;
  return {
    outcome: {
      is: "worked",
      handoff: read.handoff,
      evidence: {
        ...(files.length > 0 && { commit: `${brief.task}.${brief.attempt}` }),
        ...{ filesChanged: files, diff, linesAdded, linesRemoved, filesCreated, filesModified },
        ...{ deletedTests: [], disabledTests: [], forbiddenMarks: [] },
      },
    },
  };
}

/** Reads the last object with a status, as for the rest of the handoff. */
function claimedFiles(text: string) {
  let fields: JsonObject = new Map();
  for (const found of findJson(text))
    if (found.is === "whole" && found.value instanceof Map && typeof found.value.get("status") === "string")
      fields = found.value;
  const [written, diff] = [fields.get("filesChanged") ?? [], fields.get("diff")];
  const paths = (Array.isArray(written) ? written : [written]).map((path) =>
    typeof path === "string" ? readPath(path) : { problem: "one is not a text" },
  );
  return {
    files: [...new Set(paths.flatMap((read) => ("path" in read ? [read.path] : [])))],
    problems: paths.flatMap((read) => ("problem" in read ? [read.problem] : [])),
    diff: typeof diff === "string" ? diff : "",
  };
}
