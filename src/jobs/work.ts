/** What came of one attempt? One turn of an agent in a workspace of its own; then what the repository shows. */
import type { WorkBrief } from "../core/brief.ts";
import type { Evidence } from "../core/evidence.ts";
import { type Failure, failure } from "../core/failure.ts";
import type { Handoff } from "../core/handoff.ts";
import { handoffFromEvidence, readHandoff } from "../core/handoff-answer.ts";
import type { Said } from "../ports/agent.ts";
import { differences, type Look } from "../ports/checkout.ts";
import type { Answer } from "../ports/job-queue.ts";
import { hasFailed } from "../ports/repository.ts";
import type { Workspace } from "../ports/workspaces.ts";
import { failed, type JobParts, jobIdOf } from "./job-parts.ts";

export async function work(brief: WorkBrief, parts: JobParts, signal: AbortSignal): Promise<Answer> {
  const { workspaces, worker, checkout, maxTurnMs } = parts;
  const job = jobIdOf(brief);
  const workspace = await workspaces.take({ job, commit: brief.base, use: "agent" }, signal);
  if (hasFailed(workspace)) return failed(workspace.failure);
  const { folder, environment } = workspace;
  const before = await checkout.look(signal);
  const said = await worker.turn({ job, brief, folder, environment, maxMs: maxTurnMs.work }, signal);
  const after = await checkout.look(AbortSignal.timeout(LOOK_MS));
  const strays = hasFailed(before) || hasFailed(after) ? [] : touched(before, after);
  return conclude(brief, { workspace, said, strays }, parts);
}

/** After a restart: an attempt that had finished is judged as if nothing had happened, any other is only kept. */
export async function finishWork(
  brief: WorkBrief,
  { workspace, wasRunning }: { readonly workspace: Workspace; readonly wasRunning: boolean },
  parts: JobParts,
): Promise<Answer | undefined> {
  const said = wasRunning ? undefined : await parts.worker.collect(jobIdOf(brief));
  if (said) return conclude(brief, { workspace, said, strays: [] }, parts);
  await keepAside(brief, workspace, parts);
  await parts.workspaces.release(workspace);
  return undefined;
}

type Turn = { readonly workspace: Workspace; readonly said: Said; readonly strays: readonly string[] };

async function conclude(brief: WorkBrief, turn: Turn, parts: JobParts): Promise<Answer> {
  const { workspace, said } = turn;
  const spent = said.spent ? { spent: said.spent } : {};
  const answer =
    said.is === "failed"
      ? failed(withKept(said.failure, await keepAside(brief, workspace, parts), parts))
      : await shown(brief, turn, said.text, parts);
  await parts.workspaces.release(workspace);
  return { ...answer, ...spent };
}

/** What was made becomes the attempt's branch, and the branch says what was made. */
async function shown(brief: WorkBrief, turn: Turn, text: string, parts: JobParts): Promise<Answer> {
  const { workspaces, repository, gate, redact } = parts;
  const signal = AbortSignal.timeout(CONCLUDE_MS); // Also when the run is being stopped: the work is done.
  const ref = `refs/heads/${brief.branch}`;
  const kept = await workspaces.keep(turn.workspace, { ref, message: messageOf(brief) }, signal);
  if (hasFailed(kept)) return failed(kept.failure);
  const evidence = await repository.evidence(brief.base, kept.commit ?? brief.base, signal);
  if (hasFailed(evidence)) return failed(evidence.failure);
  const changes = kept.commit ? await gate.changes(brief.base, kept.commit, signal) : [];
  const flags = hasFailed(changes) ? [] : changes;
  const notes = [
    ...turn.workspace.notices,
    ...kept.left.map((what) => `not kept: ${what}`),
    ...flags.map((what) => `it changes what the gate runs: ${what}`),
    ...turn.strays,
  ];
  const handoff = claimed(brief, redact(text), evidence);
  return {
    outcome: {
      is: "worked",
      handoff: { ...handoff, concerns: [...notes, ...handoff.concerns] },
      evidence: { ...evidence, diff: redact(evidence.diff) },
    },
  };
}

/** What the agent claims; without a claim that can be read, only what is there, and it says so. */
function claimed(brief: WorkBrief, text: string, evidence: Evidence): Handoff {
  const found = readHandoff(text, brief.task);
  return found.is === "handoff" ? found.handoff : handoffFromEvidence(brief.task, evidence, found);
}

/** Where an attempt that came to nothing is kept, for the next one and for `skein salvage`. */
export const salvageRefOf = ({ run, task, attempt }: Pick<WorkBrief, "run" | "task" | "attempt">) =>
  `refs/skein/salvage/${run}/${task}.${attempt}`;

async function keepAside(brief: WorkBrief, workspace: Workspace, { workspaces }: JobParts) {
  const keepsake = { ref: salvageRefOf(brief), message: messageOf(brief) };
  return workspaces.keep(workspace, keepsake, AbortSignal.timeout(CONCLUDE_MS));
}

function withKept(why: Failure, kept: Awaited<ReturnType<typeof keepAside>>, { redact }: JobParts): Failure {
  const where = hasFailed(kept)
    ? `; what it had made could not be kept: ${kept.failure.message}`
    : kept.commit
      ? "; what it had made is kept (skein salvage)"
      : "";
  return failure(why.kind, redact(`${why.message}${where}`), why.next);
}

const messageOf = ({ run, task, spec }: WorkBrief) =>
  `${subjectOf(spec)}\n\nSkein-Run: ${run}\nSkein-Task: ${task}\n`;

/** The first line of a description, short enough for the first line of a commit. */
export const subjectOf = ({ key, description }: { readonly key: string; readonly description: string }) => {
  const [line = ""] = description.split("\n");
  const text = `${key}: ${line.replace(/\p{C}+/gu, " ").trim()}`;
  return text.length <= MAX_SUBJECT_CHARS ? text : `${text.slice(0, MAX_SUBJECT_CHARS - 1)}…`;
};

const MAX_SUBJECT_CHARS = 72;
/** To keep, bring over and look at an attempt of any size; each git call has its own limit below it. */
const CONCLUDE_MS = 300_000;
const LOOK_MS = 60_000;

/** Not necessarily the worker's doing: people edit while a run goes on. */
function touched(before: Look, after: Look): readonly string[] {
  const places = differences(before, after);
  if (places.length === 0) return [];
  const some = places.slice(0, 5).join(", ");
  const more = places.length > 5 ? ` and ${places.length - 5} more` : "";
  return [`the user's checkout changed while this task was at work: ${some}${more}`];
}
