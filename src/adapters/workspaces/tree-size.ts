/** Counts a tree's entries before it is checked out: a few git objects can stand for more files than a disk holds. */
import type { Failed } from "../../core/result.ts";
import { TREE_LIMITS } from "../../core/rules/policy.ts";
import type { GitAnswer } from "../git/git.ts";

/** Undefined if the tree can be checked out. `git ls-tree` lists as it goes, so its output is cut at the limit. */
export async function tooLargeTree(
  run: (args: readonly string[], maxBytes: number) => Promise<GitAnswer>,
  commit: string,
): Promise<string | undefined | Failed> {
  const { maxBytes } = TREE_LIMITS;
  const args = ["ls-tree", "-r", "-t", "-z", "--name-only", "--full-tree", "--end-of-options", commit];
  const listed = await run(args, maxBytes);
  if (!listed.ok) return { failure: listed.failure };
  const found = wrongPath(listed.out);
  return found ?? (listed.isCut ? `the paths in its tree have more than ${maxBytes} bytes` : undefined);
}

function wrongPath(list: string): string | undefined {
  const { maxEntries, maxDepth, maxPathBytes, maxNameBytes } = TREE_LIMITS;
  let entries = 0;
  for (let from = 0; from < list.length; entries += 1) {
    const end = list.indexOf("\0", from);
    const path = list.slice(from, end === -1 ? undefined : end);
    from += path.length + 1;
    if (entries >= maxEntries) return `its tree has more than ${maxEntries} files and folders`;
    if (path.length * 3 <= maxNameBytes && path.length < maxDepth) continue; // Most paths: a character has 3 bytes at most.
    if (Buffer.byteLength(path) > maxPathBytes)
      return `a path in its tree has more than ${maxPathBytes} bytes`;
    const names = path.split("/");
    if (names.length > maxDepth) return `its tree is more than ${maxDepth} folders deep`;
    if (names.some((name) => Buffer.byteLength(name) > maxNameBytes))
      return `a name in its tree has more than ${maxNameBytes} bytes`;
  }
  return undefined;
}
