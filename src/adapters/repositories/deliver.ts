/** Delivers the target to the user's own branch, only by fast-forward, and in a checkout only on request. */
import { messageOf } from "../../core/failure.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Brought, Delivery, DeliveryWanted, MergedBase } from "../../ports/delivery.ts";
import { FILTER_SETTINGS, filterSettings } from "../git/filters.ts";
import { git } from "../git/git.ts";
import { LFS_SETTINGS, lfsSettings } from "../git/lfs.ts";
import { syncRefs } from "../git/refs.ts";
import { readSettings, settingVariables } from "../git/settings.ts";
import { checkoutsOf } from "./checkouts.ts";
import { hold, letGo } from "./held.ts";
import { deletedTarget, firstParents } from "./landing.ts";
import { merge } from "./merge.ts";
import { baseMessage } from "./message.ts";
import { proofsOf, refOf, wrongNames } from "./names.ts";
import { provedLandings } from "./proofs.ts";
import { broken, closeStore, commitAt, inStore, openStore, type Store, writeCommit } from "./store.ts";

export const deliveryIn = (folder: string): Delivery => ({
  bring: (wanted, signal) => deliver({ ...wanted, folder }, signal),
  mergeBase: (wanted, signal) => mergeBase({ ...wanted, folder }, signal),
  letGo: (run) => letGo(folder, run, { name: DELIVERY }),
});

type InRepository = DeliveryWanted & { readonly folder: string };

const deliver = (delivery: InRepository, signal: AbortSignal): Promise<Brought | Failed> =>
  withStore(delivery.folder, signal, async (store) => {
    const { baseBranch, run, since } = delivery;
    const wrong = wrongNames({
      branches: [baseBranch, delivery.target],
      runs: [run],
      commits: [since],
    });
    if (wrong) return wrong;
    const base = await needed(store, delivery.baseBranch, GONE_NEXT);
    if (typeof base !== "string") return base;
    const target =
      (await commitAt(store, refOf(delivery.target))) ?? deletedTarget(delivery.target, delivery.tip);
    if (typeof target !== "string") return target;
    const hasAll = await isAncestor(store, target, base, signal);
    if (typeof hasAll !== "boolean") return hasAll;
    if (hasAll) return { is: "nothing-new", base };
    const isForward = await isAncestor(store, base, target, signal);
    if (typeof isForward !== "boolean") return isForward;
    const unproved = await unprovedOn(store, { ...delivery, tip: target }, signal);
    if (unproved) return unproved;
    const places = await checkoutsOf(store.gitDir, refOf(delivery.baseBranch), signal);
    if (hasFailed(places)) return places;
    // Asked before a merge as well, because a merge moves the target, and a refusal must come before anything has
    // changed.
    const inTheWay = places.length > 0 ? await whyNotThere(places, delivery, signal) : undefined;
    if (inTheWay) return inTheWay;
    const { only } = delivery;
    const isOther = only !== undefined && (base !== only.base || target !== only.target);
    if (!isForward || isOther) return { is: "base-moved", base, target };
    const move = { ...delivery, base, to: target };
    const [where] = places;
    return where === undefined ? byRef(store, move, signal) : inCheckout(where, move, signal);
  });

/** A commit that a person put on the target was never gated: the user may merge it, but Skein does not deliver it. */
async function unprovedOn(
  store: Store,
  { run, target, since, tip }: InRepository & { readonly tip: string },
  signal: AbortSignal,
): Promise<Failed | undefined> {
  const commits = await firstParents(store, tip, since, signal);
  if (hasFailed(commits)) return commits;
  const proved = await provedLandings(store, { ref: proofsOf(run), target, commits });
  if (hasFailed(proved)) return proved;
  const ontoOf = new Map(proved.map(({ commit, onto }) => [commit, onto]));
  // A landing of several commits, as a rebase makes it, has its proof on the last one.
  let next: string | undefined;
  for (const commit of commits.toReversed()) {
    if (next !== undefined && commit !== next) continue;
    next = ontoOf.get(commit);
    if (next === undefined) return noProof(commit, target);
  }
  return next === undefined || next === since ? undefined : noProof(tip, target);
}

const noProof = (commit: string, target: string): Failed =>
  broken(
    `the commit ${commit} on ${target} has no proof that it was gated, so nothing is delivered`,
    `look at it with \`git show ${commit}\`; if it is wanted, merge ${target} yourself`,
  );

type Move = InRepository & { readonly base: string; readonly to: string };

async function byRef(
  store: Store,
  { baseBranch, base, to }: Move,
  signal: AbortSignal,
): Promise<Brought | Failed> {
  const reason = ["-m", "skein: delivered"];
  const args = ["update-ref", ...reason, refOf(baseBranch), to, base];
  if (signal.aborted) return broken("the delivery was stopped before the branch moved");
  // Not stopped from here on, because a killed git may leave a lock.
  const answer = await inStore(store, { args });
  if (answer.ok) await syncRefs(store.gitDir, [refOf(baseBranch)]);
  if (answer.ok) return { is: "delivered", from: base, to };
  const now = await needed(store, baseBranch);
  if (typeof now !== "string" || now === base) return { failure: answer.failure };
  return { is: "base-moved", base: now, target: to };
}

/** Undefined if the branch may be moved where it is checked out. */
async function whyNotThere(
  places: readonly string[],
  { baseBranch, intoCheckout }: InRepository,
  signal: AbortSignal,
): Promise<Brought | Failed | undefined> {
  const [where = "", other] = places;
  if (other !== undefined) {
    return broken(`${baseBranch} is checked out twice, in ${where} and ${other}`, "leave it in one of them");
  }
  if (!intoCheckout) return { is: "checked-out", where, why: "not-asked" };
  const status = await git({ folder: where, args: TRACKED_CHANGES, maxBytes: 4096, cut: true }, signal);
  if (!status.ok) return { failure: status.failure };
  return status.out === "" ? undefined : { is: "checked-out", where, why: "not-clean" };
}

/** `git merge --ff-only` overwrites no untracked file; that no tracked file is changed was checked before. */
async function inCheckout(where: string, move: Move, signal: AbortSignal): Promise<Brought | Failed> {
  const args = ["merge", "--ff-only", "--no-stat", "--no-autostash", "--quiet", move.to];
  if (signal.aborted) return broken("the delivery was stopped before the checkout was touched");
  const settings = await readSettings(where, `^(${FILTER_SETTINGS}|${LFS_SETTINGS})$`, signal);
  if (hasFailed(settings)) return settings;
  const { address } = await lfsSettings(where, settings, signal);
  const environment = settingVariables([...filterSettings(settings, move.filters), ...address]);
  // Not stopped from here on, because half of the files would be new.
  const answer = await git({ folder: where, args, environment, maxMs: MAX_MERGE_MS });
  return answer.ok ? { is: "delivered", from: move.base, to: move.to } : { failure: answer.failure };
}

const TRACKED_CHANGES = [
  "status",
  "--porcelain=v2",
  "-z",
  "--untracked-files=no",
  "--ignore-submodules=dirty",
];
const MAX_MERGE_MS = 10 * 60_000;

/** Merges the user's branch into the target: a candidate like any other, to be gated and landed. */
const mergeBase = (
  wanted: {
    readonly folder: string;
    readonly run: string;
    readonly baseBranch: string;
    readonly target: string;
  },
  signal: AbortSignal,
): Promise<MergedBase | Failed> =>
  withStore(wanted.folder, signal, async (store) => {
    const { run, baseBranch, target } = wanted;
    const wrong = wrongNames({ branches: [baseBranch, target], runs: [run] });
    if (wrong) return wrong;
    const onto = await needed(store, target);
    if (typeof onto !== "string") return onto;
    const base = await needed(store, baseBranch);
    if (typeof base !== "string") return base;
    const merged = await merge(store, onto, base, signal);
    if (hasFailed(merged) || merged.is === "conflict") return merged;
    const message = baseMessage(run, baseBranch);
    const commit = await writeCommit(store, { tree: merged.tree, parents: [onto, base], message });
    return (await hold(store, { run, name: DELIVERY, commit })) ?? { is: "candidate", commit, onto };
  });

const DELIVERY = "delivery";

async function needed(store: Store, branch: string, next?: string): Promise<string | Failed> {
  return (await commitAt(store, refOf(branch))) ?? broken(`the branch ${branch} is not there`, next);
}

const GONE_NEXT = "name an existing branch (`git branch` lists them): skein deliver <run> --branch <name>";

async function isAncestor(
  store: Store,
  older: string,
  newer: string,
  signal: AbortSignal,
): Promise<boolean | Failed> {
  const answer = await inStore(store, { args: ["merge-base", "--is-ancestor", older, newer] }, signal);
  if (!answer.ok && answer.code !== 1) return { failure: answer.failure };
  return answer.ok;
}

async function withStore<Result>(
  folder: string,
  signal: AbortSignal,
  use: (store: Store) => Promise<Result | Failed>,
): Promise<Result | Failed> {
  try {
    const store = await openStore(folder, { signal });
    if (hasFailed(store)) return store;
    using _reader = { [Symbol.dispose]: () => closeStore(store) };
    return await use(store);
  } catch (error) {
    return broken(`the repository in ${folder} cannot be used: ${messageOf(error)}`); // A full disk, for example.
  }
}
