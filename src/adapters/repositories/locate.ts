/** Locates the repository that a run can work on; if there is none, the failure says what to do. */
import { realpath } from "node:fs/promises";
import { messageOf } from "../../core/failure.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { Base, Located } from "../../ports/project.ts";
import type { TrustAsk } from "../../ports/trust.ts";
import { OFFLINE } from "../git/ask-git.ts";
import { git } from "../git/git.ts";
import { ownGitAsks } from "../git/own-settings.ts";
import { checkoutAsk } from "./checkout-ask.ts";
import { isCommit, refOf, wrongNames } from "./names.ts";
import { broken } from "./store.ts";

type LocatedRepository = Located & {
  /** The asks of its own git settings: until they are agreed to, nothing else may be asked of git there. */
  readonly gitAsks: readonly TrustAsk[];
};

export async function locate(folder: string, signal: AbortSignal): Promise<LocatedRepository | Failed> {
  const [version, facts, gitAsks] = await Promise.all([
    git({ folder, args: ["version"] }, signal),
    git({ folder, args: ["rev-parse", ...FACTS] }, signal),
    ownGitAsks(folder, signal),
  ]);
  if (!version.ok) return (await isFolder(folder)) ? { failure: version.failure } : noFolder(folder);
  const old = tooOld(version.out);
  if (old !== undefined) return old;
  if (!facts.ok) return notFound(folder, facts.failure.message);
  if (hasFailed(gitAsks)) return gitAsks;
  try {
    const found = await located(folder, facts.out.trimEnd().split("\n"), signal);
    if (hasFailed(found)) return found;
    const checkout = await checkoutAsk(found.top, found.gitDir);
    return { ...found, gitAsks: [...gitAsks, ...(checkout === undefined ? [] : [checkout])] };
  } catch (error) {
    return broken(`the repository in ${folder} cannot be read: ${messageOf(error)}`);
  }
}

const noFolder = (folder: string) =>
  broken(`there is no folder ${folder}`, "name the folder of a git repository");

const isFolder = (folder: string): Promise<boolean> =>
  realpath(folder).then(
    () => true,
    () => false,
  );

/** Why git is too old: candidates need `git merge-tree --write-tree`, which came with 2.38. */
export function tooOld(version: string): Failed | undefined {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined || minor === undefined) {
    return broken(
      `git does not say its version: ${version.trim().slice(0, 100)}`,
      "install git 2.38 or newer",
    );
  }
  const isNew = Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 38);
  return isNew ? undefined : broken(`git ${major}.${minor} is too old`, "install git 2.38 or newer");
}

/** `facts`: the lines that git answered to `FACTS`. */
async function located(folder: string, facts: string[], signal: AbortSignal): Promise<Located | Failed> {
  const [isShallow, isBare, inGitDir] = facts.splice(-FLAGS).map((line) => line === "true");
  const isTree = !isBare && !inGitDir;
  const [gitDir, tree, head, branch] = await Promise.all([
    realpath(facts.join("\n")),
    isTree ? topOf(folder, signal) : undefined,
    // Offline, because the user may not have agreed yet to the program that would fetch the commit.
    git({ folder, args: HEAD, environment: OFFLINE }, signal),
    git({ folder, args: ["symbolic-ref", "--quiet", "--short", "HEAD"] }, signal),
  ]);
  if (typeof tree === "object") return tree;
  const top = tree ?? gitDir;
  if (!head.ok) {
    return head.code === 1
      ? broken(`the repository in ${top} has no commit`, "commit something first: `git add . && git commit`")
      : { failure: head.failure };
  }
  const notices = async () => [
    ...(branch.ok ? [] : ["HEAD is detached: the run starts from this commit, and no branch is its base"]),
    ...(isShallow ? ["this is a shallow clone: branches are compared within the history that is there"] : []),
    ...(isBare ? ["this is a bare repository: there is no checkout"] : []),
    ...(isTree ? await stateNotices(top, signal) : []),
  ];
  const found = { top, gitDir, head: head.out.trim(), notices };
  return branch.ok ? { ...found, branch: branch.out.trim() } : found;
}

const HEAD = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];

/** The path comes first, because it may contain a line end. */
const FACTS = [
  ...["--path-format=absolute", "--git-common-dir"],
  ...["--is-shallow-repository", "--is-bare-repository", "--is-inside-git-dir"],
];
const FLAGS = 3;

async function topOf(folder: string, signal: AbortSignal): Promise<string | Failed> {
  const top = await git({ folder, args: ["rev-parse", "--path-format=absolute", "--show-toplevel"] }, signal);
  return top.ok ? realpath(top.out.replace(/\n$/, "")) : { failure: top.failure };
}

function notFound(folder: string, said: string): Failed {
  if (/dubious ownership/.test(said)) {
    return broken(
      `the repository in ${folder} belongs to another user, so git refuses to use it`,
      `if you trust it: git config --global --add safe.directory '${folder}'`,
    );
  }
  return /not a git repository/i.test(said)
    ? broken(
        `${folder} is not in a git repository`,
        "cd to one, or create one: `git init`, then commit something",
      )
    : failedWith("repository", said);
}

async function stateNotices(top: string, signal: AbortSignal): Promise<readonly string[]> {
  const args = ["status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignore-submodules=all"];
  const status = await git({ folder: top, args, maxBytes: MAX_STATUS_BYTES, cut: true }, signal);
  const modules = await git(
    { folder: top, args: ["ls-files", "--stage", "-z"], maxBytes: MAX_INDEX_BYTES, cut: true },
    signal,
  );
  const count = status.ok ? changeCount(status.out) : 0;
  const isMore = status.ok && status.isCut;
  const changes =
    count === 1 && !isMore ? "1 change that is" : `${count}${isMore ? " or more" : ""} changes that are`;
  return [
    ...(status.ok ? [] : [`whether there are uncommitted changes is not known: ${status.failure.message}`]),
    ...(count > 0
      ? [`the checkout has ${changes} not committed: the run starts from what is committed`]
      : []),
    ...(modules.ok && /(?:^|\0)160000 /.test(modules.out)
      ? ["there are submodules: they are not entered"]
      : []),
  ];
}

/** Counts changes. A rename has its old path as a field of its own. */
const changeCount = (out: string): number =>
  out.split("\0").filter((field) => /^(?:[12u?] )/.test(field)).length;

const MAX_STATUS_BYTES = 1024 * 1024;
const MAX_INDEX_BYTES = 64 * 1024 * 1024;

/** The commit that a person named: a branch, a tag, "HEAD~2". It is never read as an option. */
export async function resolveBase(
  located: Pick<Located, "gitDir" | "top">,
  ref: string,
  signal: AbortSignal,
): Promise<string | Failed> {
  const said = JSON.stringify(ref.slice(0, 100));
  if (ref === "" || /\p{Cc}/u.test(ref) || ref.length > MAX_REF_CHARS)
    return broken(`not the name of a commit: ${said}`);
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`];
  const answer = await git({ folder: located.top, args }, signal);
  const commit = answer.ok ? answer.out.trim() : "";
  if (isCommit(commit)) return commit;
  if (!answer.ok && answer.code === undefined) return { failure: answer.failure };
  return broken(`there is no commit ${said}`, "`git branch -a` and `git log` show what there is");
}

const MAX_REF_CHARS = 1_000;

/** The base of a run. A named branch is also the one to deliver to; "HEAD" means the branch that is checked out. */
export async function baseOf(located: Located, name: string, signal: AbortSignal): Promise<Base | Failed> {
  const isHead = name === "HEAD";
  const base = isHead ? located.head : await resolveBase(located, name, signal);
  if (typeof base !== "string") return base;
  const short = name.replace(/^refs\/heads\//, "");
  const args = ["show-ref", "--verify", "--quiet", `refs/heads/${short}`];
  const isBranch = isHead || (await git({ folder: located.top, args }, signal)).ok;
  const baseBranch = isHead ? located.branch : isBranch ? short : undefined;
  return baseBranch === undefined ? { base } : { base, baseBranch };
}

/** Makes a branch. An existing branch stays where it is; one at that commit is fine. */
export async function createTarget(
  folder: string,
  branch: string,
  commit: string,
  signal: AbortSignal,
): Promise<Created | Failed> {
  const wrong = wrongNames({ commits: [commit], branches: [branch] });
  if (wrong) return wrong;
  const made = await git({ folder, args: ["update-ref", refOf(branch), commit, NOWHERE] }, signal);
  if (made.ok) return { is: "created" };
  const args = ["rev-parse", "--verify", "--quiet", `${refOf(branch)}^{commit}`];
  const there = await git({ folder, args }, signal);
  if (!there.ok) return unmade(branch, made.failure.message);
  const at = there.out.trim();
  return at === commit ? { is: "there" } : { is: "elsewhere", at };
}

function unmade(branch: string, said: string): Failed {
  const inTheWay = /'refs\/heads\/([^']+)' exists; cannot create/.exec(said)?.[1];
  return inTheWay === undefined
    ? broken(
        `the branch ${branch} cannot be created: ${said}`,
        "see whether the repository may be written, and its disk has room",
      )
    : broken(
        `the branch ${inTheWay} prevents ${branch}: git allows no branch below another`,
        `rename it (git branch -m ${inTheWay} …), or set branchPrefix to something else`,
      );
}

export type Created =
  | { readonly is: "created" | "there" }
  | { readonly is: "elsewhere"; readonly at: string };

/** An empty old value means that the ref must not exist. */
const NOWHERE = "";
