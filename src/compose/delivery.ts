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
  | Exclude<delivery.Delivered, { readonly is: "base-moved" | "delivered" }>
  /** `isMerged`: what the branch had meanwhile was merged into the target first, and gated with it. */
  | {
      readonly is: "delivered";
      readonly from: string;
      readonly to: string;
      readonly isMerged: boolean;
    }
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
    for (let merges = 0; merges < MAX_BASE_MERGES; merges += 1) {
      const delivered = await delivery.deliver(wanted, signal);
      if (hasFailed(delivered)) return delivered;
      if (delivered.is === "delivered") return { ...delivered, isMerged: merges > 0 };
      if (delivered.is !== "base-moved") return delivered;
      const merged = await delivery.mergeBase(wanted, signal);
      if (hasFailed(merged) || merged.is === "conflict") return merged;
      const landed = await landBase(merged, { run: wanted.run, target }, world, signal);
      if (landed) return landed;
    }
    return { is: "base-keeps-moving" };
  } finally {
    await world.workspaces.close(); // A run that was killed may hold others, which the next engine keeps: they stay.
    await world.close();
    await lock.release();
  }
}

const MAX_BASE_MERGES = 3;

/** The user's branch on top of the target, gated like every candidate; undefined once the target is there. */
async function landBase(
  { commit, onto }: { readonly commit: string; readonly onto: string },
  { run, target }: { readonly run: string; readonly target: string },
  { jobs }: World,
  signal: AbortSignal,
): Promise<DeliveryEnd | Failed | undefined> {
  const gated = await jobs.gate.run({ job: "deliver" as JobId, commit, rules: onto }, signal);
  if (hasFailed(gated)) return gated;
  const verdict = judgeGate(gated.report, { is: "green" });
  if (!verdict.ok) return { is: "red", failures: verdict.failures };
  const proof = { run, members: [], proof: verdict.proof, report: gated.report, flags: [] };
  const landed = await jobs.repository.land({ target, from: onto, to: commit, proof }, signal);
  return hasFailed(landed) ? landed : undefined; // Moved by somebody else: looked at again by the caller.
}
