/** Opens a repository's objects and refs for reading and writing, and finds the name for Skein's commits, once. */
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { SharedTarget } from "../../ports/shared-target.ts";
import { type GitAnswer, type GitCall, git } from "../git/git.ts";
import { ObjectReader } from "../git/object-reader.ts";
import {
  type Commit,
  commitText,
  type ObjectFolder,
  parseCommit,
  syncObjects,
  writeObject,
} from "../git/objects.ts";
import { type RefsMoved, RefWriter } from "../git/ref-writer.ts";
import { type GitSetting, readSettings, settingOf, settingVariables } from "../git/settings.ts";
import { Shelf } from "../git/shelf.ts";

/**
 * All questions go to the git folder, never to a work tree, so that neither the user's index nor attributes in the
 * user's files affect a merge or start a program.
 */
export type Store = ObjectFolder & {
  readonly gitDir: string;
  /** As "Name <address>". */
  readonly identity: string;
  /** The environment of every git call: no program from the user's settings merges files. */
  readonly environment: Readonly<Record<string, string>>;
  /** In ms: the time of new commits; now by default. With the same time, the same commit gets the same id. */
  readonly madeAt?: number;
  readonly reader: ObjectReader;
  readonly refs: RefWriter;
  readonly shelf: Shelf;
  /** Set in a fleet: the target on the remote, which all machines share. */
  readonly shared?: SharedTarget;
  /** The first parents of commits that were read: they never change, and every landing walks the same ones. */
  readonly firstParents: Map<string, string | undefined>;
  /** When the pack folder last changed, as far as the reader knows. */
  readonly packs: { seenAt?: number };
};

type StoreOptions = {
  readonly shelf?: Shelf | undefined;
  readonly shared?: SharedTarget | undefined;
  readonly signal?: AbortSignal;
};

export async function openStore(
  folder: string,
  { shelf, shared, signal }: StoreOptions = {},
): Promise<Store | Failed> {
  const asked = await git({ folder, args: WHERE }, signal);
  if (!asked.ok) return { failure: asked.failure };
  const lines = asked.out.trimEnd().split("\n");
  const format = lines.pop();
  if (format !== "sha1" && format !== "sha256") return broken(`a format of objects unknown here: ${format}`);
  const gitDir = await realpath(lines.join("\n"));
  const settings = await readSettings(folder, "^(user\\.(name|email)|merge\\..*\\.driver)$", signal);
  if (hasFailed(settings)) return settings;
  const environment = { ...environmentOf(gitDir), ...settingVariables(plainMerges(settings)) };
  return {
    gitDir,
    objects: join(gitDir, "objects"),
    format,
    unsynced: new Set(),
    identity: identityOf(settings),
    environment,
    reader: new ObjectReader(gitDir, environment),
    refs: new RefWriter(gitDir, environment),
    shelf: shelf ?? new Shelf(join(gitDir, "objects")),
    firstParents: new Map(),
    packs: {},
    ...(shared && { shared }),
  };
}

const WHERE = ["rev-parse", "--path-format=absolute", "--git-common-dir", "--show-object-format"];

/** The user's name, if git knows both name and address; git would invent a missing one. */
function identityOf(settings: readonly GitSetting[]): string {
  const said = (key: string) => (settingOf(settings, key) ?? "").replace(/[<>\p{Cc}]/gu, "").trim();
  const [name, email] = [said("user.name"), said("user.email")];
  return name && email ? `${name} <${email}>` : "Skein <skein@localhost>";
}

/**
 * A named merge driver cannot be unset, and an empty one would silently take one side. So each driver is replaced
 * by git's own merge.
 */
const plainMerges = (settings: readonly GitSetting[]): readonly GitSetting[] =>
  settings
    .filter(([key]) => key.startsWith("merge."))
    .map(([key]) => [key, "git merge-file -q --marker-size=%L %A %O %B || exit 1"]);

/** Ends the processes that read and write. The next call starts them again. */
export function closeStore({ reader, refs }: Store): void {
  reader.close();
  refs.close();
}

/** Moves refs after syncing the objects that they will name. */
export async function moveRefs(store: Store, lines: readonly string[]): Promise<RefsMoved> {
  await syncObjects(store);
  return store.refs.move(lines);
}

/** Names the folder, because the user's settings may forbid git to find it (`safe.bareRepository`). */
const environmentOf = (gitDir: string) => ({ GIT_DIR: gitDir, GIT_ATTR_NOSYSTEM: "1" });

export function inStore(
  store: Store,
  call: Omit<GitCall, "folder">,
  signal?: AbortSignal,
): Promise<GitAnswer> {
  return git(
    {
      ...call,
      folder: store.gitDir,
      args: ["-c", "core.attributesFile=/dev/null", ...call.args],
      environment: { ...call.environment, ...store.environment },
    },
    signal,
  );
}

/** Writes a commit with Skein's committer, who is also the author unless another one is given. */
export function writeCommit(
  store: Store,
  commit: Omit<Commit, "author" | "committer"> & { readonly author?: string },
): Promise<string> {
  const { identity, madeAt = Date.now() } = store;
  const committer = `${identity} ${Math.floor(madeAt / 1000)} +0000`;
  return writeObject(store, "commit", commitText({ author: committer, ...commit, committer }));
}

/** Undefined if there is no such commit. */
export async function readCommit(
  store: Store,
  name: string,
): Promise<({ id: string } & Commit) | undefined | Failed> {
  const read = await store.reader.contents(`${name}^{commit}`);
  if (read.is === "failed") return broken(read.why);
  return read.is === "missing" ? undefined : { id: read.id, ...parseCommit(read.content) };
}

export async function neededCommit(store: Store, id: string): Promise<({ id: string } & Commit) | Failed> {
  return (await readCommit(store, id)) ?? broken(`the commit ${id} is not there`);
}

/** The commit that a ref, given by its full name, points at; undefined if there is none. */
export async function commitAt(store: Store, ref: string): Promise<string | undefined | Failed> {
  const read = await store.reader.info(`${ref}^{commit}`);
  if (read.is === "failed") return broken(read.why);
  return read.is === "missing" ? undefined : read.id;
}

export const broken = (message: string, next?: string): Failed => failedWith("repository", message, next);
