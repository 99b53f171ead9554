/** Where are a repository's objects and refs, and who are we there? Found out once. */
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { failure } from "../../core/failure.ts";
import type { Failed } from "../../ports/repository.ts";
import { type GitAnswer, type GitCall, git } from "../git/git.ts";
import { ObjectReader, type Read } from "../git/object-reader.ts";
import { type Commit, commitText, type ObjectFormat, parseCommit, writeObject } from "../git/objects.ts";

/**
 * Everything is asked of the git folder itself, and never of a work tree: so neither the user's index nor the
 * attributes in the user's files take part in a merge, and no program that they name is started.
 */
export type Store = {
  readonly gitDir: string;
  readonly objects: string;
  readonly format: ObjectFormat;
  /** "Name <address>" */
  readonly identity: string;
  readonly reader: ObjectReader;
};

export async function openStore(folder: string, signal?: AbortSignal): Promise<Store | Failed> {
  const asked = await git({ folder, args: WHERE }, signal);
  if (!asked.ok) return { failure: asked.failure };
  const lines = asked.out.trimEnd().split("\n");
  const format = lines.pop();
  if (format !== "sha1" && format !== "sha256") return broken(`a format of objects unknown here: ${format}`);
  const gitDir = await realpath(lines.join("\n"));
  const named = await git(
    { folder: gitDir, args: ["config", "--null", "--get-regexp", "^user\\.(name|email)$"] },
    signal,
  );
  return {
    gitDir,
    objects: join(gitDir, "objects"),
    format,
    identity: identityOf(named.ok ? named.out : ""),
    reader: new ObjectReader(gitDir, environmentOf(gitDir)),
  };
}

const WHERE = ["rev-parse", "--path-format=absolute", "--git-common-dir", "--show-object-format"];

/** What the user is called, if git knows both name and address; it would make up what is missing. */
function identityOf(config: string): string {
  const values = new Map<string, string>();
  for (const entry of config.split("\0")) {
    const end = entry.indexOf("\n");
    if (end !== -1)
      values.set(
        entry.slice(0, end),
        entry
          .slice(end + 1)
          .replace(/[<>\p{Cc}]/gu, "")
          .trim(),
      );
  }
  const name = values.get("user.name");
  const email = values.get("user.email");
  return name && email ? `${name} <${email}>` : "Skein <skein@localhost>";
}

/** Named, and not found: a git folder is used also where the user's settings forbid to happen upon one. */
const environmentOf = (gitDir: string) => ({ GIT_DIR: gitDir, GIT_ATTR_NOSYSTEM: "1" });

export const inStore = (
  store: Store,
  call: Omit<GitCall, "folder">,
  signal?: AbortSignal,
): Promise<GitAnswer> =>
  git(
    {
      ...call,
      folder: store.gitDir,
      args: ["-c", "core.attributesFile=/dev/null", ...call.args],
      environment: { ...call.environment, ...environmentOf(store.gitDir) },
    },
    signal,
  );

/** The line that says who, and when. */
export const signature = (identity: string): string => `${identity} ${Math.floor(Date.now() / 1000)} +0000`;

export const writeCommit = (store: Store, commit: Commit): Promise<string> =>
  writeObject(store, "commit", commitText(commit));

/** Undefined if there is no such commit. */
export async function readCommit(
  store: Store,
  name: string,
): Promise<({ id: string } & Commit) | undefined | Failed> {
  const read = await store.reader.contents(`${name}^{commit}`);
  if (read.is === "failed") return broken(read.why);
  return read.is === "missing" ? undefined : { id: read.id, ...parseCommit(read.content) };
}

/** The commit that a ref, named in full, points at; undefined if there is none. */
export async function commitAt(store: Store, ref: string): Promise<string | undefined | Failed> {
  return idOf(await store.reader.info(`${ref}^{commit}`));
}

const idOf = (read: Read): string | undefined | Failed =>
  read.is === "failed" ? broken(read.why) : read.is === "missing" ? undefined : read.id;

export const broken = (message: string, next?: string): Failed => ({
  failure: failure("repository", message, next),
});
