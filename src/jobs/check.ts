/** Runs a check job: the gate on the target's tip, unless its result is known, and where the target is afterwards. */
import { type BaseLook, baseLookOf } from "../core/base-look.ts";
import type { CheckBrief } from "../core/brief.ts";
import type { Probed } from "../core/gate.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { GateRun } from "../ports/gate.ts";
import type { Answer } from "../ports/job-queue.ts";
import { redactFields } from "../text/redact.ts";
import { failed, type JobParts, jobIdOf, withoutSecrets } from "./job-parts.ts";
import { runGate } from "./run-gate.ts";

export async function check(brief: CheckBrief, parts: JobParts, signal: AbortSignal): Promise<Answer> {
  const { repository, redact } = parts;
  const { target, tip } = brief;
  if (brief.probe) return probe(brief, parts, signal);
  const gated: GateRun | Failed = brief.seen
    ? { report: brief.seen, problems: [], tail: "" }
    : await gateTarget(brief, parts, signal);
  if (hasFailed(gated)) return failed(gated.failure);
  if (gated.setup) return failed(gated.setup);
  const seen = await repository.look(target, tip, signal);
  if (hasFailed(seen)) return failed(seen.failure);
  const torn = await repository.whole(target, signal);
  if (torn) return failed(torn.failure);
  const problems = gated.problems.map((problem) => ({ ...problem, message: redact(problem.message) }));
  const moved = seen.tip === tip ? {} : { moved: seen };
  const { report, leftovers, passedAt } = gated;
  const look = brief.isBase && !brief.seen ? lookOf(gated, redact) : undefined;
  const known = {
    ...(look && { look }),
    ...(passedAt !== undefined && { passedAt }),
    ...(brief.seen && { isKnown: true as const }),
  };
  const where = { ...(leftovers && { leftovers }), ...moved };
  return { outcome: { is: "checked", tip, report, problems, ...known, ...where } };
}

/** A gate that cannot run may stop the whole run, so after a used workspace it is tried once more in a fresh one. */
async function gateTarget(
  brief: CheckBrief,
  parts: JobParts,
  signal: AbortSignal,
): Promise<GateRun | Failed> {
  const { tip, isBase, isFresh, mayReuse } = brief;
  const tree = { job: jobIdOf(brief), commit: tip, rules: tip, ...(isBase && { isBase }) };
  const how = { ...(isBase && mayReuse && { mayReuse }), ...(isFresh && { isFresh }) };
  const gated = await runGate({ ...tree, ...how }, parts, signal);
  const isDoubtful = !hasFailed(gated) && gated.setup && gated.leftovers;
  return isDoubtful ? runGate({ ...tree, isFresh: true }, parts, signal) : gated;
}

/** Runs a probe job: finds out whether the gate looks at the target at all. */
async function probe(brief: CheckBrief, { gate, redact }: JobParts, signal: AbortSignal): Promise<Answer> {
  const { tip, seen = { commands: [] } } = brief;
  const found = await gate.probe({ job: jobIdOf(brief), commit: tip, rules: tip }, seen, signal);
  // A `Failed` has no `is`; every result of a probe has one.
  if (!("is" in found)) return failed(found.failure);
  return { outcome: { is: "probed", probed: redacted(found, redact) } };
}

/** A failure may quote what programs wrote. */
function redacted(probed: Probed, redact: JobParts["redact"]): Probed {
  if (probed.is === "not-probed") return { ...probed, why: redact(probed.why) };
  return probed.is === "unproven" ? { ...probed, failure: withoutSecrets(probed.failure, redact) } : probed;
}

/** The look quotes what programs wrote, and goes into the log. */
function lookOf(gated: GateRun, redact: JobParts["redact"]): BaseLook | undefined {
  const look = baseLookOf(gated);
  return look && redactFields(look, redact);
}
