/** Delivers what landed in a run to the user's branch, if the run and the branch allow it and the gate passes. */

import { problemText } from "../config/problem.ts";
import type { Config } from "../config/schema.ts";
import { fromSettings } from "../config/settings.ts";
import { failure, messageOf } from "../core/failure.ts";
import { judgeGate } from "../core/gate.ts";
import type { JobId } from "../core/job.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import { TARGET_FAILS } from "../core/rules/finish.ts";
import { viewOf } from "../core/view/view.ts";
import type { Delivery, DeliveryEnd, DeliveryRefused, DeliveryWanted } from "../ports/delivery.ts";
import { deliverCommand, deliverRedHint, isRed } from "./deliverable.ts";
import { targetOf } from "./lost-run.ts";
import type { Parts, RunWorld } from "./parts.ts";
import { misconfigured, misused, type Refused, refused } from "./refused.ts";
import { type SeenRun, underWay } from "./see-run.ts";

export type DeliverRequest = SeenRun & {
  /** A branch to deliver to, instead of the one that the run started from. */
  readonly branch?: string;
  /** Deliver even if the branch is checked out: the files there change. */
  readonly intoCheckout?: boolean;
  /** Deliver even if the run is not done. */
  readonly partial?: boolean;
};

export type DeliverParts = Pick<Parts, "openWorld" | "git"> & { readonly delivery: Delivery };

export type RunDelivered = { readonly end: DeliveryEnd; readonly branch: string };

/** Moves the user's branch to the target. New commits of that branch are merged into the target first, and gated. */
export const deliverRun = (
  request: DeliverRequest,
  parts: DeliverParts,
  signal: AbortSignal,
): Promise<RunDelivered | Refused> => deliverBy(mergeAndBring, request, parts, signal);

/** Moves the branch, once the run allows it. `onRed`: the gate may fail on the target. */
export type Bring = {
  (
    wanted: DeliveryWanted,
    world: RunWorld,
    parts: DeliverParts,
    signal: AbortSignal,
  ): Promise<DeliveryEnd | Failed>;
  readonly onRed?: true;
};

export async function deliverBy(
  bring: Bring,
  request: DeliverRequest,
  parts: DeliverParts,
  signal: AbortSignal,
): Promise<RunDelivered | Refused> {
  const { home, branch = home.record.baseBranch } = request;
  const why = await whyNot(request, parts.git, bring.onRed);
  if (why) return why;
  const { run } = home.record;
  if (branch === undefined)
    return misused(
      `run ${run} did not start from a branch`,
      `name one: skein deliver ${run} --branch <name>`,
    );
  const recorded = fromSettings(home.record.settings);
  if ("problems" in recorded)
    return misconfigured("the run's record cannot be used", undefined, recorded.problems.map(problemText));
  const opened = { ...request, branch, bring, config: recorded.config };
  const end = await inWorld(opened, parts, signal).catch(
    (error: unknown): Failed => ({ failure: failure("repository", messageOf(error)) }),
  );
  if (hasFailed(end)) return refused(signal.aborted ? "stopped" : "run", end.failure);
  return { end, branch };
}

/** At the end of a run: delivers it if that is configured and the run is done; else undefined. */
export const deliverAtEnd = (
  request: DeliverRequest & { readonly config: Pick<Config, "deliver"> | undefined },
  parts: DeliverParts,
  signal: AbortSignal,
): Promise<RunDelivered | Refused> | undefined =>
  request.config?.deliver && viewOf(request.seen).is === "done"
    ? deliverRun(request, parts, signal)
    : undefined;

async function whyNot(
  { home, seen, partial = false }: DeliverRequest,
  git: Parts["git"],
  onRed = false,
): Promise<Refused | undefined> {
  const { run } = home.record;
  const owner = await home.owner();
  if (owner) return underWay(run, owner);
  const { is, target, landings } = viewOf(seen);
  const no = (message: string, next: string) => refused("run", failure("target-red", message, next));
  if (landings.length === 0)
    return no(`nothing has landed in run ${run}: there is nothing to deliver`, `skein show ${run}`);
  if (isRed(target) && !onRed)
    return no(
      `the gate fails on the target of run ${run}: it is not delivered`,
      await deliverRedHint(home.record, target, git),
    );
  if (is === "done" || partial || (onRed && isAllButGreen(seen))) return undefined;
  const part = `${await deliverCommand(home.record, git, true)}${onRed ? " --red" : ""}`;
  return seen.state.closed === undefined
    ? no(
        `run ${run} is not closed, so only a part of the goal would be delivered`,
        `skein resume ${run}; or deliver what landed so far: ${part}`,
      )
    : no(
        `run ${run} is ${is}, so only a part of the goal would be delivered`,
        `deliver what landed, each commit of it gated: ${part}`,
      );
}

/** The run is closed, and nothing is left except that the gate fails. */
const isAllButGreen = ({ state: { closed } }: SeenRun["seen"]): boolean =>
  closed?.how === "incomplete" && closed.left.every((text) => text.startsWith(TARGET_FAILS));

type Bringing = DeliverRequest & { readonly branch: string; readonly bring: Bring; readonly config: Config };

async function inWorld(
  { home, seen, branch: baseBranch, intoCheckout = false, bring, config }: Bringing,
  parts: DeliverParts,
  signal: AbortSignal,
): Promise<DeliveryEnd | Failed> {
  const { openWorld, delivery } = parts;
  const lock = await home.lock();
  if (hasFailed(lock)) return lock;
  await using stack = new AsyncDisposableStack();
  stack.defer(() => lock.release());
  const world = openWorld(home, { config });
  stack.defer(() => world.close());
  // Workspaces that a killed run still holds stay: the next engine keeps what is in them.
  stack.defer(async () => void (await world.workspaces.close()));
  const { run, base: since } = home.record;
  stack.defer(async () => void (await delivery.letGo(run)));
  const target = targetOf(home.record);
  const forbidden = await world.place.filterProblem(signal);
  if (forbidden) return { failure: { ...forbidden, next: `merge ${target} yourself, with your own git` } };
  const tip = seen.state.target.tip || since;
  const { filters } = config.workspace;
  // `await` is needed: the stack is disposed as soon as this function returns, even if it returns a promise.
  const wanted = { run, baseBranch, target, since, tip, intoCheckout, filters };
  return await bring(wanted, world, parts, signal);
}

export const MAX_BASE_MERGES = 3;

async function mergeAndBring(
  wanted: DeliveryWanted,
  world: RunWorld,
  { delivery }: DeliverParts,
  signal: AbortSignal,
): Promise<DeliveryEnd | Failed> {
  let isUngated = false;
  const no = (end: DeliveryRefused, merges: number) =>
    merges > 0 ? { ...end, isMerged: true as const } : end;
  for (let merges = 0; merges < MAX_BASE_MERGES; merges += 1) {
    const brought = await delivery.bring(wanted, signal);
    if (hasFailed(brought)) return brought;
    if (brought.is === "delivered")
      return { ...brought, isMerged: merges > 0, ...(isUngated ? { isUngated } : {}) };
    if (brought.is === "checked-out") return no(brought, merges);
    if (brought.is !== "base-moved") return brought;
    const merged = await delivery.mergeBase(wanted, signal);
    if (hasFailed(merged)) return merged;
    if (merged.is === "conflict") return no(merged, merges);
    const landed = await landBase(merged, wanted, world, signal);
    if (hasFailed(landed)) return landed;
    if (landed.is === "red") return no(landed, merges);
    isUngated ||= landed.isUngated;
  }
  return no({ is: "base-keeps-moving" }, MAX_BASE_MERGES);
}

type BaseLanded =
  | { readonly is: "landed"; readonly isUngated: boolean }
  | { readonly is: "red"; readonly failures: readonly string[] };

/** Merges the user's branch into the target, gates the merge like every candidate, and lands it. */
async function landBase(
  { commit, onto }: { readonly commit: string; readonly onto: string },
  { run, target }: { readonly run: string; readonly target: string },
  { jobs }: RunWorld,
  signal: AbortSignal,
): Promise<BaseLanded | Failed> {
  const gated = await jobs.gate.run({ job: "deliver" as JobId, commit, rules: onto, isFresh: true }, signal);
  if (hasFailed(gated)) return gated;
  if (gated.setup) return { failure: gated.setup };
  const verdict = judgeGate(gated.report, { is: "green" });
  if (!verdict.ok) return { is: "red", failures: verdict.failures };
  const proof = { run, members: [], proof: verdict.proof, report: gated.report, flags: [] };
  const landed = await jobs.repository.land({ target, from: onto, to: commit, proof }, signal);
  // If another process has moved the target, the caller checks again.
  return hasFailed(landed) ? landed : { is: "landed", isUngated: verdict.proof === "ungated" };
}
