/** Runs a work job: one turn of an agent in its own workspace, then the result by what the repository shows. */

import { readHandoff } from "../core/answers/handoff-answer.ts";
import type { WorkBrief } from "../core/brief.ts";
import { type Failure, failure } from "../core/failure.ts";
import { checkoutChanged } from "../core/handoff.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { Evidence } from "../core/rules/evidence.ts";
import { chooseSpecialist } from "../delegation/choose-specialist.ts";
import { DEFAULT_SUBAGENT } from "../delegation/heuristics.ts";
import type { Ask, Called, Cut } from "../ports/agent.ts";
import { differences, type Look } from "../ports/checkout.ts";
import type { Answer } from "../ports/job-queue.ts";
import type { Keepsake, Kept, Workspace } from "../ports/workspaces.ts";
import { isRecord } from "../text/json.ts";
import { readCall } from "./called.ts";
import { collected, failed, type JobParts, type JobTurn, jobIdOf } from "./job-parts.ts";
import { takeTold } from "./preparing.ts";
import { checkedResult, contextFor } from "./subtask.ts";
import { criterionBefore, reported, scratchpadFor, tryCriterion } from "./terms.ts";
import { runWatched } from "./watched.ts";

export async function work(brief: WorkBrief, parts: JobParts, signal: AbortSignal): Promise<Answer> {
  const unkept = takeUnkept(brief, parts);
  if (unkept) return conclude(brief, unkept, parts, signal);
  const { workspaces, worker, checkout, maxTurnMs, specialists, signs, outbox } = parts;
  const job = jobIdOf(brief);
  const place = await scratchpadFor(brief, outbox);
  if (hasFailed(place)) return failed(place.failure);
  const commit = brief.goOn?.start ?? brief.base;
  const paths = pathsOf(brief.spec);
  const want = { job, commit, use: "agent" as const, ...(paths && { paths }) };
  const workspace = await takeTold(want, { workspaces, signs }, signal);
  if (hasFailed(workspace)) return failed(workspace.failure);
  const { folder, environment } = workspace;
  const before = await checkout.look(signal);
  const { specialist, problem } = chooseSpecialist(brief.spec, await specialists());
  const role = specialist ? { role: specialist } : {};
  const { subtasks } = parts;
  const context = await contextFor(brief, subtasks.filesIn(folder), subtasks.templates, signal);
  const ask: Ask = { job, brief, folder, environment, maxMs: maxTurnMs.work, ...role, ...place, ...context };
  const said = await runWatched(worker, ask, signs, signal);
  const after = await checkout.look(AbortSignal.timeout(LOOK_MS));
  const strays = hasFailed(before) || hasFailed(after) ? [] : touched(before, after);
  const turn = { workspace, said, strays: [...strays, ...(problem ? [problem] : [])] };
  return conclude(brief, turn, parts, signal);
}

/**
 * The files that the worker needs, if they are known. Unknown if a command judges the result or if the task only
 * reports, because then any file may be needed; and for a subtask, which continues a part of another task.
 */
function pathsOf({ scope, terms, delivers, spawn }: WorkBrief["spec"]): readonly string[] | undefined {
  const isKnown = delivers === "change" && !spawn && !terms?.loose && terms?.criterion === undefined;
  return isKnown ? [...scope, ...(terms?.reads ?? [])] : undefined;
}

/** After a restart: an attempt that had finished is judged as usual; the work of any other is only kept. */
export async function finishWork(
  brief: WorkBrief,
  { workspace, wasRunning }: { readonly workspace: Workspace; readonly wasRunning: boolean },
  parts: JobParts,
  signal: AbortSignal,
): Promise<Answer | Cut | undefined> {
  const said = await collected(parts.worker, brief, wasRunning);
  if (said && said.is !== "cut") return conclude(brief, { workspace, said, strays: [] }, parts, signal);
  await giveBack(workspace, await keepAside(brief, workspace, parts), parts);
  return said;
}

/**
 * After a restart, for an attempt that failed because of the machine: if its turn succeeded, its workspace is left to
 * the next attempt. Returns whether it is.
 */
export async function recallUnkept(
  brief: WorkBrief,
  workspace: Workspace,
  { worker, unkept }: JobParts,
): Promise<boolean> {
  const job = jobIdOf(brief);
  const said = await worker.collect(job);
  if ((said?.is !== "said" && said?.is !== "called") || brief.goOn?.isAnswering) return false;
  unkept.set(job, { workspace, said: withoutCost(said), strays: [] });
  return true;
}

/** The work of an earlier attempt, which exists and is paid for. Only the steps after its turn are done again. */
function takeUnkept(brief: WorkBrief, { unkept }: JobParts): JobTurn | undefined {
  for (let attempt = brief.attempt - 1; attempt > 0; attempt -= 1) {
    const job = jobIdOf({ ...brief, attempt });
    const turn = unkept.get(job);
    unkept.delete(job);
    if (turn) return turn;
  }
  return undefined;
}

/** The cost was counted with the attempt that did the work. */
const withoutCost = ({ spent: _, ...said }: Exclude<JobTurn["said"], { readonly is: "failed" }>) => said;

async function conclude(
  brief: WorkBrief,
  turn: JobTurn,
  parts: JobParts,
  signal: AbortSignal,
): Promise<Answer> {
  const { workspace, said } = turn;
  if (brief.goOn?.isAnswering) return concludeAnswer(brief, turn, parts);
  const spent = said.spent ? { spent: said.spent } : {};
  const isGood = said.is !== "failed";
  const kept = isGood ? await keepAsBranch(brief, turn, parts) : await keepAside(brief, workspace, parts);
  const answer =
    said.is === "failed"
      ? failed(toldOf(said.failure, { ...turn, kept }, parts))
      : said.is === "called"
        ? await concludeCall(brief, said, { ...turn, kept }, parts)
        : await judgeBranch(brief, { ...turn, text: said.text, kept }, parts, signal);
  const whole = { ...answer, ...spent };
  // Remembers only results: a failure because of a stop must not be remembered.
  if (whole.outcome.is === "worked" || whole.outcome.is === "called")
    await parts.remember(jobIdOf(brief), whole);
  const why = whole.outcome.is === "failed" ? whole.outcome.failure : undefined;
  // Stopped while the criterion ran: after a resume the criterion is tried again, in the same workspace.
  const isCutOff = why !== undefined && signal.aborted;
  const isMachines = why?.kind === "repository";
  if (said.is !== "failed" && isMachines && !isCutOff)
    parts.unkept.set(jobIdOf(brief), { ...turn, said: withoutCost(said) });
  if (!isGood || !(isCutOff || isMachines)) await giveBack(workspace, kept, parts);
  return whole;
}

/**
 * Work that could not be kept exists only in the workspace: keeping it is tried again when the run ends or is resumed.
 */
async function giveBack(workspace: Workspace, kept: Kept | Failed, { workspaces }: JobParts): Promise<void> {
  if (!isStillThere(kept)) await workspaces.release(workspace);
}

/** False if the worker itself has destroyed its work. */
const isStillThere = (kept: Kept | Failed): boolean =>
  hasFailed(kept) && kept.failure.kind !== "agent-failed";

/** The turn ended with a call: its changes are kept as a snapshot, from which the worker or its subtask goes on. */
async function concludeCall(
  brief: WorkBrief,
  said: Called,
  { workspace, strays, kept }: JobTurn & { readonly kept: Kept | Failed },
  { subtasks, specialists, redact }: JobParts,
): Promise<Answer> {
  if (hasFailed(kept)) return failed(stillIn(workspace, kept));
  const call = readCall(said, await subtasks.templates(), redact);
  const start = kept.commit ?? workspace.commit;
  const { specialist } = chooseSpecialist(brief.spec, await specialists());
  const isFull = call.is === "subtask" && call.order.context.inherit_context === "full"; // A subtask of the same role.
  const agent = specialist ? { agent: specialist.name } : isFull ? { agent: DEFAULT_SUBAGENT } : {};
  const notes = [...notKept(kept), ...strays];
  const noted = notes.length > 0 ? { notes } : {};
  return { outcome: { is: "called", call, start, session: workspace.job, ...agent, ...noted } };
}

const notKept = ({ left }: Kept): readonly string[] => left.map((what) => `not kept: ${what}`);

/** Only its words count. What it changed meanwhile is dropped, because its subtask works on the files. */
async function concludeAnswer(
  brief: WorkBrief,
  { workspace, said }: JobTurn,
  { remember, workspaces, redact }: JobParts,
): Promise<Answer> {
  const question = String(brief.goOn?.response.result.notes["question"]);
  const answer = { outcome: answerIn(question, said, redact), ...(said.spent && { spent: said.spent }) };
  if (said.is !== "failed") await remember(jobIdOf(brief), answer);
  await workspaces.release(workspace);
  return answer;
}

function answerIn(question: string, said: JobTurn["said"], redact: JobParts["redact"]): Answer["outcome"] {
  if (said.is === "failed") return { is: "failed", failure: said.failure };
  if (said.is === "said") return spokenAnswer(question, redact(said.text));
  const asked = said.tool === "ask" && isRecord(said.input) ? said.input["question"] : undefined;
  return { is: "passed-on", question, ...(typeof asked === "string" && { text: redact(asked) }) };
}

/** The summary of a handoff, or the plain text. */
function spokenAnswer(question: string, text: string): Answer["outcome"] {
  const read = readHandoff(text, "");
  const answer = read.is === "handoff" ? read.handoff.summary : text.trim();
  const isGiven = answer !== "" && (read.is !== "handoff" || read.handoff.status === "complete");
  return isGiven ? { is: "answered", question, text: answer } : { is: "passed-on", question };
}

/** The changes become the attempt's branch, and the result is judged by that branch. */
async function judgeBranch(
  brief: WorkBrief,
  { workspace, strays, text, kept }: JobTurn & { readonly text: string; readonly kept: Kept | Failed },
  parts: JobParts,
  stop: AbortSignal,
): Promise<Answer> {
  if (hasFailed(kept)) return failed(stillIn(workspace, kept));
  const signal = AbortSignal.timeout(CONCLUDE_MS); // Not `stop`: finished work is judged even then.
  // The commit of the attempt that did the work; if it went on after a call, the commit that its first turn began from.
  const base = brief.goOn ? brief.base : workspace.commit;
  const evidence = await evidenceOf(base, kept.commit ?? workspace.commit, parts, signal);
  if (hasFailed(evidence)) return failed(evidence.failure);
  const stale = workspace.stale === undefined ? [] : [`in its workspace, ${workspace.stale}`];
  const notes = [...workspace.notices, ...stale, ...notKept(kept), ...strays];
  const { handoff: said, unmet: undone } = await reported(brief, { text, evidence }, parts);
  const { handoff, unmet: unlike } = await checkedResult(brief, said, parts.subtasks.artefacts);
  const unsaid = undone ?? unlike;
  const isWanting = handoff.status !== "complete" || unsaid !== undefined;
  const tried = isWanting ? {} : await tryCriterion(brief, workspace, parts, stop);
  if (hasFailed(tried)) return failed(tried.failure);
  const unmet = unsaid ?? tried.unmet;
  const hasNothing = !isWanting && unmet === undefined && evidence.commit === undefined;
  const before = hasNothing ? await criterionBefore(brief, base, parts, stop) : {};
  if (hasFailed(before)) return failed(before.failure);
  return {
    outcome: {
      is: "worked",
      handoff: { ...handoff, concerns: [...notes, ...handoff.concerns] },
      evidence: { ...evidence, ...(unmet && { unmet }), ...before },
    },
  };
}

/** What the repository shows of a commit, without secrets: its files and marks, and what it changes of the gate. */
export async function evidenceOf(
  base: string,
  commit: string,
  { repository, gate, redact }: Pick<JobParts, "repository" | "gate" | "redact">,
  signal: AbortSignal,
): Promise<Evidence | Failed> {
  const evidence = await repository.evidence(base, commit, signal);
  if (hasFailed(evidence)) return evidence;
  const changes = evidence.commit ? await gate.changes(base, evidence.commit, signal) : [];
  if (hasFailed(changes)) return changes;
  return {
    ...{ ...evidence, diff: redact(evidence.diff) },
    ...(changes.length > 0 && { gateChanges: changes }),
  };
}

/** Where the work of a failed attempt is kept, for the next attempt and for `skein salvage`. */
export const salvageRefOf = ({ run, task, attempt }: Pick<WorkBrief, "run" | "task" | "attempt">) =>
  `refs/skein/salvage/${run}/${task}.${attempt}`;

const keepAside = (brief: WorkBrief, workspace: Workspace, parts: JobParts) =>
  keepAs({ ref: salvageRefOf(brief), message: messageOf(brief) }, workspace, parts);

/** With a criterion, the work is kept only once: changes by the criterion must not land, even if it was interrupted. */
const keepAsBranch = (brief: WorkBrief, { workspace, said }: JobTurn, parts: JobParts) => {
  const as = { ref: `refs/heads/${brief.branch}`, message: messageOf(brief) };
  const isFinal = brief.spec.terms?.criterion !== undefined && said.is !== "called";
  return keepAs(isFinal ? { ...as, isFinal } : as, workspace, parts);
};

const keepAs = (as: Keepsake, workspace: Workspace, { workspaces }: JobParts) =>
  workspaces.keep(workspace, as, AbortSignal.timeout(CONCLUDE_MS));

const stillIn = ({ folder }: Workspace, kept: Failed): Failure => {
  const { kind, message, next } = kept.failure;
  return isStillThere(kept)
    ? failure(kind, `${message}; its work is still in ${folder}`, next)
    : kept.failure;
};

/** The failure with where the attempt's work is, and what else was noticed. */
function toldOf(
  why: Failure,
  { workspace, strays, kept }: JobTurn & { readonly kept: Kept | Failed },
  { redact }: JobParts,
): Failure {
  const where = hasFailed(kept)
    ? [`its work could not be kept: ${stillIn(workspace, kept).message}`]
    : kept.commit
      ? ["its work is kept (skein salvage)", ...kept.left.map((what) => `but not ${what}`)]
      : [];
  return { ...why, message: redact([why.message, ...where, ...strays].join("; ")) };
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
/** For keeping, transferring and reading an attempt of any size; each git call has a smaller limit of its own. */
const CONCLUDE_MS = 300_000;
const LOOK_MS = 60_000;

/** The worker need not have done it: people edit while a run goes on. */
function touched(before: Look, after: Look): readonly string[] {
  const places = differences(before, after);
  return places.length === 0 ? [] : [checkoutChanged("this task was running", places)];
}
