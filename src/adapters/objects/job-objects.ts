/** Moves commits between coordinator and remote: puts there what a job needs, and fetches what a job made. */
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { NeededCommit } from "../../ports/fleet-jobs.ts";
import { fieldsIn, git, inGitDir } from "../git/git.ts";
import { changeRefs, syncRefs } from "../git/refs.ts";
import { heldBy, isCommit, refOf } from "../repositories/names.ts";
import { tooLargeTree } from "../workspaces/tree-size.ts";
import { takeBundle } from "./bundles.ts";
import { removeAll, removeRefsOf } from "./left-refs.ts";
import { fleetRefs, inputRef, isFullRef, outputRef } from "./names.ts";
import type { GitRemote } from "./remote.ts";
import type { RemoteTarget } from "./remote-target.ts";

/** What a try claims to have made. `bundle`: the objects themselves, if workers may not push. */
type MadeCommit = NeededCommit & { readonly bundle?: Uint8Array; readonly known: readonly string[] };

type JobObjectsOptions = {
  readonly gitDir: string;
  readonly remote: GitRemote;
  readonly shared: RemoteTarget;
  /** The run's target branch. */
  readonly target: string;
  readonly run: string;
};

export class JobObjects {
  readonly #options: JobObjectsOptions;
  /** Commits that the remote has, by the ref that leads to each. */
  readonly #there = new Map<string, string>();

  constructor(options: JobObjectsOptions) {
    this.#options = options;
  }

  /** Puts commits on the remote that its target does not have. Returns the ref of each. */
  async offer(
    job: string,
    commits: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly NeededCommit[] | Failed> {
    const wrong = commits.find((commit) => !isCommit(commit));
    if (wrong !== undefined) return failedWith("repository", `no commit: ${JSON.stringify(wrong)}`);
    const { remote, run } = this.#options;
    const unsent: NeededCommit[] = [];
    for (const [i, commit] of [...new Set(commits)].entries())
      if (!this.#there.has(commit) && !(await this.#isInTarget(commit, signal)))
        unsent.push({ commit, ref: inputRef(run, job, i) });
    if (unsent.length > 0) {
      const pushed = await remote.push(
        unsent.map(({ commit, ref }) => ({ ref, to: commit })),
        signal,
      );
      if (pushed !== "pushed") return pushed === "moved" ? REFUSED : pushed;
    }
    for (const { commit, ref } of unsent) this.#there.set(commit, ref);
    return commits.map((commit) => ({ commit, ref: this.#there.get(commit)! }));
  }

  /** Fetches the one commit that an accepted answer names, under these refs; its objects are checked on the way. */
  async take(made: MadeCommit, as: readonly string[], signal: AbortSignal): Promise<Failed | undefined> {
    const { gitDir, remote, run } = this.#options;
    const { commit, ref, bundle, known } = made;
    const wrong = !isCommit(commit) || !isFullRef(ref) || !ref.startsWith(fleetRefs(run));
    if (wrong) return misnamed(made);
    const got = bundle
      ? await takeBundle({ gitDir, commit, bundle, known }, signal)
      : await this.#fetch(made, signal);
    if (got) return got;
    const unfit = await this.#unfit(commit, signal);
    if (unfit) {
      if (!bundle) await changeRefs({ folder: gitDir }, [`delete ${this.#aside(commit)}`], signal);
      return unfit;
    }
    const held = await changeRefs(
      { folder: gitDir },
      as.map((name) => `update ${name} ${commit}`),
      signal,
    );
    if (held) return held;
    await syncRefs(gitDir, as);
    if (bundle) {
      // Another coordinator must be able to find it, too.
      const pushed = await remote.push([{ ref, to: commit }], signal);
      if (pushed !== "pushed") return pushed === "moved" ? REFUSED : pushed;
    }
    this.#there.set(commit, ref);
    return undefined;
  }

  /** Where a commit's history left that of `base`: `base` itself, or an older commit if an earlier attempt made it. */
  async forkOf(
    base: string,
    commit: string,
    signal: AbortSignal,
  ): Promise<{ readonly commit: string } | Failed> {
    const args = ["merge-base", "--end-of-options", base, commit];
    const found = await git({ ...inGitDir(this.#options.gitDir), args }, signal);
    if (found.ok) return { commit: found.out.trim() };
    return found.code === 1 ? UNRELATED : { failure: found.failure };
  }

  /** Fetches commits that the log names and that only the remote has, for a coordinator with an empty clone. */
  async recover(commits: readonly string[], signal: AbortSignal): Promise<Failed | undefined> {
    const { gitDir, remote, run } = this.#options;
    const there = await remote.list([fleetRefs(run)], signal);
    if (hasFailed(there)) return there;
    for (const [ref, commit] of there) this.#there.set(commit, ref);
    const missing = await this.#missing(commits, signal);
    const fetched = [...new Set(missing)].flatMap((commit) => {
      const from = this.#there.get(commit);
      return from === undefined ? [] : [{ from, to: this.#aside(commit) }];
    });
    if (fetched.length === 0) return undefined;
    const failed = await remote.fetch(fetched, { isStrict: true }, signal);
    if (failed) return failed;
    await syncRefs(
      gitDir,
      fetched.map(({ to }) => to),
    );
    return undefined;
  }

  /** Removes what the jobs of a finished run left on the remote. */
  cleanUp(signal: AbortSignal): Promise<Failed | undefined> {
    const { remote, run } = this.#options;
    return removeRefsOf(remote, run, signal);
  }

  /**
   * Removes commits that tries of a job pushed and that were not accepted. The rest is removed when the run is
   * over.
   */
  async drop(job: string, tries: number, signal: AbortSignal): Promise<void> {
    const { remote, run } = this.#options;
    const names = Array.from({ length: tries + 1 }, (_, i) => outputRef(run, job, i));
    const there = await remote.list(names, signal);
    if (!hasFailed(there) && there.size > 0) await removeAll(remote, there, signal);
  }

  async #isInTarget(commit: string, signal: AbortSignal): Promise<boolean> {
    const { gitDir, shared, target } = this.#options;
    if (shared.tip === undefined) return false;
    const args = ["merge-base", "--is-ancestor", commit, shared.tip];
    const isThere = commit === shared.tip || (await git({ ...inGitDir(gitDir), args }, signal)).ok;
    if (isThere) this.#there.set(commit, refOf(target));
    return isThere;
  }

  /** Fetches under a temporary name until the commit is known to be the announced one. */
  async #fetch({ ref, commit }: MadeCommit, signal: AbortSignal): Promise<Failed | undefined> {
    const { gitDir, remote } = this.#options;
    const to = this.#aside(commit);
    const failed = await remote.fetch([{ from: ref, to }], { isStrict: true }, signal);
    if (failed) return failed;
    const args = ["rev-parse", "--verify", "--quiet", to];
    const found = await git({ ...inGitDir(gitDir), args }, signal);
    if (found.ok && found.out.trim() === commit) return undefined;
    await changeRefs({ folder: gitDir }, [`delete ${to}`], signal);
    return failedWith("agent-failed", `${ref} on the remote does not lead to ${commit}, as its answer says`);
  }

  readonly #aside = (commit: string): string => `${heldBy(this.#options.run)}/fleet/${commit}`;

  /** Refuses a tree that is too large: its diff or checkout would not end, or take all memory. */
  async #unfit(commit: string, signal: AbortSignal): Promise<Failed | undefined> {
    const here = inGitDir(this.#options.gitDir);
    const why = await tooLargeTree(
      (args, maxBytes) => git({ ...here, args, maxBytes, cut: true }, signal),
      commit,
    );
    return typeof why === "string"
      ? failedWith("agent-failed", `what a worker handed in cannot be used: ${why}`)
      : why;
  }

  async #missing(commits: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    const input = commits.map((commit) => `${commit}^{commit}\n`).join("");
    const args = ["cat-file", "--batch-check=%(objectname)"];
    const looked = await git({ ...inGitDir(this.#options.gitDir), args, input }, signal);
    const lines = looked.ok ? fieldsIn(looked.out, "\n") : [];
    return commits.filter((_, i) => !isCommit(lines[i] ?? ""));
  }
}

const misnamed = ({ ref, commit }: NeededCommit): Failed =>
  failedWith(
    "agent-failed",
    `a worker named ${JSON.stringify(ref.slice(0, 200))} for ${commit.slice(0, 64)}, which is not its own`,
  );

const UNRELATED = failedWith(
  "agent-failed",
  "what a worker handed in has no history in common with what it was given",
);

const REFUSED = failedWith(
  "repository",
  "the remote refuses refs below refs/skein/fleet/",
  "let this machine push there; `skein doctor --worker` tries it",
);
