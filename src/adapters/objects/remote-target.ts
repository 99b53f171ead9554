/** Keeps a run's target and its proofs on the remote: fetched before they are read, moved by compare-and-swap. */
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { SharedMove, SharedTarget } from "../../ports/shared-target.ts";
import { git, inGitDir } from "../git/git.ts";
import { changeRefs, listRefs } from "../git/refs.ts";
import { proofsOf, refOf } from "../repositories/names.ts";
import type { GitRemote } from "./remote.ts";

type RemoteTargetOptions = {
  readonly gitDir: string;
  readonly remote: GitRemote;
  readonly run: string;
};

export class RemoteTarget implements SharedTarget {
  readonly #options: RemoteTargetOptions;
  /**
   * Where the proofs were on the remote when last seen; "" if there were none, undefined before they were looked
   * for.
   */
  #proofs: string | undefined;
  /** The number of the lease under which this coordinator took over; 0 if it began the run. */
  #fence = 0;
  /** Where the target was when last seen; undefined before that. */
  #tip: string | undefined;

  constructor(options: RemoteTargetOptions) {
    this.#options = options;
  }

  /** A commit that the remote's target has, so that its ancestors need not be sent. */
  get tip(): string | undefined {
    return this.#tip;
  }

  async fetch(target: string, signal: AbortSignal): Promise<Failed | undefined> {
    const { gitDir, remote, run } = this.#options;
    const refs = [refOf(target), proofsOf(run)];
    const there = await remote.list(refs, signal);
    if (hasFailed(there)) return there;
    const here = await listRefs(
      { folder: gitDir, patterns: refs, fields: ["refname", "objectname"] },
      signal,
    );
    if (hasFailed(here)) return here;
    const known = new Map(here.map(([ref = "", id = ""]) => [ref, id]));
    if (!there.has(refOf(target))) return lost(target, known.get(refOf(target)));
    const changed = refs.filter((ref) => there.has(ref) && there.get(ref) !== known.get(ref));
    const failed =
      changed.length > 0 &&
      (await remote.fetch(
        changed.map((ref) => ({ from: ref, to: ref })),
        { isStrict: true },
        signal,
      ));
    if (failed) return failed;
    const proofs = there.get(proofsOf(run)) ?? "";
    const replaced = await this.#whyReplaced(proofs, signal);
    if (replaced) return replaced;
    this.#proofs = proofs;
    this.#tip = there.get(refOf(target));
    return undefined;
  }

  async move(
    { target, from, to, proofs }: SharedMove,
    signal: AbortSignal,
  ): Promise<"moved" | "done" | Failed> {
    const { remote, run } = this.#options;
    const pushed = await remote.push(
      [
        { ref: proofsOf(run), to: proofs, expected: this.#proofs ?? "" },
        { ref: refOf(target), to, expected: from },
      ],
      signal,
    );
    if (pushed !== "pushed") return pushed;
    this.#proofs = proofs;
    this.#tip = to;
    return "done";
  }

  /**
   * Makes the target at the start of a run, when there are no proofs yet. `elsewhere`: a target exists already and
   * has moved on.
   */
  async make(target: string, base: string, signal: AbortSignal): Promise<"made" | "elsewhere" | Failed> {
    const pushed = await this.#options.remote.push([{ ref: refOf(target), to: base, expected: "" }], signal);
    if (pushed !== "pushed") return pushed === "moved" ? "elsewhere" : pushed;
    this.#proofs = "";
    this.#tip = base;
    return "made";
  }

  /**
   * Fetches target and proofs, and puts a commit on top of the proofs on the remote, so that no older coordinator
   * can move the target: a landing moves the proofs as well, from where that coordinator saw them last.
   */
  async takeOver(target: string, fence: number, signal: AbortSignal): Promise<Failed | undefined> {
    const { gitDir, remote, run } = this.#options;
    const ref = proofsOf(run);
    this.#fence = fence;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const unseen = await this.fetch(target, signal);
      if (unseen) return unseen;
      const expected = this.#proofs ?? "";
      const to = await this.#sameProofs(expected, takeOverLine(fence), signal);
      if (typeof to !== "string") return to;
      const pushed = await remote.push([{ ref, to, expected }], signal);
      if (pushed === "moved") continue;
      if (pushed !== "pushed") return pushed;
      this.#proofs = to;
      return changeRefs({ folder: gitDir }, [`update ${ref} ${to}`], signal);
    }
    return failedWith("repository", `${ref} on the remote keeps moving: another coordinator is at work`);
  }

  /** Makes a commit with the notes of `proofs`; without notes if that is "". */
  async #sameProofs(proofs: string, message: string, signal: AbortSignal): Promise<string | Failed> {
    const place = inGitDir(this.#options.gitDir);
    const args = proofs === "" ? ["mktree"] : ["rev-parse", "--verify", "--quiet", `${proofs}^{tree}`];
    const tree = await git({ ...place, args, input: "" }, signal);
    if (!tree.ok) return { failure: tree.failure };
    const parents = proofs === "" ? [] : ["-p", proofs];
    const call = ["commit-tree", ...parents, "-m", message, tree.out.trim()];
    const environment = { ...place.environment, ...AUTHOR };
    const made = await git({ ...place, environment, args: call }, signal);
    return made.ok ? made.out.trim() : { failure: made.failure };
  }

  /**
   * Why this coordinator is replaced: if the proofs name a newer one, it must not try its landing again on top of
   * them.
   */
  async #whyReplaced(proofs: string, signal: AbortSignal): Promise<Failed | undefined> {
    const [seen, { gitDir, run }] = [this.#proofs, this.#options];
    if (seen === undefined || proofs === "" || proofs === seen) return undefined;
    const range = seen === "" ? [proofs] : [proofs, `^${seen}`];
    const args = ["rev-list", "--no-commit-header", "--format=%s", "--end-of-options", ...range];
    const listed = await git({ ...inGitDir(gitDir), args }, signal);
    if (!listed.ok) return { failure: listed.failure };
    const fences = listed.out.split("\n").map((line) => Number(TAKE_OVER.exec(line)?.[1] ?? 0));
    const newest = fences.reduce((one, other) => Math.max(one, other), 0);
    return newest > this.#fence ? replaced(run, newest) : undefined;
  }
}

const takeOverLine = (fence: number): string => `Coordinator ${fence} takes over`;
const TAKE_OVER = /^Coordinator (\d+) takes over$/;

const AUTHOR = {
  ...{ GIT_AUTHOR_NAME: "Skein", GIT_AUTHOR_EMAIL: "skein@localhost" },
  ...{ GIT_COMMITTER_NAME: "Skein", GIT_COMMITTER_EMAIL: "skein@localhost" },
};

/** A try fails if the coordinator that is being replaced lands meanwhile; it has only a few landings under way. */
const MAX_TRIES = 10;

const replaced = (run: string, fence: number): Failed =>
  failedWith(
    "repository",
    `another coordinator (lease ${fence}) has taken over run ${run}`,
    `skein logs ${run} -f`,
  );

const lost = (target: string, known: string | undefined): Failed =>
  failedWith(
    "repository",
    `the branch ${target} is not on the remote: it was deleted or renamed`,
    known === undefined ? undefined : `put it back: git push <remote> ${known}:${refOf(target)}`,
  );
