/** Removes a run after checking what would be lost: its refs first, its folder last. */
import { fromSettings } from "../config/settings.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import { viewOf } from "../core/view/view.ts";
import type { OwnRef, OwnRefs } from "../ports/own-refs.ts";
import type { LeftRefs } from "../ports/project.ts";
import type { RunHome } from "../ports/runs.ts";
import type { Salvage } from "../ports/salvage.ts";
import { firstLine } from "../text/words.ts";
import { deliverCommand } from "./deliverable.ts";
import { tidyRun } from "./follow-run.ts";
import { prefixOf } from "./lost-run.ts";
import type { Parts } from "./parts.ts";
import { type Refused, refused } from "./refused.ts";
import { entryName } from "./salvage.ts";
import { type SeenRun, seeRun } from "./see-run.ts";
import { findRun } from "./which-run.ts";

type RemoveRequest = {
  readonly run: string;
  /** The person has agreed already; `undelivered`: also to losing landings that were never delivered. */
  readonly yes?: boolean;
  readonly undelivered?: boolean;
  /** Asks the person; undefined if no person can be asked. */
  readonly confirm?: (removal: Removal) => Promise<boolean>;
};

export type RemoveParts = Pick<Parts, "project" | "openWorld" | "git" | "refs" | "salvage">;

export type Removal = Losses & {
  readonly home: RunHome;
  readonly refs: readonly OwnRef[];
  /** Refs with the proofs of what was delivered: they belong to the user's own history now. */
  readonly staying: readonly string[];
};

/** Commits that only the run has: each can be restored by its id as long as git keeps it. */
export type Losses = {
  readonly undelivered: readonly LostCommit[];
  readonly unlanded: readonly LostCommit[];
};
export type LostCommit = { readonly what: string; readonly commit: string };

type RunRemoved =
  | (Losses & {
      readonly is: "removed";
      readonly removed: readonly string[];
      readonly stays: readonly string[];
      /** For a run of a fleet: what stays on the remote. */
      readonly onRemote?: LeftRefs | Failed;
    })
  /** Another process has removed it meanwhile. */
  | { readonly is: "gone" }
  | { readonly is: "declined" }
  | NotRemoved;

/** `open`: the run is not over. `unasked`: no person could be asked. */
type NotRemoved = {
  readonly is: "open" | "taken" | "undelivered" | "unasked";
  readonly message: string;
  readonly next: string;
  readonly losses?: Losses;
};

export async function removeRun(
  request: RemoveRequest,
  parts: RemoveParts,
  signal: AbortSignal,
): Promise<RunRemoved | Refused> {
  const { run } = request;
  const finished = await parts.project.runs.finishRemoval(run);
  if (typeof finished === "object") return refused("repository", finished.failure);
  if (finished) return { is: "removed", removed: [], stays: [], undelivered: [], unlanded: [] };
  const home = await findRun(run, parts.project);
  if (hasFailed(home)) return home;
  const seen = await seeRun(home);
  // A log that vanishes while it is read is not broken: the run was removed.
  if (hasFailed(seen)) return home.isThere() ? seen : { is: "gone" };
  const removal = await lookAtRemoval(seen, parts, signal);
  if ("is" in removal || hasFailed(removal)) return removal;
  const unwanted = await whyUnwanted(request, removal, seen, parts);
  if (unwanted) return unwanted;
  const failed = await takeAway(removal, parts.refs, signal);
  if (failed === "gone") return { is: "gone" };
  if (failed)
    return (
      (home.isThere() ? await whyOpen(seen) : undefined) ??
      refused("run", { ...failed.failure, next: `skein remove ${run} again` })
    );
  const { refs, staying: stays, undelivered, unlanded } = removal;
  const of = { run, branches: `${prefixOf(home.record)}${run}/` };
  const onRemote = await parts.project.remoteRefs?.tidy(of, signal);
  const left = onRemote && { onRemote };
  return { is: "removed", removed: refs.map(({ ref }) => ref), stays, undelivered, unlanded, ...left };
}

/** What would be removed with the run, or why the run cannot be removed. */
export async function lookAtRemoval(
  seen: SeenRun,
  parts: RemoveParts,
  signal: AbortSignal,
): Promise<Removal | NotRemoved | { readonly is: "gone" } | Refused> {
  return (await whyOpen(seen)) ?? planRemoval(seen, parts, signal);
}

/** A run that never began needs no cancel first. */
async function whyOpen({ home, seen }: SeenRun): Promise<NotRemoved | { readonly is: "gone" } | undefined> {
  const { run } = home.record;
  const owner = await home.owner().catch((error: unknown) => {
    if (home.isThere()) throw error;
  });
  if (!home.isThere()) return { is: "gone" };
  if (owner && seen.state.closed) {
    const message = `run ${run} is closed, and process ${owner.pid} is removing or ending it`;
    const next = `wait until that process has ended, then skein remove ${run}`;
    return { is: "open", message, next };
  }
  if (!owner && (seen.state.closed || seen.state.request === undefined)) return undefined;
  const how = owner ? `is running in process ${owner.pid}` : "is only stopped, not closed";
  const message = `run ${run} ${how}: nothing was removed`;
  return { is: "open", message, next: `skein cancel ${run}, then skein remove ${run}` };
}

async function planRemoval(
  { home, seen }: SeenRun,
  parts: RemoveParts,
  signal: AbortSignal,
): Promise<Removal | NotRemoved | Refused> {
  const { record } = home;
  const kept = fromSettings(record.settings);
  // An engine that died right at its end has left workspaces: their work is kept first, so that it can be listed.
  if ("config" in kept && seen.state.closed)
    await tidyRun({ home, config: kept.config, state: seen.state }, parts, signal).catch(() => {}); // Removed anyway.
  const { run } = record;
  const { landings } = viewOf(seen);
  const owned = { run, branches: `${prefixOf(record)}${run}/` };
  const all = await parts.refs.list(owned, signal);
  if (hasFailed(all)) return refused("repository", all.failure);
  const landed = landings.map(({ commit }) => commit);
  const commits = [...landed, ...all.flatMap((own) => (isProofs(own) ? [] : [own.commit]))];
  const lost = await parts.refs.onlyIn(owned, commits, signal);
  if (hasFailed(lost)) return refused("repository", lost.failure);
  const isProof = landed.some((commit) => !lost.has(commit));
  const refs = isProof ? all.filter((own) => !isProofs(own)) : all;
  const taken = refs.find(({ checkedOutIn }) => checkedOutIn !== undefined);
  if (taken) {
    const message = `${branchOf(taken)} is checked out in ${taken.checkedOutIn}: nothing was removed`;
    const next = `check out another branch there, then skein remove ${run}`;
    return { is: "taken", message, next };
  }
  const undelivered = landings
    .filter(({ commit }) => lost.has(commit))
    .map(({ commit, members }) => ({ commit, what: members.map(({ name }) => name).join(" + ") }));
  return {
    home,
    refs,
    staying: isProof ? all.filter(isProofs).map(({ ref }) => ref) : [],
    undelivered,
    unlanded: [
      ...(await salvagedOf(run, lost, parts.salvage, signal)),
      ...handedIn(
        refs.filter(({ commit }) => lost.has(commit)),
        seen,
      ),
    ],
  };
}

const isProofs = ({ ref }: OwnRef): boolean => ref.startsWith("refs/notes/");

/** A ref's branch name, as people use it. */
const branchOf = ({ ref }: OwnRef): string | undefined => /^refs\/heads\/(.+)$/.exec(ref)?.[1];

async function salvagedOf(
  run: string,
  lost: ReadonlySet<string>,
  salvage: Salvage,
  signal: AbortSignal,
): Promise<readonly LostCommit[]> {
  const entries = await salvage.list(signal);
  return (hasFailed(entries) ? [] : entries)
    .filter((entry) => entry.run === run && lost.has(entry.commit))
    .map((entry) => ({
      commit: entry.commit,
      what: `${entryName(entry)}  ${firstLine(entry.subject, MAX_SUBJECT_CHARS)}`,
    }));
}

const MAX_SUBJECT_CHARS = 80;

/** Branches of tasks that are not done. */
const handedIn = (refs: readonly OwnRef[], { state }: SeenRun["seen"]): readonly LostCommit[] =>
  refs.flatMap((own) => {
    const branch = branchOf(own);
    const [, task] = /\/task\/([\w.]+)\.\d+-[^/]*$/.exec(branch ?? "") ?? [];
    const isDone = [...state.tasks.values()].some(({ id, state: now }) => id === task && now.is === "done");
    return branch === undefined || task === undefined || isDone ? [] : [{ commit: own.commit, what: branch }];
  });

/** Losing landings that were never delivered needs more than `--yes`. */
async function whyUnwanted(
  { run, yes = false, undelivered = false, confirm }: RemoveRequest,
  removal: Removal,
  { home, seen }: SeenRun,
  { git }: RemoveParts,
): Promise<RunRemoved | undefined> {
  const isUndelivered = removal.undelivered.length > 0;
  if (yes && (!isUndelivered || undelivered)) return undefined;
  if (!yes && confirm) return (await confirm(removal)) ? undefined : { is: "declined" };
  const again = `skein remove ${run} --yes${isUndelivered ? " --undelivered" : ""}`;
  const deliver = await deliverCommand(home.record, git, viewOf(seen).is !== "done");
  return {
    is: yes ? "undelivered" : "unasked",
    message: yes
      ? `what landed in run ${run} was never delivered, and would be lost: nothing was removed`
      : `there is no terminal to ask you whether run ${run} may be removed`,
    next: isUndelivered ? `${deliver}; or lose it: ${again}` : again,
    losses: removal,
  };
}

/** If a person has started to use a ref meanwhile, nothing is removed, and the failure says why. */
async function takeAway(
  { home, refs }: Removal,
  own: OwnRefs,
  signal: AbortSignal,
): Promise<Failed | "gone" | undefined> {
  const lock = await home.lock();
  if (hasFailed(lock)) return home.isThere() ? lock : "gone";
  const failed = await own.remove(refs, signal);
  if (!failed) return lock.discard();
  await lock.release();
  return failed;
}
