/** How does the user's own branch get what landed? After what it has meanwhile was merged into the target, and gated. */
import * as delivery from "../adapters/repositories/deliver.ts";
import { letGo } from "../adapters/repositories/held.ts";
import type { Config } from "../config/schema.ts";
import { targetBranchOf } from "../core/brief.ts";
import { judgeGate } from "../core/gate.ts";
import type { JobId } from "../core/job.ts";
import type { DeliveryEnd, DeliveryRefused } from "../ports/delivery.ts";
import { type Failed, hasFailed } from "../ports/repository.ts";
import type { RunHome } from "../ports/runs.ts";
import type { Environment, Project } from "./project.ts";
import { filterProblem, openWorld, type World } from "./world.ts";

export type { DeliveryEnd };

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
  const { filters } = config.workspace;
  try {
    const forbidden = await filterProblem(project, config, since, signal);
    if (forbidden) return { failure: { ...forbidden, next: `merge ${target} yourself, with your own git` } };
    const tip = await lastTip(home, since).catch(() => since); // Only a hint, for where the target is gone.
    const folder = project.located.top;
    const wanted = { folder, run, baseBranch, target, since, tip, intoCheckout, filters };
    let isUngated = false;
    const refused = (end: DeliveryRefused, merges: number) =>
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
    await letGo(project.located.top, run, { name: delivery.DELIVERY }); // What is left is let go when the next one ends.
    await world.workspaces.close(); // A run that was killed may hold others, which the next engine keeps: they stay.
    await world.close();
    await lock.release();
  }
}

const MAX_BASE_MERGES = 3;

/** Where the log last saw the target. */
async function lastTip({ log }: RunHome, base: string): Promise<string> {
  let tip = base;
  for await (const event of log.read(0)) {
    if (event.type === "batch.landed") tip = event.commit;
    if (event.type === "target.moved") tip = event.tip;
  }
  return tip;
}

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
  if (gated.setup) return { failure: gated.setup };
  const verdict = judgeGate(gated.report, { is: "green" });
  if (!verdict.ok) return { is: "red", failures: verdict.failures };
  const proof = { run, members: [], proof: verdict.proof, report: gated.report, flags: [] };
  const landed = await jobs.repository.land({ target, from: onto, to: commit, proof }, signal);
  // If somebody else has moved it, the caller looks at it again.
  return hasFailed(landed) ? landed : { is: "landed", isUngated: verdict.proof === "ungated" };
}
