/** Checks the terms of a plan's task: its result in the file that the answer names, and a criterion that passes. */
import path from "node:path";
import {
  handoffFromEvidence,
  MAX_READ_CHARS,
  type ReadHandoff,
  readHandoff,
} from "../core/answers/handoff-answer.ts";
import type { WorkBrief } from "../core/brief.ts";
import { type Failure, failure } from "../core/failure.ts";
import { cut, type Handoff } from "../core/handoff.ts";
import type { JobId } from "../core/job.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { Evidence } from "../core/rules/evidence.ts";
import { doneAnswer, type Scratchpad } from "../ports/agent.ts";
import type { Outbox } from "../ports/outbox.ts";
import type { Workspace } from "../ports/workspaces.ts";
import { redactCommand, redactFields } from "../text/redact.ts";
import { type JobParts, jobIdOf } from "./job-parts.ts";

/** Before the turn: where its result goes, and where the results of earlier tasks are. */
export async function scratchpadFor(
  { spec, before, goOn }: WorkBrief,
  outbox: Outbox,
): Promise<{ readonly scratchpad?: Scratchpad } | Failed> {
  const { folder } = outbox;
  const name = spec.terms?.output;
  if (name === undefined)
    return before.some(({ output }) => output !== undefined) ? { scratchpad: { folder } } : {};
  // The file was written by the same worker before its call, so it is kept.
  if (goOn) return { scratchpad: { folder, file: path.join(folder, name) } };
  const made = await outbox.prepare(name);
  return hasFailed(made) ? made : { scratchpad: { folder, file: made.file } };
}

/** What the agent claims, and the failure if its answer breaks the terms. */
type Reported = { readonly handoff: Handoff; readonly unmet?: Failure };

/**
 * A worker with an output file answers `DONE|<path>`, alone or as the summary of a complete handoff, and its result is
 * the file's text. A report that it is not complete is believed without the file.
 */
export async function reported(
  brief: WorkBrief,
  { text, evidence }: { readonly text: string; readonly evidence: Evidence },
  { outbox, redact }: Pick<JobParts, "outbox" | "redact">,
): Promise<Reported> {
  // A result is checked whole, and cut afterwards.
  const max = isResult(brief) ? MAX_READ_CHARS : undefined;
  const found = redactFields(readHandoff(text, brief.task, max), redact);
  const claim = claimed(brief, found, redact(text).trim(), evidence);
  const name = brief.spec.terms?.output;
  const isHonest = found.is === "handoff" && claim.status !== "complete";
  if (name === undefined || isHonest) return { handoff: claim };
  const handoff: Handoff = { ...claim, status: "complete" };
  const file = path.join(outbox.folder, name);
  const wanted = redact(doneAnswer(file));
  const answer = found.is === "handoff" ? claim.summary : redact(text).trim();
  if (answer !== wanted) return { handoff, unmet: notDone(answer, wanted) };
  const read = await outbox.read(name);
  if ("problem" in read) return { handoff, unmet: noOutput(redact(read.problem), redact(file)) };
  const concerns = found.is === "handoff" ? claim.concerns : [];
  return { handoff: { ...handoff, concerns, summary: cut(redact(plain(read.text)), MAX_SUMMARY_CHARS) } };
}

/** True if the worker's words are the result itself, not a report about it. */
export const isResult = ({ spec }: Pick<WorkBrief, "spec">): boolean =>
  spec.spawn !== undefined || (spec.delivers === "report" && spec.terms?.output === undefined);

/** Without a readable handoff, makes one from the branch, which says so. */
function claimed({ task, spec }: WorkBrief, found: ReadHandoff, text: string, evidence: Evidence): Handoff {
  if (found.is === "handoff") return found.handoff;
  const handoff = handoffFromEvidence(task, evidence, found);
  // The words of a subtask are its result, in whatever form.
  return spec.spawn && text !== "" ? { ...handoff, summary: text } : handoff;
}

const notDone = (answer: string, wanted: string): Failure =>
  failure(
    "unmet",
    `answered ${answer === "" ? "nothing" : quoted(answer)} instead of ${wanted}`,
    `write the complete result into the output file, and answer exactly ${wanted}, with nothing before or after it`,
  );

const noOutput = (problem: string, file: string): Failure =>
  failure("unmet", `answered DONE, but ${problem}`, `write the whole result into ${file} before the answer`);

/** Long enough to show two paths that differ only at their ends. */
const MAX_QUOTED_CHARS = 500;
const quoted = (text: string) => JSON.stringify(cut(text, MAX_QUOTED_CHARS));

/** As for a handoff's own summary; the policy cuts it further for the log. */
const MAX_SUMMARY_CHARS = 20_000;
/** Control characters except tab and line ends: a terminal obeys escape sequences. */
const CONTROL = /[\p{Cc}--[\t\n\r]]/gv;
const plain = (text: string) => text.toWellFormed().replace(CONTROL, "").trim();

/**
 * Finds out whether no change was needed: whether the criterion passes on the tree from before the task. Uses a
 * workspace of its own, because the worker may have left ignored files that make the command pass.
 */
export async function criterionBefore(
  brief: WorkBrief,
  commit: string,
  parts: Pick<JobParts, "criteria" | "redact" | "workspaces">,
  signal: AbortSignal,
): Promise<{ readonly isMetBefore?: true } | Failed> {
  const { spec } = brief;
  if (spec.terms?.criterion === undefined || spec.delivers === "report" || spec.spawn) return {};
  const job = `${jobIdOf(brief)}.before` as JobId;
  const workspace = await parts.workspaces.take({ job, commit, use: "probe" }, signal);
  if (hasFailed(workspace)) return workspace;
  try {
    const tried = await tryCriterion(brief, workspace, parts, signal);
    return hasFailed(tried) ? tried : tried.unmet ? {} : { isMetBefore: true };
  } finally {
    await parts.workspaces.release(workspace);
  }
}

/** Runs after the work was kept: what the command itself changes in the workspace is lost. */
export async function tryCriterion(
  { spec }: WorkBrief,
  workspace: Workspace,
  { criteria, redact }: Pick<JobParts, "criteria" | "redact">,
  signal: AbortSignal,
): Promise<{ readonly unmet?: Failure } | Failed> {
  const command = spec.terms?.criterion;
  if (command === undefined) return {};
  const tried = await criteria.try(command, workspace, signal);
  if (hasFailed(tried) || tried.is === "passed") return hasFailed(tried) ? tried : {};
  const why = `its success criterion does not pass: ${quoted(redactCommand(command, redact))}`;
  const unmet = failure("unmet", why, "run it in your folder, and fix what it reports, until it passes");
  return { unmet: { ...unmet, detail: redact(tried.detail) } };
}
