/** Finds the files that a worker left changed, decides which of them can be kept, and commits them. */
import { constants } from "node:fs";
import { chmod, lstat } from "node:fs/promises";
import { join } from "node:path";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import { readBounded, readShort } from "../files/read-bounded.ts";
import type { GitAnswer } from "../git/git.ts";
import { openFolders } from "./folders.ts";
import type { Slot, SlotCall } from "./slot.ts";
import { SKEIN } from "./source.ts";

export type ChangedFiles = {
  /** All files that differ from the index, including those that are not kept. */
  readonly count: number;
  readonly barred: readonly string[];
  /** Files inside repositories within the work tree. */
  readonly inner: readonly string[];
  readonly left: readonly string[];
};

type Call = (call: SlotCall) => Promise<GitAnswer>;

export async function changedFiles(
  slot: Slot,
  call: Call,
  maxFileBytes: number,
): Promise<ChangedFiles | Failed> {
  const list = () => call({ args: ["ls-files", "-z", "--modified", "--others", "--exclude-standard"] });
  let listed = await list();
  if (listed.ok && CLOSED.test(listed.warnings)) {
    await openFolders(slot.tree);
    listed = await list();
  }
  if (!listed.ok) return { failure: listed.failure };
  const closed = listed.warnings.split("\n").find((line) => CLOSED.test(line));
  if (closed !== undefined) return unread(`git ls-files: ${closed}`);
  const paths = new Set(listed.out.split("\0").filter((path) => path !== ""));
  const all = await sieve(slot, [...paths], maxFileBytes);
  if (hasFailed(all)) return all;
  const inner: string[] = [];
  const left = [...all.left];
  for (const folder of all.nested) {
    const found = await nestedFiles({ slot, call, maxFileBytes, folder });
    if (hasFailed(found)) return found;
    inner.push(...found.inner);
    left.push(...found.left);
  }
  return { count: paths.size, barred: [...all.barred, ...all.nested], inner, left: [...new Set(left)] };
}

/** Git skips a folder that it may not enter with a warning. It does not record folder modes, so they may be changed. */
const CLOSED = /could not open directory|cannot lstat/;

/**
 * The failure if a file cannot be read, because all of a change is kept, or nothing. Only a person can open
 * another user's file.
 */
const unread = (what: string): Failed =>
  failedWith("repository", what, "make it readable for your user, or have git ignore it (.gitignore)");

/**
 * Lists the files of a repository inside the work tree. Git would record it as one opaque entry and lose its
 * files, so they are kept as if it were a plain folder; its history is not.
 */
async function nestedFiles(at: { slot: Slot; call: Call; maxFileBytes: number; folder: string }) {
  const { slot, call, maxFileBytes, folder } = at;
  const within = join(slot.tree, folder);
  const environment = { GIT_WORK_TREE: within, GIT_INDEX_FILE: join(slot.git, "index.none") };
  const args = ["ls-files", "-z", "--others", "--exclude-standard"];
  const listed = await call({ args, folder: within, environment });
  if (!listed.ok) return { failure: listed.failure };
  const paths = listed.out.split("\0").filter((path) => path !== "");
  const name = JSON.stringify(folder);
  if (paths.length > MAX_NESTED_FILES) {
    return { inner: [], left: [`${name} is a repository of its own with ${paths.length} files: not kept`] };
  }
  const sieved = await sieve(
    slot,
    paths.map((path) => folder + path),
    maxFileBytes,
  );
  if (hasFailed(sieved)) return sieved;
  const { barred, nested, left } = sieved;
  const isBarred = new Set([...barred, ...nested]);
  return {
    inner: paths.map((path) => folder + path).filter((path) => !isBarred.has(path)),
    left: [
      `${name} is a repository of its own: its files are kept, its history is not`,
      ...left,
      ...nested.map((path) => `${JSON.stringify(path)} is a repository in a repository: not kept`),
    ],
  };
}

/** More than a small project that began with `git init`; a cloned library may have more. */
const MAX_NESTED_FILES = 2_000;

type Sieved = { readonly barred: string[]; readonly nested: string[]; readonly left: string[] };

async function sieve(slot: Slot, paths: readonly string[], maxFileBytes: number): Promise<Sieved | Failed> {
  const sieved: Sieved = { barred: [], nested: [], left: [] };
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    const part = paths.slice(at, at + AT_ONCE);
    const whys = await Promise.all(part.map((path) => obstacle(join(slot.tree, path), path, maxFileBytes)));
    for (const [index, why] of whys.entries()) {
      const path = part[index] as string;
      if (why === UNREADABLE) return unread(`${JSON.stringify(path)} ${why}`);
      if (why === "nested") sieved.nested.push(path);
      else if (why !== undefined) {
        sieved.barred.push(path);
        sieved.left.push(`${JSON.stringify(path)} ${why}`);
      }
    }
  }
  return sieved;
}

const AT_ONCE = 64;

async function obstacle(file: string, path: string, maxFileBytes: number): Promise<string | undefined> {
  if (path.endsWith("/")) return "nested";
  if (path.split("/").some((part) => REFUSED.test(part))) return "has a name that git refuses: not kept";
  const found = await lstat(file).catch(() => undefined);
  if (found === undefined || found.isSymbolicLink()) return undefined; // Deleted, or a link: git handles both.
  if (found.isDirectory()) return undefined; // Now a folder: its files are listed by themselves.
  if (!found.isFile()) return SPECIAL;
  if (found.size > maxFileBytes) return `has ${found.size} bytes, more than ${maxFileBytes}: not kept`;
  // Git does not record whether a file may be read, so that may be changed.
  if ((found.mode & constants.S_IRUSR) === 0)
    await chmod(file, found.mode | constants.S_IRUSR).catch(() => {});
  return (await readBounded(file, 0)).is === "unreadable" ? UNREADABLE : undefined;
}

const UNREADABLE = "cannot be read";

export const SPECIAL = "is a pipe, a socket or a device: not kept";

/** Names that some file systems would take for a git folder. */
const REFUSED = /^(?:\.git|git~1)[ .]*(?::.*)?$/i;

/**
 * Commits the files. `commit` is undefined if nothing that can be kept differs from the commit in the slot's HEAD.
 * Fails unless all of it was added: a part of a change must not pass for the whole.
 */
export async function commitFiles(
  slot: Slot,
  call: Call,
  files: ChangedFiles,
  message: string,
): Promise<{ readonly commit: string | undefined } | Failed> {
  const notAdded = await add(call, files);
  if (notAdded) return notAdded;
  const made = await call({
    args: COMMIT,
    input: message.toWellFormed().replaceAll("\0", ""),
    environment: IDENTITY,
  });
  if (made.ok) return { commit: (await readShort(join(slot.git, "HEAD"))).trim() };
  // Exit code 1 means that there is nothing to commit, but also that a tree could not be written.
  const isNothing =
    made.code === 1 && (await call({ args: ["diff-index", "--cached", "--quiet", "HEAD"] })).ok;
  return isNothing ? { commit: undefined } : { failure: made.failure };
}

const COMMIT = [
  "commit",
  "--quiet",
  "--no-verify",
  "--cleanup=verbatim",
  "--allow-empty-message",
  "--file=-",
];

const IDENTITY = {
  GIT_AUTHOR_NAME: SKEIN.name,
  GIT_AUTHOR_EMAIL: SKEIN.email,
  GIT_COMMITTER_NAME: SKEIN.name,
  GIT_COMMITTER_EMAIL: SKEIN.email,
};

/**
 * Adds everything except the barred paths, also outside of what a cut tree shows. Works by exclusion, so that
 * names that are not UTF-8 are kept as well.
 */
async function add(call: Call, files: ChangedFiles): Promise<Failed | undefined> {
  const pathspecs = [
    ":(top)",
    ...files.barred.map((path) => `:(top,exclude,literal)${path.replace(/\/$/, "")}`),
  ];
  const added = await call({
    args: ["add", "--all", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul"],
    input: pathspecs.join("\0"),
    environment: { GIT_LITERAL_PATHSPECS: "0" },
  });
  if (!added.ok) return { failure: added.failure };
  if (files.inner.length === 0) return undefined;
  const args = ["update-index", "--add", "--replace", "-z", "--stdin"];
  const inner = await call({ args, input: files.inner.map((path) => `${path}\0`).join("") });
  return inner.ok ? undefined : { failure: inner.failure };
}
