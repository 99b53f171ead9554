/** Where are a repository's objects and refs, and who are we there? Found out once. */
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { failure } from "../../core/failure.ts";
import { type Failed, hasFailed } from "../../ports/repository.ts";
import { type GitAnswer, type GitCall, git } from "../git/git.ts";
import { ObjectReader, type Read } from "../git/object-reader.ts";
import {
  type Commit,
  commitText,
  type ObjectFolder,
  parseCommit,
  syncObjects,
  writeObject,
} from "../git/objects.ts";
import { type RefsMoved, RefWriter } from "../git/ref-writer.ts";
import { readSettings, type Setting, settingOf, settingVariables } from "../git/settings.ts";
import { Shelf } from "../git/shelf.ts";

/**
 * Everything is asked of the git folder itself, and never of a work tree: so neither the user's index nor the
 * attributes in the user's files take part in a merge, and no program that they name is started.
 */
export type Store = ObjectFolder & {
  readonly gitDir: string;
  /** "Name <address>" */
  readonly identity: string;
  /** Of every git here: it starts no program of the user's settings to merge files. */
  readonly environment: Readonly<Record<string, string>>;
  /** In ms: when what is written now counts as made; without it, now. The same again has the same name then. */
  readonly madeAt?: number;
  readonly reader: ObjectReader;
  readonly refs: RefWriter;
  readonly shelf: Shelf;
  /** When the folder of packs was last changed, as far as the reader knows. */
  readonly packs: { seenAt?: number };
};

export async function openStore(
  folder: string,
  { shelf, signal }: { readonly shelf?: Shelf | undefined; readonly signal?: AbortSignal } = {},
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
    packs: {},
  };
}

const WHERE = ["rev-parse", "--path-format=absolute", "--git-common-dir", "--show-object-format"];

/** What the user is called, if git knows both name and address; it would make up what is missing. */
function identityOf(settings: readonly Setting[]): string {
  const said = (key: string) =>
    settingOf(settings, key)
      ?.replace(/[<>\p{Cc}]/gu, "")
      .trim();
  const [name, email] = [said("user.name"), said("user.email")];
  return name && email ? `${name} <${email}>` : "Skein <skein@localhost>";
}

/**
 * A driver that has a name cannot be taken from git, and an empty one would take our side without a word. So each does
 * what git does without drivers, by git itself.
 */
const plainMerges = (settings: readonly Setting[]): readonly Setting[] =>
  settings
    .filter(([key]) => key.startsWith("merge."))
    .map(([key]) => [key, "git merge-file -q --marker-size=%L %A %O %B || exit 1"]);

/** Ends the processes that read and write. What is asked afterwards starts them again. */
export function closeStore({ reader, refs }: Store): void {
  reader.close();
  refs.close();
}

/** No ref is moved before the objects that it may name are on the disk. */
export async function moveRefs(store: Store, lines: readonly string[]): Promise<RefsMoved> {
  await syncObjects(store);
  return store.refs.move(lines);
}

/** Named, and not found: a git folder is used also where the user's settings forbid to happen upon one. */
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

/** The line that says who, and when. */
export const signature = ({ identity, madeAt = Date.now() }: Store): string =>
  `${identity} ${Math.floor(madeAt / 1000)} +0000`;

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
