/** Runs a job by its kind: each kind is a function of its brief and its ports, and none throws. */
import type { Brief, WorkBrief } from "../core/brief.ts";
import { type GateRecord, MAX_GATE_RECORDS } from "../core/gate.ts";
import type { Cut } from "../ports/agent.ts";
import type { Gate } from "../ports/gate.ts";
import type { Answer, RunJob } from "../ports/job-queue.ts";
import type { Workspace } from "../ports/workspaces.ts";
import { check } from "./check.ts";
import { collected, type JobParts, jobIdOf, withoutSecrets } from "./job-parts.ts";
import { land } from "./land.ts";
import { finishPlan, plan } from "./plan.ts";
import { finishWork, work } from "./work.ts";

export const jobRunner =
  (parts: JobParts): RunJob =>
  async (brief, signal) =>
    redacted(await runJob(brief, parts, signal), parts);

function runJob(brief: Brief, parts: JobParts, signal: AbortSignal): Promise<Answer> {
  switch (brief.kind) {
    case "plan":
      return plan(brief, parts, signal);
    case "work":
      return work(brief, parts, signal);
    case "land":
      return recorded(parts, (gated) => land(brief, gated, signal));
    case "check":
      return recorded(parts, (gated) => check(brief, gated, signal));
  }
}

/** Adds the gate runs that the job began to its answer, in their order. */
async function recorded(parts: JobParts, run: (parts: JobParts) => Promise<Answer>): Promise<Answer> {
  const gates: GateRecord[] = [];
  const { gate } = parts;
  const recording: Gate = {
    run: (tree, signal) => gate.run({ ...tree, onRun: (one) => gates.push(one) }, signal),
    prepare: (tree) => gate.prepare(tree),
    probe: (tree, report, signal) => gate.probe(tree, report, signal),
    changes: (from, to, signal) => gate.changes(from, to, signal),
  };
  const answer = await run({ ...parts, gate: recording });
  return gates.length === 0 ? answer : { ...answer, gates: gates.slice(-MAX_GATE_RECORDS) };
}

function redacted(answer: Answer, { redact }: JobParts): Answer {
  const { outcome } = answer;
  if (outcome.is !== "failed") return answer;
  return { ...answer, outcome: { is: "failed", failure: withoutSecrets(outcome.failure, redact) } };
}

/**
 * Collects the answer of a job whose engine died, if it has one. Nothing of the job is running any more; its workspace
 * is given back, and the work in it is kept. `wasRunning`: the job had to be ended, so it had not finished.
 */
export async function collectJob(
  brief: Brief,
  parts: JobParts,
  wasRunning: boolean,
  signal: AbortSignal,
): Promise<Answer | Cut | undefined> {
  const workspace = await parts.workspaces.heldBy(jobIdOf(brief));
  const found = await finished(brief, { workspace, wasRunning }, parts, signal);
  return found === undefined || isCut(found) ? found : redacted(found, parts);
}

export const isCut = (found: Answer | Cut): found is Cut => "is" in found;

type Left = { readonly workspace: Workspace | undefined; readonly wasRunning: boolean };

/** A planner's words are enough; a worker's words count only with the workspace that it changed. */
async function finished(
  brief: Brief,
  { workspace, wasRunning }: Left,
  parts: JobParts,
  signal: AbortSignal,
): Promise<Answer | Cut | undefined> {
  if (brief.kind === "plan") return finishPlan(brief, { workspace, wasRunning }, parts);
  if (brief.kind === "work")
    return workspace ? finishWork(brief, { workspace, wasRunning }, parts, signal) : costOf(brief, parts);
  if (workspace) await parts.workspaces.release(workspace); // A gate is run again.
  return undefined;
}

/** A stopped attempt has given its workspace back: only its cost counts, and the task is attempted again. */
async function costOf(brief: WorkBrief, { worker }: JobParts): Promise<Cut | undefined> {
  const said = await collected(worker, brief, true);
  return said?.is === "cut" ? said : undefined;
}
