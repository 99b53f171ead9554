/** How does the user's own branch get what landed? After what it has meanwhile was merged into the target, and gated. */
import * as delivery from "../adapters/repositories/deliver.ts";
import type { Config } from "../config/schema.ts";
import { targetBranchOf } from "../core/brief.ts";
import { judgeGate } from "../core/gate.ts";
import type { JobId } from "../core/job.ts";
import { type Failed, hasFailed } from "../ports/repository.ts";
import type { RunHome } from "../ports/runs.ts";
import type { Environment, Project } from "./project.ts";
import { openWorld, type World } from "./world.ts";

/** What came of a delivery; all but the first two have changed nothing of the user's. */
export type DeliveryEnd =
  /** `isMerged`: what the branch had meanwhile was merged into the target first, and gated with it if there is a gate. */
  | {
      readonly is: "delivered";
      readonly from: string;
      readonly to: string;
      readonly isMerged: boolean;
      readonly isUngated?: true;
    }
  | Extract<delivery.Delivered, { readonly is: "nothing-new" }>
  /** `isMerged`: the target has what the branch had meanwhile; what is in the way came up only after that. */
  | (Refused & { readonly isMerged?: true });

type Refused =
  | Extract<delivery.Delivered, { readonly is: "checked-out" }>
  | { readonly is: "conflict"; readonly files: readonly string[] }
  | { readonly is: "red"; readonly failures: readonly string[] }
  | { readonly is: "base-keeps-moving" };

/** Brings the target to the user's branch. What that branch has meanwhile is merged into the target first, and gated. */
export async function deliverRun(
  project: Project,
  home: RunHome,
  options: {
    readonly config: Config;
    readonly env: Environment;
    readonly baseBranch: string;
    readonly intoCheckout: boolean;
  },
  signal: AbortSignal,
): Promise<DeliveryEnd | Failed> {
  const lock = await home.lock();
  if (hasFailed(lock)) return lock;
  const world = openWorld(project, home, options);
  const { baseBranch, intoCheckout, config } = options;
  const target = targetBranchOf(home.record.run, config.branchPrefix);
  const { run, base: since } = home.record;
  const wanted = { folder: project.located.top, run, baseBranch, target, since, intoCheckout };
  try {
    let isUngated = false;
    const refused = (end: Refused, merges: number) =>
      merges > 0 ? { ...end, isMerged: true as const } : end;
    for (let merges = 0; merges < MAX_BASE_MERGES; merges += 1) {
      const delivered = await delivery.deliver(wanted, signal);
      if (hasFailed(delivered)) return delivered;
      if (delivered.is === "delivered")
        return { ...delivered, isMerged: merges > 0, ...(isUngated ? { isUngated } : {}) };
      if (delivered.is === "checked-out") return refused(delivered, merges);
      if (delivered.is !== "base-moved") return delivered;
      const merged = await delivery.mergeBase(wanted, signal);
      if (hasFailed(merged)) return merged;
      if (merged.is === "conflict") return refused(merged, merges);
      const landed = await landBase(merged, { run: wanted.run, target }, world, signal);
      if (hasFailed(landed)) return landed;
      if (landed.is === "red") return refused(landed, merges);
      isUngated ||= landed.isUngated;
    }
    return refused({ is: "base-keeps-moving" }, MAX_BASE_MERGES);
  } finally {
    await world.workspaces.close(); // A run that was killed may hold others, which the next engine keeps: they stay.
    await world.close();
    await lock.release();
  }
}

const MAX_BASE_MERGES = 3;

/** The user's branch on top of the target, gated like every candidate. */
async function landBase(
  { commit, onto }: { readonly commit: string; readonly onto: string },
  { run, target }: { readonly run: string; readonly target: string },
  { jobs }: World,
  signal: AbortSignal,
): Promise<
  | { readonly is: "landed"; readonly isUngated: boolean }
  | { readonly is: "red"; readonly failures: readonly string[] }
  | Failed
> {
  const gated = await jobs.gate.run({ job: "deliver" as JobId, commit, rules: onto }, signal);
  if (hasFailed(gated)) return gated;
  const verdict = judgeGate(gated.report, { is: "green" });
  if (!verdict.ok) return { is: "red", failures: verdict.failures };
  const proof = { run, members: [], proof: verdict.proof, report: gated.report, flags: [] };
  const landed = await jobs.repository.land({ target, from: onto, to: commit, proof }, signal);
  // If somebody else has moved it, the caller looks at it again.
  return hasFailed(landed) ? landed : { is: "landed", isUngated: verdict.proof === "ungated" };
}
