/** Asks for trust before a folder gets a repository's trust as its checkout without being named by it. */
import { lstat, realpath } from "node:fs/promises";
import path from "node:path";
import type { TrustAsk } from "../../ports/trust.ts";
import { wordsToAgree } from "../../text/asked-words.ts";
import { readShort } from "../files/read-bounded.ts";
import { git } from "../git/git.ts";

/**
 * An archive's `.git` may be a file, a link or a `commondir` that leads to any repository on the machine. So the
 * repository must confirm it: it lies in the checkout, or lists it as a work tree, or has it as `core.worktree`.
 * `top` and `gitDir` are real paths; `gitDir` is the folder that all work trees share.
 */
export async function checkoutAsk(top: string, gitDir: string): Promise<TrustAsk | undefined> {
  const dotGit = path.join(top, ".git");
  if (gitDir === dotGit || top === gitDir) return undefined;
  if (await isListed(dotGit, gitDir)) return undefined;
  if (await isItsWorkTree(top, dotGit, gitDir)) return undefined;
  return {
    ...{ is: "git", from: ".git", name: "checkout", value: top },
    words: `${wordsToAgree(top)} counts as a checkout of ${wordsToAgree(gitDir)}: what you agreed to there holds for its files`,
  };
}

/** Whether both sides name each other, as after `git worktree add`. */
async function isListed(dotGit: string, gitDir: string): Promise<boolean> {
  const own = await realOf(await leadsTo(dotGit));
  if (own === undefined || path.dirname(own) !== path.join(gitDir, "worktrees")) return false;
  const back = (await readShort(path.join(own, "gitdir"))).replace(/\n$/, "");
  return back !== "" && (await realOf(path.resolve(own, back))) === dotGit;
}

/**
 * Whether the repository names the folder as its work tree, as submodules do. Other work trees' settings do not
 * count: the folder's own `.git` could hold them.
 */
async function isItsWorkTree(top: string, dotGit: string, gitDir: string): Promise<boolean> {
  if ((await realOf(await leadsTo(dotGit))) !== gitDir) return false;
  const asked = await git({ folder: top, args: ["config", "--get", "core.worktree"] });
  return asked.ok && (await realOf(path.resolve(gitDir, asked.out.replace(/\n$/, "")))) === top;
}

/** Where git goes from here: the folder itself, or the one that the file names. */
async function leadsTo(dotGit: string): Promise<string> {
  const isFile = await lstat(dotGit).then(
    (found) => found.isFile(),
    () => false, // Git has just found it, so it is gone now, and leads nowhere.
  );
  if (!isFile) return dotGit;
  const [, place = ""] = /^gitdir: (.*?)\n?$/s.exec(await readShort(dotGit)) ?? [];
  return path.resolve(path.dirname(dotGit), place);
}

const realOf = (place: string): Promise<string | undefined> => realpath(place).catch(() => undefined);
