/** Inspects a repository and the installed git for `skein doctor` and `skein init`; nothing throws. */
import { existsSync } from "node:fs";
import path from "node:path";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { GitFacts, InspectedRepository, TreeFacts } from "../../ports/inspection.ts";
import type { Environment, Located } from "../../ports/project.ts";
import { git } from "../git/git.ts";
import { locate, tooOld } from "../repositories/locate.ts";
import { openProject } from "../runs/open-project.ts";

/** Asks at the root folder, which always exists. */
export async function inspectGit(folder: string, signal: AbortSignal): Promise<GitFacts | Failed> {
  const said = await git({ folder: path.parse(folder).root, args: ["version"] }, signal);
  if (!said.ok) return { failure: said.failure };
  const version = said.out.trim().replace(/^git version /, "");
  const old = tooOld(said.out);
  return old === undefined ? { version } : { version, problem: old.failure };
}

export async function inspectRepository(
  folder: string,
  env: Environment,
  signal: AbortSignal,
): Promise<InspectedRepository | Failed> {
  const found = await locate(folder, signal);
  if (hasFailed(found)) return found;
  const { gitAsks, ...located } = found;
  const opened = gitAsks.length > 0 ? await openProject(folder, env, signal) : found;
  if (hasFailed(opened)) return opened; // Its own git settings are not agreed to, so nothing more is asked of git.
  const { top, gitDir } = located;
  const said = (...args: readonly string[]) =>
    git({ folder: top, args, maxBytes: MAX_ANSWER_BYTES }, signal).then(({ out }) => out.trim());
  const [remarks, shallow, format, own, promisor] = await Promise.all([
    located.notices(),
    said("rev-parse", "--is-shallow-repository"),
    said("rev-parse", "--show-object-format"),
    said("rev-parse", "--absolute-git-dir"),
    said("config", "--get-regexp", "^(remote\\..*\\.promisor|extensions\\.partialclone)$"),
  ]);
  return {
    ...located,
    remarks,
    isBare: top === gitDir,
    isClean: !remarks.some((notice) => /committed/.test(notice)),
    isShallow: shallow === "true",
    isPartial: promisor !== "",
    isLinked: path.basename(path.dirname(own)) === "worktrees",
    objectFormat: format || "sha1",
  };
}

const MAX_ANSWER_BYTES = 1_000_000;

/** The size of a commit when it is checked out; for a very large one, what was seen within the limits. */
export async function inspectTree(
  { top, isPartial }: InspectedRepository,
  commit: string,
  signal: AbortSignal,
): Promise<TreeFacts | undefined> {
  if (isPartial) return undefined; // To give its size, git would fetch a blob that is not here.
  const args = ["ls-tree", "-r", "-l", "-z", "--full-tree", commit];
  const listed = await git({ folder: top, args, maxBytes: MAX_TREE_BYTES, cut: true }, signal);
  if (!listed.ok) return undefined;
  const sizes = [...listed.out.matchAll(/(?:^|\0)\d+ blob [0-9a-f]+ +(\d+)\t/g)].map(([, size]) =>
    Number(size),
  );
  const bytes = sizes.reduce((sum, size) => sum + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES, 0);
  return { files: sizes.length, bytes, isCut: listed.isCut };
}

/** The size that a file takes on most disks, however short it is: 150,000 files of ten bytes take 600 MB, not 1.5. */
const BLOCK_BYTES = 4_096;
/** Enough for about 100,000 files. */
const MAX_TREE_BYTES = 10_000_000;

/** Ignored files that programs often need, by name: workspaces have none of them unless `.worktreeinclude` says so. */
export async function ignoredSettings(
  { top, gitDir }: Located,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (top === gitDir || existsSync(path.join(top, ".worktreeinclude"))) return [];
  const args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
  const listed = await git({ folder: top, args, maxBytes: MAX_ANSWER_BYTES, cut: true }, signal);
  return listed.out
    .split("\0")
    .filter((file) => SETTINGS_FILE.test(path.basename(file)) && !file.endsWith("/"));
}

const SETTINGS_FILE = /^(?:\.env(?:\..+)?|\.envrc|\.npmrc|local\.properties)$/;
