/** How does the target move? By compare-and-swap, after the proof is there; never by force, never in a checkout. */
import { setTimeout as wait } from "node:timers/promises";
import type { FoundLanding, Moved } from "../../core/job.ts";
import { type Failed, hasFailed, type Landed, type Landing } from "../../ports/repository.ts";
import { inTheWay } from "./checkouts.ts";
import { proofsOf, refOf, wrongNames } from "./names.ts";
import { provedLandings, type WrittenProof, writeProof } from "./proofs.ts";
import { broken, commitAt, inStore, type Store } from "./store.ts";

export async function land(store: Store, landing: Landing, signal: AbortSignal): Promise<Landed | Failed> {
  const { target, from, to, proof } = landing;
  const wrong = wrongNames({ commits: [from, to], branches: [target], runs: [proof.run] });
  if (wrong) return wrong;
  for (let tries = 1; ; tries += 1) {
    const tip = await tipOf(store, target);
    if (typeof tip !== "string") return tip;
    if (tip === to) return { is: "landed" };
    if (tip !== from) {
      const moved = await wayTo(store, { tip, since: from, target, refs: [proofsOf(proof.run)] }, signal);
      return hasFailed(moved) ? moved : { is: "moved", ...moved };
    }
    const taken = await inTheWay(store, refOf(target), signal);
    if (taken) return taken;
    const written = await writeProof(store, to, { ...proof, onto: from, target });
    if (hasFailed(written)) return written;
    if (signal.aborted) return broken("the landing was stopped before the target moved");
    // Not to be stopped any more: a git that is killed here may leave a lock behind.
    const answer = await inStore(store, { args: ["update-ref", "--stdin"], input: moves(landing, written) });
    if (answer.ok) return { is: "landed" };
    // Whether somebody else was faster is seen in the next round; a full disk is not worth one.
    const isTaken = answer.code !== undefined && TAKEN.test(answer.failure.message);
    if (!isTaken || tries === MAX_TRIES) {
      return (await tipOf(store, target)) === to ? { is: "landed" } : { failure: answer.failure };
    }
    await wait(FIRST_WAIT_MS * 2 ** (tries - 1));
  }
}

/** Git itself waits 100 ms for a lock. One that stays for a second was left by a git that died, and git says so. */
const MAX_TRIES = 6;
const FIRST_WAIT_MS = 20;
const TAKEN = /\.lock': File exists|but expected|reference already exists/;

/**
 * Two transactions: the second is read only when the first is done. Each fails unless the ref is where it was. A target
 * that somebody made a symbolic ref is replaced: what it stood for may be a branch of the user's, and must not move.
 */
function moves({ target, from, to }: Landing, { ref, commit, old }: WrittenProof): string {
  const note = old === undefined ? `create ${ref} ${commit}` : `update ${ref} ${commit} ${old}`;
  const move = `update ${refOf(target)} ${to} ${from}`;
  return ["start", note, "commit", "start", "option no-deref", move, "commit", ""].join("\n");
}

export async function look(
  store: Store,
  target: string,
  since: string,
  signal: AbortSignal,
): Promise<Moved | Failed> {
  const wrong = wrongNames({ commits: [since], branches: [target] });
  if (wrong) return wrong;
  const tip = await tipOf(store, target);
  if (typeof tip !== "string") return tip;
  if (tip === since) return { tip, landings: [] };
  const refs = await proofRefs(store, target, signal);
  return hasFailed(refs) ? refs : wayTo(store, { tip, since, target, refs }, signal);
}

async function tipOf(store: Store, target: string): Promise<string | Failed> {
  return (
    (await commitAt(store, refOf(target))) ??
    broken(`the branch ${target} is not there`, "was it deleted or renamed? `git branch` shows what there is")
  );
}

/** The notes of the run that a target is named after; of all runs if it has another name. */
async function proofRefs(
  store: Store,
  target: string,
  signal: AbortSignal,
): Promise<readonly string[] | Failed> {
  const args = ["for-each-ref", "--format=%(refname)", `--count=${MAX_RUNS}`, "--sort=-committerdate"];
  const answer = await inStore(store, { args: [...args, "refs/notes/skein/"] }, signal);
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
