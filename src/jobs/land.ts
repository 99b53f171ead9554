/**
 * Runs a land job: builds one candidate off to the side, gates it as merged, and moves the target if it has not moved.
 * With several gates, a candidate built on others that have not landed yet is only gated; another job moves the target.
 */
import type { BuiltOn, LandBrief, LandMember } from "../core/brief.ts";
import { failure } from "../core/failure.ts";
import { judgeGate, NOT_RUN, type Verdict } from "../core/gate.ts";
import type { Member, PassedCandidate } from "../core/job.ts";
import { hasFailed } from "../core/result.ts";
import { fewerTests, testsRanIn, withoutNames } from "../core/rules/fewer-tests.ts";
import { flagOf } from "../core/rules/gate-changes.ts";
import type { Problem } from "../core/rules/repair.ts";
import type { GatedTree, GateRun } from "../ports/gate.ts";
import type { Answer } from "../ports/job-queue.ts";
import { failed, type JobParts, jobIdOf } from "./job-parts.ts";
import { runGate } from "./run-gate.ts";
import { subjectOf } from "./work.ts";

export async function land(brief: LandBrief, parts: JobParts, signal: AbortSignal): Promise<Answer> {
  if (brief.above) return gateAhead(brief, brief.above, parts, signal);
  const { target, onto } = brief;
  const seen = await parts.repository.look(target, onto, signal);
  if (hasFailed(seen)) return failed(seen.failure);
  if (seen.tip !== onto) return { outcome: { is: "moved", ...seen } };
  const gated = brief.passed ?? (await gateOn(brief, onto, parts, signal));
  if ("outcome" in gated) return gated;

  const { commit, members, conflicts, proof, compared, report, flags } = gated;
  const isProbed = brief.probe !== undefined && proof !== "ungated";
  const how = { proof, ...(compared && { compared }) };
  const ran = testsRanIn(report);
  const fewer = tellsItself(brief, members) ? [] : fewerTests(brief.ran ?? [], ran);
  const said = {
    ...{ run: brief.run, members, ...how, report: withoutNames(report) },
    ...{ ...(isProbed && { probe: brief.probe }), flags: [...flags, ...fewer] },
  };
  const landed = await parts.repository.land({ target, from: onto, to: commit, proof: said }, signal);
  if (hasFailed(landed)) return failed(landed.failure);
  if (landed.is !== "landed") return { outcome: landed };
  const more = { ...(fewer.length > 0 && { flags: fewer }), ...(ran.length > 0 && { ran }) };
  return { outcome: { is: "landed", commit, members, conflicts, ...how, ...more } };
}

/**
 * The candidates that this one is built on are made here the same way as by the jobs that gate them: the same commits,
 * with the same ids.
 */
async function gateAhead(
  brief: LandBrief,
  above: readonly BuiltOn[],
  parts: JobParts,
  signal: AbortSignal,
): Promise<Answer> {
  let { onto } = brief;
  for (const { members, madeAt } of above) {
    const made = await parts.repository.candidate(wantedOf({ ...brief, members, madeAt }, onto), signal);
    if (hasFailed(made)) return failed(made.failure);
    if ("is" in made) return failed(GONE_BELOW);
    onto = made.commit ?? onto;
  }
  const gated = await gateOn(brief, onto, parts, signal);
  if (!("outcome" in gated)) return { outcome: { is: "gated", ...gated } };
  const { outcome } = gated;
  const isJudged = outcome.is === "red" || outcome.is === "unmergeable";
  return isJudged ? { outcome: { ...outcome, onto } } : gated;
}

const GONE_BELOW = failure(
  "repository",
  "the commits of a task that this candidate is built on are not in the repository any more",
  "let no `git gc --prune=now` or `git prune` run in the repository meanwhile",
);

const wantedOf = (
  brief: Pick<LandBrief, "run" | "target" | "strategy" | "members" | "madeAt">,
  onto: string,
) => ({
  run: brief.run,
  target: brief.target,
  onto,
  strategy: brief.strategy,
  members: brief.members.map(asBranch),
  ...(brief.madeAt !== undefined && { madeAt: brief.madeAt }),
});

/** Builds the candidate on `onto` and runs its gate. Returns an answer if the candidate cannot land as it is. */
async function gateOn(
  brief: LandBrief,
  onto: string,
  parts: JobParts,
  signal: AbortSignal,
): Promise<PassedCandidate | Answer> {
  const { repository, gate } = parts;
  const candidate = await repository.candidate(wantedOf(brief, onto), signal);
  if (hasFailed(candidate)) return failed(candidate.failure);
  if ("is" in candidate) return { outcome: candidate };
  const { commit, members, conflicts } = candidate;
  if (commit === undefined) return { outcome: { is: "unmergeable", conflicts } };

  const changes = await gate.changes(onto, commit, signal);
  const isOwn = brief.ownRules && !hasFailed(changes) && changes.some(({ of }) => of === "gate");
  const gated = await beside(
    gateByRules(
      {
        ...{ job: jobIdOf(brief), commit, rules: isOwn ? commit : onto, from: onto },
        ...(brief.isFresh && { isFresh: brief.isFresh }),
      },
      onto,
      parts,
      signal,
    ),
    (stop) => prepareNext(brief, commit, parts, stop),
    signal,
  );
  const unready = hasFailed(gated) ? gated.failure : gated.setup;
  if (hasFailed(gated) && gated.failure.kind !== "setup") return failed(gated.failure);
  const { report, problems, tail, stale, leftovers }: GateRun = hasFailed(gated) ? NOTHING_RAN : gated;
  const verdict = unready ? UNRUN : judgeGate(report, brief.accept);
  if (!verdict.ok) {
    const { failures } = verdict;
    const files = filesNamed(problems, failures);
    const detail = parts.redact(tail === "" ? (unready?.message ?? "") : tail);
    return {
      outcome: {
        ...{ is: "red" as const, members, conflicts, failures },
        ...(files.length > 0 && { files }),
        ...{ detail, ...(stale !== undefined && { stale }), ...(leftovers && { leftovers }) },
      },
    };
  }

  const { proof, compared } = verdict;
  return {
    ...{ onto, commit, members, conflicts, proof, report, ...(compared && { compared }) },
    flags: [
      ...(hasFailed(changes) ? [`unknown: ${changes.failure.message}`] : changes.map(flagOf)),
      ...brief.members.flatMap(({ task, spec, flags = [] }) =>
        members.some((member) => member.task === task) ? flags.map((flag) => `${spec.key}: ${flag}`) : [],
      ),
    ],
  };
}

/** True if a member's own flags already say what it does to tests. */
const tellsItself = ({ members: all }: LandBrief, landed: readonly Member[]): boolean =>
  all.some(({ task, tellsOfTests }) => tellsOfTests && landed.some((member) => member.task === task));

const NOTHING_RAN: GateRun = { report: { commands: [] }, problems: [], tail: "" };

/**
 * The candidate itself may be what keeps its gate from running, so it is red, never "no worse". If it is not the cause,
 * the check of the target that follows says so.
 */
const UNRUN: Verdict = { ok: false, failures: [NOT_RUN] };

/** If the candidate has no gate of its own, the target's gate is used: no change lands by removing the gate. */
async function gateByRules(tree: GatedTree, onto: string, parts: JobParts, signal: AbortSignal) {
  const ran = await runGate(tree, parts, signal);
  const hasNone = !hasFailed(ran) && ran.report.commands.length === 0;
  return hasNone && tree.rules !== onto ? runGate({ ...tree, rules: onto }, parts, signal) : ran;
}

/** The files that the failures name: a member that changed one of them may be the guilty one. */
function filesNamed(problems: readonly Problem[], failures: readonly string[]): readonly string[] {
  const asked = new Set(failures);
  const files = problems.flatMap((problem) => (asked.has(problem.name) ? problem.files : []));
  return [...new Set(files)].slice(0, MAX_FILES);
}

const MAX_FILES = 200;

const asBranch = ({ spec, flags: _, tellsOfTests: _told, ...member }: LandMember) => ({
  ...member,
  subject: subjectOf(spec),
});

/**
 * If this candidate lands, the next one is built on it. While its gate runs, the next one is merged and its files are
 * put in place. If it does not land, only this preparation is lost.
 */
async function prepareNext(
  brief: LandBrief,
  onto: string,
  { repository, gate }: JobParts,
  signal: AbortSignal,
): Promise<void> {
  const { madeAt: _, next = [], ...rest } = brief;
  if (next.length === 0) return;
  const candidate = await repository.candidate(wantedOf({ ...rest, members: next }, onto), signal);
  if (hasFailed(candidate) || "is" in candidate || candidate.commit === undefined) return;
  gate.prepare({ job: jobIdOf(brief), commit: candidate.commit, rules: onto });
}

/** Runs `meanwhile` beside `first`, and stops it when `first` has ended. */
async function beside<T>(
  first: Promise<T>,
  meanwhile: (stop: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<T> {
  const over = new AbortController();
  const other = meanwhile(AbortSignal.any([over.signal, signal])).catch(() => {}); // It is only a head start.
  try {
    return await first;
  } finally {
    over.abort();
    await other;
  }
}
