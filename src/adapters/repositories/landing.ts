/** Moves the target of a run by compare-and-swap, after its proof is written; never by force, never in a checkout. */
import { setTimeout as wait } from "node:timers/promises";
import { failure } from "../../core/failure.ts";
import type { FoundLanding, Moved } from "../../core/job.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Gone, Landed, Landing } from "../../ports/repository.ts";
import { fieldsIn, inGitDir } from "../git/git.ts";
import type { RefsMoved } from "../git/ref-writer.ts";
import { listRefs, syncRefs } from "../git/refs.ts";
import type { Missing } from "../git/whole.ts";
import { inTheWay } from "./checkouts.ts";
import { areThere, isWhole, PRUNED } from "./held.ts";
import { heldBy, proofsOf, refOf, wrongNames } from "./names.ts";
import { provedLandings, writeProof } from "./proofs.ts";
import { broken, commitAt, inStore, moveRefs, type Store } from "./store.ts";

/** `mend` writes missing parts of the commit again, if possible. */
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
    const taken = await inTheWay(store.gitDir, refOf(target), signal);
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
    // If another process was faster, the next round shows it; a full disk is not worth another round.
    const isTaken = answer.code !== undefined && TAKEN.test(answer.failure.message);
    if (!isTaken || tries === MAX_TRIES) {
      return (await tipOf(store, target, from)) === to ? { is: "landed" } : { failure: answer.failure };
    }
    await wait(FIRST_WAIT_MS * 2 ** (tries - 1));
  }
}

/** Git itself waits 100 ms for a lock. A lock that stays for a second was left by a git that died. */
const MAX_TRIES = 6;
const FIRST_WAIT_MS = 20;
const TAKEN = /\.lock': File exists|but expected|reference already exists|nonexistent object/;

/**
 * Moves first the proof, then the target, if both are complete. Each move fails unless the ref is where it was. If
 * a person made the target a symbolic ref, the ref itself is replaced, because it may name a branch of the user's.
 * The new tip is held as well, in case the target is deleted.
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
  const elsewhere = await moveShared(store, landing, proved.commit, signal);
  if (elsewhere) return elsewhere;
  return moveRefs(store, [
    "option no-deref",
    `update ${refOf(target)} ${to} ${from}`,
    ...(proof.members.length > 0 ? [`update ${heldBy(proof.run)}/target ${to}`] : []), // Without members it is a delivery.
  ]);
}

/**
 * In a fleet the target moves on the remote first. If another machine was faster, its move is fetched, and the
 * next round shows it.
 */
async function moveShared(
  { shared }: Store,
  { target, from, to }: Landing,
  proofs: string,
  signal: AbortSignal,
): Promise<Unmoved | Failed | undefined> {
  const moved = await shared?.move({ target, from, to, proofs }, signal);
  if (moved === undefined || moved === "done") return undefined;
  if (moved !== "moved") return moved;
  const unseen = await shared?.fetch(target, signal);
  return (
    unseen ?? {
      ok: false,
      code: 1,
      failure: failure("repository", `${target} is not at ${from}, but expected there`),
    }
  );
}

const STOPPED = broken("the landing was stopped before the target moved");

/** `commit`: the newest commit of the proofs. */
type Proved = { readonly is: "whole"; readonly commit: string };
type Unmoved = RefsMoved & { readonly ok: false };

async function leaveProof(
  store: Store,
  { target, from, to, proof }: Landing,
  signal: AbortSignal,
): Promise<Proved | Missing | Failed | Unmoved> {
  const written = await writeProof(store, to, { ...proof, onto: from, target });
  if (hasFailed(written)) return written;
  if (signal.aborted) return STOPPED;
  const { ref, old, commit, parts } = written;
  await store.shelf.keep([commit, ...parts]);
  const noted = await moveRefs(store, [old ? `update ${ref} ${commit} ${old}` : `create ${ref} ${commit}`]);
  if (!noted.ok) return noted;
  const whole = await areThere(store, [commit, ...parts]);
  if (hasFailed(whole)) return whole;
  if (whole.is === "whole") return { is: "whole", commit };
  // Every git command that lists refs would fail on a ref to a missing object.
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
  const unseen = await store.shared?.fetch(target, signal);
  if (unseen) return unseen;
  const tip = await tipOf(store, target, since);
  if (typeof tip !== "string") return tip;
  if (tip === since) return { tip, landings: [] };
  await syncRefs(store.gitDir, [refOf(target)]); // The process that moved it may have died before the ref was on the disk.
  const refs = await proofRefs(store, target, signal);
  return hasFailed(refs) ? refs : wayTo(store, { tip, since, target, refs }, signal);
}

async function tipOf(store: Store, target: string, known: string): Promise<string | Failed> {
  return (await tipAt(store, target)) ?? deletedTarget(target, known);
}

/** The target's commit. If only the commit's object was removed, the object backup usually has it. */
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

/** The notes of the run in the target's name; of all runs if it has another name. */
async function proofRefs(
  store: Store,
  target: string,
  signal: AbortSignal,
): Promise<readonly string[] | Failed> {
  const question = { patterns: ["refs/notes/skein/"], fields: ["refname"], newest: MAX_RUNS };
  const list = () => listRefs({ ...inGitDir(store.gitDir), ...question }, signal);
  let listed = await list();
  if (hasFailed(listed)) {
    await store.shelf.putBack(); // Git lists no ref if the commit of one is missing.
    listed = await list();
  }
  if (hasFailed(listed)) return listed;
  const all = listed.map(([ref = ""]) => ref);
  const named = all.filter((ref) => target.split("/").includes(ref.slice(proofsOf("").length)));
  return named.length > 0 ? named : all;
}

const MAX_RUNS = 1_000;

/** The landings from `since` to the tip, oldest first: first parents that carry a proof. */
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
  return answer.ok ? fieldsIn(answer.out, "\n") : answer;
}

/** More than the largest run has: 8 MB of ids. */
const MAX_LANDINGS = 200_000;
