/** Can this land? One candidate: built off to the side, gated as merged, and the target moved if it still stands. */
import type { LandBrief } from "../core/brief.ts";
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

  const wanted = brief.members.map(({ spec, ...member }) => ({ ...member, subject: subjectOf(spec) }));
  const candidate = await repository.candidate({ run, target, onto, strategy, members: wanted }, signal);
  if (hasFailed(candidate)) return failed(candidate.failure);
  const { commit, members, conflicts } = candidate;
  if (commit === undefined) return { outcome: { is: "unmergeable", conflicts } };

  const gated = await gate.run({ job: jobIdOf(brief), commit, rules: onto }, signal);
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
