/** Can this land? One candidate: built off to the side, gated as merged, and the target moved if it still stands. */
import type { LandBrief, LandMember } from "../core/brief.ts";
import { judgeGate } from "../core/gate.ts";
import type { Answer } from "../ports/job-queue.ts";
import { hasFailed } from "../ports/repository.ts";
import { failed, type JobParts, jobIdOf } from "./job-parts.ts";
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
  const { commit, members, conflicts } = candidate;
  if (commit === undefined) return { outcome: { is: "unmergeable", conflicts } };

  const gated = await beside(
    gate.run({ job: jobIdOf(brief), commit, rules: onto }, signal),
    (stop) => prepareNext(brief, commit, parts, stop),
    signal,
  );
  if (hasFailed(gated)) return failed(gated.failure);
  const verdict = judgeGate(gated.report, brief.accept);
  if (!verdict.ok) {
    const detail = parts.redact(gated.tail);
    return { outcome: { is: "red", members, conflicts, failures: verdict.failures, detail } };
  }

  const changes = await gate.changes(onto, commit, signal);
  const proof = {
    run,
    members,
    proof: verdict.proof,
    report: gated.report,
    flags: hasFailed(changes) ? [`unknown: ${changes.failure.message}`] : changes,
  };
  const landed = await repository.land({ target, from: onto, to: commit, proof }, signal);
  if (hasFailed(landed)) return failed(landed.failure);
  if (landed.is === "moved") return { outcome: landed };
  return { outcome: { is: "landed", commit, members, conflicts, proof: verdict.proof } };
}

const asBranch = ({ spec, ...member }: LandMember) => ({ ...member, subject: subjectOf(spec) });

/**
 * If this candidate lands, the next one is built on it: while the gate is busy, it is merged, and its files begin to
 * be put in their place. If it does not land, or somebody else comes first, nothing but that is lost.
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
  if (hasFailed(candidate) || candidate.commit === undefined) return;
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
