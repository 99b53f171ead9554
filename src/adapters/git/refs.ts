/** Lists refs, changes them, and makes them durable. */
import path from "node:path";
import type { Failed } from "../../core/result.ts";
import { ignoreMissing, syncFolder } from "../files/write-whole.ts";
import { fieldsIn, type GitPlace, git } from "./git.ts";

type RefQuestion = GitPlace & {
  /** Full names of refs, or prefixes up to a slash. */
  readonly patterns: readonly string[];
  /** In the words of `git for-each-ref`: one value each, in this order. */
  readonly fields: readonly string[];
  readonly newest?: number;
};

export async function listRefs(
  { patterns, fields, newest, ...place }: RefQuestion,
  signal?: AbortSignal,
): Promise<readonly (readonly string[])[] | Failed> {
  const format = `--format=${fields.map((field) => `%(${field})`).join("%00")}`;
  const order = newest === undefined ? [] : [`--count=${newest}`, "--sort=-committerdate"];
  const listed = await git({ ...place, args: ["for-each-ref", format, ...order, ...patterns] }, signal);
  return listed.ok ? fieldsIn(listed.out, "\n").map((line) => line.split("\0")) : listed;
}

/**
 * Executes all of these lines of `git update-ref --stdin`, or none. A symbolic ref itself is changed, not the ref
 * that it names.
 */
export async function changeRefs(
  place: GitPlace,
  lines: readonly string[],
  signal?: AbortSignal,
): Promise<Failed | undefined> {
  if (lines.length === 0) return undefined;
  const input = lines.map((line) => `${line}\n`).join("");
  const changed = await git({ ...place, args: ["update-ref", "--no-deref", "--stdin"], input }, signal);
  return changed.ok ? undefined : changed;
}

/**
 * Git syncs the file of a ref, but not the folders that hold its name. Must be called after refs moved, before a
 * file that may be on another disk says so. On a journaled file system it also covers objects that git renamed
 * before.
 */
export async function syncRefs(gitDir: string, refs: readonly string[]): Promise<void> {
  const folders = new Set(["reftable", ...refs.flatMap(foldersOf)]); // Refs are in one of the two forms.
  await Promise.all([...folders].map((folder) => syncFolder(path.join(gitDir, folder)).catch(ignoreMissing)));
}

/** The folders of "refs/heads/skein/x/target": "refs/heads/skein/x", "refs/heads/skein", "refs/heads". */
function foldersOf(ref: string): readonly string[] {
  const parts = ref.split("/").slice(0, -1);
  return parts.slice(1).map((_, i) => parts.slice(0, i + 2).join("/"));
}
