/** How is the target? The gate on its tip, unless that is known, and where it is by then. */
import type { CheckBrief } from "../core/brief.ts";
import type { Answer } from "../ports/job-queue.ts";
import { hasFailed } from "../ports/repository.ts";
import { failed, type JobParts, jobIdOf } from "./job-parts.ts";

export async function check(brief: CheckBrief, parts: JobParts, signal: AbortSignal): Promise<Answer> {
  const { repository, gate, redact } = parts;
  const { target, tip } = brief;
  const gated = brief.seen
    ? { report: brief.seen, problems: [] }
    : await gate.run({ job: jobIdOf(brief), commit: tip, rules: tip }, signal);
  if (hasFailed(gated)) return failed(gated.failure);
  const seen = await repository.look(target, tip, signal);
  if (hasFailed(seen)) return failed(seen.failure);
  const problems = gated.problems.map((problem) => ({ ...problem, message: redact(problem.message) }));
  const moved = seen.tip === tip ? {} : { moved: seen };
  return { outcome: { is: "checked", tip, report: gated.report, problems, ...moved } };
}
