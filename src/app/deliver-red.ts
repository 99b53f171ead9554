/** Delivers a target whose gate fails if the base branch has all its failures; only the command line offers it. */
import { failure } from "../core/failure.ts";
import { type AlsoFails, failsAsWell, type GateReport, judgeGate } from "../core/gate.ts";
import type { JobId } from "../core/job.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { DeliveryEnd, DeliveryRefused, DeliveryWanted } from "../ports/delivery.ts";
import type { Gone, Landed } from "../ports/repository.ts";
import {
  type Bring,
  type DeliverParts,
  type DeliverRequest,
  deliverBy,
  MAX_BASE_MERGES,
  type RunDelivered,
} from "./deliver.ts";
import type { RunWorld } from "./parts.ts";
import type { Refused } from "./refused.ts";

export const deliverRed = (
  request: DeliverRequest,
  parts: DeliverParts,
  signal: AbortSignal,
): Promise<RunDelivered | Refused> =>
  deliverBy(Object.assign(compareAndBring, { onRed: true as const }) satisfies Bring, request, parts, signal);

/** Matches no commits, so the first call only finds out where branch and target are, and moves nothing. */
const NOWHERE = { base: "", target: "" };

async function compareAndBring(
  wanted: DeliveryWanted,
  world: RunWorld,
  { delivery, git }: DeliverParts,
  signal: AbortSignal,
): Promise<DeliveryEnd | Failed> {
  const gated = gateOf(world, signal);
  let only: NonNullable<DeliveryWanted["only"]> = NOWHERE;
  let failing: readonly string[] = [];
  let merges = 0;
  const no = (end: DeliveryRefused): DeliveryEnd => (merges > 0 ? { ...end, isMerged: true } : end);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const brought = await delivery.bring({ ...wanted, only }, signal);
    if (hasFailed(brought)) return brought;
    if (brought.is === "delivered") return { ...brought, isMerged: merges > 0, failing };
    if (brought.is === "checked-out") return no(brought);
    if (brought.is !== "base-moved") return brought;
    const { base, target } = brought;
    const isForward = (await git("merge-base", "--is-ancestor", base, target)) !== undefined;
    if (!isForward && merges >= MAX_BASE_MERGES) break;
    const merged = isForward ? undefined : await delivery.mergeBase(wanted, signal);
    if (merged && hasFailed(merged)) return merged;
    if (merged?.is === "conflict") return no(merged);
    const [from, to] = merged ? [await baseIn(merged.commit, git), merged.commit] : [base, target];
    const compared = await compare(from, to, gated);
    if (hasFailed(compared)) return compared;
    if (compared.is === "others") return no({ is: "red-otherwise", failures: compared.failures });
    if (compared.is === "unjudged") return no({ is: "unjudged", why: compared.why });
    failing = compared.failures;
    only = { base: from, target: to };
    if (!merged) continue;
    const landed = await landMerged({ ...merged, report: compared.report, failing }, wanted, world, signal);
    if (hasFailed(landed)) return landed;
    if (landed.is === "landed") merges += 1;
  }
  return no({ is: "base-keeps-moving" });
}

/** The branch may move while a gate runs: then its new commit is compared. */
const MAX_ROUNDS = 2 * MAX_BASE_MERGES + 2;

/** The branch's commit in the merge: it may have moved since it was last read. */
const baseIn = async (merged: string, git: DeliverParts["git"]): Promise<string> =>
  (await git("rev-parse", "--verify", `${merged}^2`)) ?? "";

type Gated = (commit: string) => Promise<GateReport | Failed>;

/**
 * Gates each commit by its own gate, once, in a fresh workspace: a failure that happens only in a used one decides
 * nothing.
 */
function gateOf({ jobs }: RunWorld, signal: AbortSignal): Gated {
  const known = new Map<string, GateReport>();
  return async (commit) => {
    const before = known.get(commit);
    if (before) return before;
    const tree = { job: "deliver" as JobId, commit, rules: commit, isFresh: true as const };
    const gated = await jobs.gate.run(tree, signal);
    if (hasFailed(gated)) return gated;
    if (gated.setup) return { failure: gated.setup };
    known.set(commit, gated.report);
    return gated.report;
  };
}

async function compare(
  base: string,
  target: string,
  gated: Gated,
): Promise<(AlsoFails & { readonly report: GateReport }) | Failed> {
  const there = await gated(base);
  if (hasFailed(there)) return there;
  const report = await gated(target);
  if (hasFailed(report)) return report;
  if (report.commands.length === 0 && there.commands.length > 0)
    return { failure: failure("target-red", "the target has no gate any more, and the branch has one") };
  return { ...failsAsWell(report, there), report };
}

type Merged = {
  readonly commit: string;
  readonly onto: string;
  readonly report: GateReport;
  readonly failing: readonly string[];
};

/** Lands the merge of branch and target, with a proof that says what was compared. */
async function landMerged(
  { commit, onto, report, failing }: Merged,
  { run, target, baseBranch }: DeliveryWanted,
  { jobs }: RunWorld,
  signal: AbortSignal,
): Promise<Landed | Gone | Failed> {
  const verdict = judgeGate(report, { is: "green" });
  const compared = [
    `delivery: what fails (${failing.length}) fails on ${baseBranch}, too, all of it by name`,
  ];
  const how = verdict.ok ? { proof: verdict.proof } : { proof: "red-to-red" as const, compared };
  const proof = { run, members: [], ...how, report, flags: [] };
  return jobs.repository.land({ target, from: onto, to: commit, proof }, signal);
}
