/** A worker's bare copy of the remote, kept between jobs. Only the refs that jobs name are fetched. */
import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../../core/failure.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { NeededCommit } from "../../ports/fleet-jobs.ts";
import { slugOf } from "../../text/slug.ts";
import { git, inGitDir } from "../git/git.ts";
import { isCommit } from "../repositories/names.ts";
import { makeBundle } from "./bundles.ts";
import { isFullRef, wrongRemote } from "./names.ts";
import { GitRemote } from "./remote.ts";

export class Mirror {
  readonly gitDir: string;
  readonly #remote: GitRemote;

  private constructor(gitDir: string, remote: GitRemote) {
    this.gitDir = gitDir;
    this.#remote = remote;
  }

  /** Opens the mirror of an address, in a folder of its own below `folder`. */
  static async open(folder: string, url: string, signal: AbortSignal): Promise<Mirror | Failed> {
    const wrong = wrongRemote(url);
    if (wrong) return wrong;
    const hash = createHash("sha256").update(url).digest("hex").slice(0, 12);
    const gitDir = path.join(folder, `${slugOf(path.basename(url).replace(/\.git$/, ""))}-${hash}.git`);
    try {
      await mkdir(gitDir, { recursive: true, mode: 0o700 });
    } catch (error) {
      return failedWith("repository", `the mirror ${gitDir} cannot be made: ${messageOf(error)}`);
    }
    const made = await git({ folder: gitDir, args: ["init", "--quiet", "--bare", gitDir] }, signal);
    if (!made.ok) return { failure: made.failure };
    return new Mirror(gitDir, new GitRemote({ gitDir, remote: url }));
  }

  /** Fetches the refs of commits that are not here yet; a commit that is still missing then is a failure. */
  async fetch(needed: readonly NeededCommit[], signal: AbortSignal): Promise<Failed | undefined> {
    const wrong = needed.find(({ commit, ref }) => !isCommit(commit) || !isFullRef(ref));
    if (wrong) return failedWith("repository", `a job needs what has no name: ${JSON.stringify(wrong)}`);
    const missing = await this.#missing(needed, signal);
    if (hasFailed(missing)) return missing;
    if (missing.length === 0) return undefined;
    const refs = [...new Set(missing.map(({ ref }) => ref))];
    const failed = await this.#remote.fetch(
      refs.map((ref) => ({ from: ref, to: ref.replace(/^refs\//, "refs/skein/mirror/") })),
      {},
      signal,
    );
    if (failed) return failed;
    const [still] = await this.#missing(needed, signal).then((found) => (hasFailed(found) ? needed : found));
    return (
      still && failedWith("repository", `the commit ${still.commit} is not on the remote, at ${still.ref}`)
    );
  }

  /** Pushes a commit under the one name of this try of the job. */
  async push(ref: string, commit: string, signal: AbortSignal): Promise<Failed | undefined> {
    const pushed = await this.#remote.push([{ ref, to: commit }], signal);
    if (pushed === "pushed") return undefined;
    if (pushed !== "moved") return pushed;
    return failedWith("repository", `the remote refuses ${ref}`, "let workers push there, or use --bundle");
  }

  /** `known`: commits that the coordinator has. */
  bundle(
    wanted: { readonly ref: string; readonly known: readonly string[]; readonly maxBytes: number },
    signal: AbortSignal,
  ): Promise<Uint8Array | Failed> {
    return makeBundle({ gitDir: this.gitDir, ...wanted }, signal);
  }

  async #missing(
    needed: readonly NeededCommit[],
    signal: AbortSignal,
  ): Promise<readonly NeededCommit[] | Failed> {
    if (needed.length === 0) return [];
    const input = needed.map(({ commit }) => `${commit}^{commit}\n`).join("");
    const args = ["cat-file", "--batch-check=%(objectname)"];
    const looked = await git({ ...inGitDir(this.gitDir), args, input }, signal);
    if (!looked.ok) return { failure: looked.failure };
    const lines = looked.out.split("\n");
    return needed.filter((_, i) => !isCommit(lines[i] ?? ""));
  }
}
