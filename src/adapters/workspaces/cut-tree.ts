/** Cuts a worker's work tree to the paths that its task names, by git's sparse checkout. */
import { join } from "node:path";
import type { Failed } from "../../core/result.ts";
import { containing, EVERYTHING } from "../../core/scope.ts";
import { readShort } from "../files/read-bounded.ts";
import { fieldsIn, type GitAnswer } from "../git/git.ts";
import { MANIFEST_NAMES } from "./manifests.ts";
import { CUT_FILE, escaped, type Slot, type SlotCall } from "./slot.ts";

/**
 * Patterns of files at the top, files that set-up commands and git itself read, and these paths, in the words of a
 * scope. Undefined means the whole tree.
 */
export function patternsOf(paths: readonly string[]): string | undefined {
  if (paths.length === 0 || paths.includes(EVERYTHING)) return undefined;
  const named = paths.map((path) => `/${escaped(path)}`);
  return ["/*", "!/*/", ".gitignore", ".gitattributes", ...MANIFEST_NAMES, ...named, ""].join("\n");
}

/**
 * Must be called after the index was read from commits of the worker: a file that is new in them and lies outside
 * of the cut tree (moved there with git's own commands) is not marked as left out, and would be taken for deleted.
 */
export async function markLeftOut(
  slot: Slot,
  call: (call: SlotCall) => Promise<GitAnswer>,
): Promise<Failed | undefined> {
  const patterns = await readShort(join(slot.git, CUT_FILE), MAX_PATTERN_BYTES);
  if (patterns === "") return undefined;
  const deleted = await call({ args: ["ls-files", "-z", "--deleted"] });
  if (!deleted.ok) return { failure: deleted.failure };
  const belongs = belonging(patterns.split("\n"));
  const input = fieldsIn(deleted.out).flatMap((path) => (belongs(path) ? [] : [`${path}\0`]));
  if (input.length === 0) return undefined;
  const args = ["update-index", "--skip-worktree", "-z", "--stdin"];
  const marked = await call({ args, input: input.join("") });
  return marked.ok ? undefined : { failure: marked.failure };
}

/** A scope has a few hundred paths at most. */
const MAX_PATTERN_BYTES = 16_000_000;

/** Matches paths as git does with the patterns of `patternsOf`. */
function belonging(patterns: readonly string[]): (path: string) => boolean {
  const named = patterns.filter((line) => line.startsWith("/") && line !== "/*");
  const isNamed = containing(named.map((line) => line.slice(1).replace(/\\(.)/g, "$1")));
  const names = patterns.filter((line) => /^[^/!]/.test(line)).map((line) => line.split("*"));
  const isOne = (name: string) =>
    names.some(([head = "", end]) =>
      end === undefined ? name === head : name.startsWith(head) && name.endsWith(end),
    );
  return (path) => !path.includes("/") || isNamed(path) || isOne(path.slice(path.lastIndexOf("/") + 1));
}
