/** Can this land? One candidate: built off to the side, gated as merged, and the target moved if it still stands. */
import type { LandBrief, LandMember } from "../core/brief.ts";
import { judgeGate, NOT_RUN, type Verdict } from "../core/gate.ts";
import { hasFailed } from "../core/result.ts";
import { flagOf } from "../core/rules/gate-changes.ts";
import type { Problem } from "../core/rules/repair.ts";
import type { GatedTree } from "../ports/gate.ts";
import type { Answer } from "../ports/job-queue.ts";
import { failed, type JobParts, jobIdOf } from "./job-parts.ts";
import { runGate } from "./run-gate.ts";
import { subjectOf } from "./work.ts";

export async function land(brief: LandBrief, parts: JobParts, signal: AbortSignal): Promise<Answer> {
  const { repository, gate } = parts;
  const { run, target, onto, strategy } = brief;
  const seen = await repository.look(target, onto, signal);
  if (hasFailed(seen)) return failed(seen.failure);
  if (seen.tip !== onto) return { outcome: { is: "moved", ...seen } };

  const wanted = { run, target, onto, strategy, members: brief.members.map(asBranch) };
  const candidate = await repository.candidate(wanted, signal);
  if (hasFailed(candidate)) return failed(candidate.failure);
  if ("is" in candidate) return { outcome: candidate };
  const { commit, members, conflicts } = candidate;
  if (commit === undefined) return { outcome: { is: "unmergeable", conflicts } };

  const changes = await gate.changes(onto, commit, signal);
  const isOwn = brief.ownRules && !hasFailed(changes) && changes.some(({ of }) => of === "gate");
  const gated = await beside(
    gateByRules(
      { job: jobIdOf(brief), commit, rules: isOwn ? commit : onto, from: onto },
      onto,
      parts,
      signal,
    ),
    (stop) => prepareNext(brief, commit, parts, stop),
    signal,
  );
  const unready = hasFailed(gated) ? gated.failure : gated.setup;
  if (hasFailed(gated) && gated.failure.kind !== "setup") return failed(gated.failure);
  const { report, problems, tail } = hasFailed(gated) ? NOTHING_RAN : gated;
  const verdict = unready ? UNRUN : judgeGate(report, brief.accept);
  if (!verdict.ok) {
    const { failures } = verdict;
    const files = filesNamed(problems, failures);
    const detail = parts.redact(tail === "" ? (unready?.message ?? "") : tail);
    return {
      outcome: { is: "red", members, conflicts, failures, ...(files.length > 0 && { files }), detail },
    };
  }

  const proof = {
    run,
    members,
    proof: verdict.proof,
    report,
    ...(brief.probe !== undefined && verdict.proof !== "ungated" && { probe: brief.probe }),
    flags: hasFailed(changes) ? [`unknown: ${changes.failure.message}`] : changes.map(flagOf),
  };
  const landed = await repository.land({ target, from: onto, to: commit, proof }, signal);
  if (hasFailed(landed)) return failed(landed.failure);
  if (landed.is !== "landed") return { outcome: landed };
  return { outcome: { is: "landed", commit, members, conflicts, proof: verdict.proof } };
}

const NOTHING_RAN = { report: { commands: [] }, problems: [], tail: "" };

/**
 * The candidate may be what keeps its gate from running: it is red, and never "no worse". If it is not, the look at the
 * target that follows says so.
 */
const UNRUN: Verdict = { ok: false, failures: [NOT_RUN] };

/** Where the tree has lost its gate, the target's decides: nothing lands by having none. */
async function gateByRules(tree: GatedTree, onto: string, parts: JobParts, signal: AbortSignal) {
  const ran = await runGate(tree, parts, signal);
  const hasNone = !hasFailed(ran) && ran.report.commands.length === 0;
  return hasNone && tree.rules !== onto ? runGate({ ...tree, rules: onto }, parts, signal) : ran;
}

/** Whose change they are in may be the one that is guilty. */
function filesNamed(problems: readonly Problem[], failures: readonly string[]): readonly string[] {
  const asked = new Set(failures);
  const files = problems.flatMap((problem) => (asked.has(problem.name) ? problem.files : []));
  return [...new Set(files)].slice(0, MAX_FILES);
}

const MAX_FILES = 200;

const asBranch = ({ spec, ...member }: LandMember) => ({ ...member, subject: subjectOf(spec) });

/**
 * If this candidate lands, the next one is built on it: while the gate is busy, it is merged, and its files begin to
 * be put in their place. If it does not land, only this preparation is lost.
 */
async function prepareNext(
  brief: LandBrief,
  onto: string,
  { repository, gate }: JobParts,
  signal: AbortSignal,
): Promise<void> {
  const { run, target, strategy, next = [] } = brief;
  if (next.length === 0) return;
  const wanted = { run, target, onto, strategy, members: next.map(asBranch) };
  const candidate = await repository.candidate(wanted, signal);
  if (hasFailed(candidate) || "is" in candidate || candidate.commit === undefined) return;
  gate.prepare({ job: jobIdOf(brief), commit: candidate.commit, rules: onto });
}

/** Does something in the meantime, which ends with the first. */
async function beside<T>(
  first: Promise<T>,
  meanwhile: (stop: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<T> {
  const over = new AbortController();
  const other = meanwhile(AbortSignal.any([over.signal, signal])).catch(() => {}); // Only a head start.
  try {
    return await first;
  } finally {
    over.abort();
    await other;
  }
}
