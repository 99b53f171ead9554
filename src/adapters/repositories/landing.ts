/** How does the target move? By compare-and-swap, after the proof is there; never by force, never in a checkout. */
import { setTimeout as wait } from "node:timers/promises";
import type { FoundLanding, Moved } from "../../core/job.ts";
import { type Failed, type Gone, hasFailed, type Landed, type Landing } from "../../ports/repository.ts";
import type { RefsMoved } from "../git/ref-writer.ts";
import { syncRefs } from "../git/sync-refs.ts";
import type { Missing, Whole } from "../git/whole.ts";
import { inTheWay } from "./checkouts.ts";
import { areThere, isWhole, PRUNED } from "./held.ts";
import { heldBy, proofsOf, refOf, wrongNames } from "./names.ts";
import { provedLandings, writeProof } from "./proofs.ts";
import { broken, commitAt, inStore, moveRefs, type Store } from "./store.ts";

/** `mend` writes again what is missing of the commit, if that can be had. */
export async function land(
  store: Store,
  landing: Landing,
  mend: Mend,
  signal: AbortSignal,
): Promise<Landed | Gone | Failed> {
  const landed = await moveTarget(store, landing, mend, signal);
  if (!hasFailed(landed)) await syncRefs(store.gitDir, [refOf(landing.target), proofsOf(landing.proof.run)]);
  return landed;
}

type Mend = () => Promise<Gone | Failed | undefined>;

async function moveTarget(
  store: Store,
  landing: Landing,
  mend: Mend,
  signal: AbortSignal,
): Promise<Landed | Gone | Failed> {
  const { target, from, to, proof } = landing;
  const wrong = wrongNames({ commits: [from, to], branches: [target], runs: [proof.run] });
  if (wrong) return wrong;
  for (let tries = 1; ; tries += 1) {
    const tip = await tipOf(store, target, from);
    if (typeof tip !== "string") return tip;
    if (tip === to) return { is: "landed" };
    if (tip !== from) {
      const moved = await wayTo(store, { tip, since: from, target, refs: [proofsOf(proof.run)] }, signal);
      return hasFailed(moved) ? moved : { is: "moved", ...moved };
    }
    const taken = await inTheWay(store, refOf(target), signal);
    if (taken) return taken;
    const answer = await move(store, landing, signal);
    if (!("ok" in answer) && hasFailed(answer)) return answer;
    if ("is" in answer) {
      const unmended =
        tries === MAX_TRIES ? broken(`the landing lacks ${answer.what}`, PRUNED) : await mend();
      if (unmended) return unmended;
      continue;
    }
    if (answer.ok) return { is: "landed" };
    // Whether somebody else was faster is seen in the next round; a full disk is not worth one.
    const isTaken = answer.code !== undefined && TAKEN.test(answer.failure.message);
    if (!isTaken || tries === MAX_TRIES) {
      return (await tipOf(store, target, from)) === to ? { is: "landed" } : { failure: answer.failure };
    }
    await wait(FIRST_WAIT_MS * 2 ** (tries - 1));
  }
}

/** Git itself waits 100 ms for a lock. One that stays for a second was left by a git that died, and git says so. */
const MAX_TRIES = 6;
const FIRST_WAIT_MS = 20;
const TAKEN = /\.lock': File exists|but expected|reference already exists|nonexistent object/;

/**
 * First the proof, then the target, if all of both is there. Each fails unless the ref is where it was. A target that
 * somebody made a symbolic ref is replaced: what it stood for may be a branch of the user's, and must not move. The new
 * tip is held as well, for when somebody deletes the target.
 */
async function move(
  store: Store,
  landing: Landing,
  signal: AbortSignal,
): Promise<RefsMoved | Missing | Failed> {
  const { target, from, to, proof } = landing;
  const [proved, whole] = await Promise.all([
    leaveProof(store, landing, signal),
    isWhole(store, [to], [from], signal),
  ]);
  if ("failure" in proved || proved.is === "missing") return proved;
  if (hasFailed(whole) || whole.is === "missing") return whole;
  await store.shelf.keep(whole.ids);
  if (signal.aborted) return STOPPED;
  return moveRefs(store, [
    "option no-deref",
    `update ${refOf(target)} ${to} ${from}`,
    ...(proof.members.length > 0 ? [`update ${heldBy(proof.run)}/target ${to}`] : []), // Else it is delivered.
  ]);
}

const STOPPED = broken("the landing was stopped before the target moved");

async function leaveProof(
  store: Store,
  { target, from, to, proof }: Landing,
  signal: AbortSignal,
): Promise<Whole | Failed | (RefsMoved & { readonly ok: false })> {
  const written = await writeProof(store, to, { ...proof, onto: from, target });
  if (hasFailed(written)) return written;
  if (signal.aborted) return STOPPED;
  const { ref, old, commit, parts } = written;
  await store.shelf.keep([commit, ...parts]);
  const noted = await moveRefs(store, [old ? `update ${ref} ${commit} ${old}` : `create ${ref} ${commit}`]);
  if (!noted.ok) return noted;
  const whole = await areThere(store, [commit, ...parts]);
  if (hasFailed(whole)) return whole;
  if (whole.is === "whole") return whole;
  // A ref to what is not there would be in the way of every git that looks at refs.
  await moveRefs(store, [old ? `update ${ref} ${old} ${commit}` : `delete ${ref} ${commit}`]);
  return whole;
}

export async function look(
  store: Store,
  target: string,
  since: string,
  signal: AbortSignal,
): Promise<Moved | Failed> {
  const wrong = wrongNames({ commits: [since], branches: [target] });
  if (wrong) return wrong;
  const tip = await tipOf(store, target, since);
  if (typeof tip !== "string") return tip;
  if (tip === since) return { tip, landings: [] };
  await syncRefs(store.gitDir, [refOf(target)]); // Who moved it may have died before it was on the disk.
  const refs = await proofRefs(store, target, signal);
  return hasFailed(refs) ? refs : wayTo(store, { tip, since, target, refs }, signal);
}

/** `known`: where it was the last time. */
async function tipOf(store: Store, target: string, known: string): Promise<string | Failed> {
  return (await tipAt(store, target)) ?? deletedTarget(target, known);
}

/** If only its commit was removed, that can be put back as a rule. */
export async function tipAt(store: Store, target: string): Promise<string | undefined | Failed> {
  const tip = await commitAt(store, refOf(target));
  if (tip !== undefined) return tip;
  await store.shelf.putBack();
  return commitAt(store, refOf(target));
}

export const deletedTarget = (target: string, known: string | undefined): Failed =>
  broken(
    `the branch ${target} is not there: it was deleted or renamed`,
    known === undefined ? undefined : `put it back where it was: git branch ${target} ${known}`,
  );

/** The notes of the run that a target is named after; of all runs if it has another name. */
async function proofRefs(
  store: Store,
  target: string,
  signal: AbortSignal,
): Promise<readonly string[] | Failed> {
  const args = ["for-each-ref", "--format=%(refname)", `--count=${MAX_RUNS}`, "--sort=-committerdate"];
  const ask = () => inStore(store, { args: [...args, "refs/notes/skein/"] }, signal);
  let answer = await ask();
  if (!answer.ok) {
    await store.shelf.putBack(); // Git lists none if the commit of one was removed.
    answer = await ask();
  }
  if (!answer.ok) return { failure: answer.failure };
  const all = answer.out.split("\n").filter((ref) => ref !== "");
  const named = all.filter((ref) => target.split("/").includes(ref.slice(proofsOf("").length)));
  return named.length > 0 ? named : all;
}

const MAX_RUNS = 1_000;

/** The first parents from the tip back to `since`, oldest first, where they carry a proof. */
async function wayTo(
  store: Store,
  way: {
    readonly tip: string;
    readonly since: string;
    readonly target: string;
    readonly refs: readonly string[];
  },
  signal: AbortSignal,
): Promise<Moved | Failed> {
  const commits = await firstParents(store, way.tip, way.since, signal);
  if (hasFailed(commits)) return commits;
  const lost = await firstParents(store, way.since, way.tip, signal);
  if (hasFailed(lost)) return lost;
  const landings = new Map<string, FoundLanding>();
  for (const ref of way.refs) {
    const found = await provedLandings(store, { ref, target: way.target, commits });
    if (hasFailed(found)) return found;
    for (const { commit, members } of found) landings.set(commit, { commit, members });
  }
  const found = commits.flatMap((commit) => landings.get(commit) ?? []);
  return { tip: way.tip, landings: found, ...(lost.length === 0 ? {} : { lost }) };
}

/** The first parents of `of` that `without` does not have, oldest first. */
export async function firstParents(
  store: Store,
  of: string,
  without: string,
  signal: AbortSignal,
): Promise<readonly string[] | Failed> {
  const args = ["rev-list", "--first-parent", "--reverse", `--max-count=${MAX_LANDINGS}`, "--end-of-options"];
  const answer = await inStore(store, { args: [...args, of, `^${without}`] }, signal);
  return answer.ok ? answer.out.split("\n").filter((line) => line !== "") : { failure: answer.failure };
}

/** More than the largest run has: 8 MB of names. */
const MAX_LANDINGS = 200_000;
