/** How is the target? The gate on its tip, unless that is known, and where it is by then. */
import type { CheckBrief } from "../core/brief.ts";
import type { Problem } from "../core/repair.ts";
import type { Answer } from "../ports/job-queue.ts";
import { hasFailed } from "../ports/repository.ts";
import { failed, type JobParts, jobIdOf } from "./job-parts.ts";
import { type Reconciled, reconciled } from "./reconcile.ts";

export async function check(brief: CheckBrief, parts: JobParts, signal: AbortSignal): Promise<Answer> {
  const { repository, gate, redact } = parts;
  const { target, tip } = brief;
  const gated = brief.seen
    ? { report: brief.seen, problems: [] }
    : await gate.run({ job: jobIdOf(brief), commit: tip, rules: tip }, signal);
  if (hasFailed(gated)) return failed(gated.failure);
  const seen = await repository.look(target, tip, signal);
  if (hasFailed(seen)) return failed(seen.failure);
  const found = gated.problems.map((problem) => ({ ...problem, message: redact(problem.message) }));
  const { problems, spent } = await together(brief, found, parts, signal);
  const moved = seen.tip === tip ? {} : { moved: seen };
  return {
    outcome: { is: "checked", tip, report: gated.report, problems, ...moved },
    ...(spent ? { spent } : {}),
  };
}

/** Asked of a model only where fixes follow from it. */
async function together(
  brief: CheckBrief,
  problems: readonly Problem[],
  parts: JobParts,
  signal: AbortSignal,
): Promise<Reconciled> {
  const { reconciler } = parts;
  const { repair } = brief;
  if (reconciler === "rules" || !repair || problems.length === 0) return { problems };
  return reconciled(jobIdOf(brief), { ...brief, repair }, problems, { ...parts, reconciler }, signal);
}
