/** Writes and parses git's objects without a process for each. */
import { createHash, randomBytes } from "node:crypto";
import { chmod, mkdir, open, rename, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { ignoreMissing } from "../files/write-whole.ts";

type ObjectType = "blob" | "tree" | "commit";

type ObjectFormat = "sha1" | "sha256";

/** Where objects are written. `unsynced`: files that a power cut may still empty (see `syncObjects`). */
export type ObjectFolder = {
  readonly objects: string;
  readonly format: ObjectFormat;
  readonly unsynced: Set<string>;
};

/**
 * Writes a loose object (gitformat-loose) and returns its id; throws if the disk fails. It is written as
 * `tmp_obj_…` and renamed, so it is complete or missing; git removes leftovers.
 */
export async function writeObject(
  { objects, format, unsynced }: ObjectFolder,
  type: ObjectType,
  content: Uint8Array | string,
): Promise<string> {
  const body = typeof content === "string" ? Buffer.from(content) : content;
  const whole = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
  const id = createHash(format).update(whole).digest("hex");
  const file = looseFile(objects, id);
  if (!(await isFreshened(file))) await writeLoose(objects, id, deflateSync(whole, { level: 1 }));
  unsynced.add(file); // An existing file as well: the process that wrote it may not have synced it.
  return id;
}

/** The file of an object that is not in a pack. */
export const looseFile = (objects: string, id: string): string => join(objects, id.slice(0, 2), id.slice(2));

async function writeLoose(objects: string, id: string, bytes: Uint8Array): Promise<void> {
  const folder = join(objects, id.slice(0, 2));
  const beside = join(folder, `tmp_obj_${randomBytes(8).toString("hex")}`);
  for (let tries = 1; ; tries += 1) {
    try {
      await writeFile(beside, bytes, { mode: 0o444, flag: "wx" });
      return await rename(beside, looseFile(objects, id));
    } catch (error) {
      // It is the first object of its folder; or a `git prune` has just removed the empty folder or the new file.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || tries === MAX_TRIES) throw error;
      await makeFolder(folder, objects);
    }
  }
}

const MAX_TRIES = 10;

/**
 * Must be called before a ref or the log names the objects. Syncs all at once, because a disk syncs many files in
 * nearly the time of one, and a landing has five. Runs after the rename, so that names are synced too.
 */
export async function syncObjects({ unsynced }: Pick<ObjectFolder, "unsynced">): Promise<void> {
  const files = [...unsynced];
  await Promise.all(files.map(syncFile));
  for (const file of files) unsynced.delete(file);
}

async function syncFile(file: string): Promise<void> {
  await using handle = await open(file).catch(ignoreMissing); // Packed or pruned meanwhile: no unsynced file is lost.
  await handle?.sync();
}

/**
 * Makes an existing object as young as a new one, so that `git gc` keeps it for its usual two weeks. An empty file
 * was left by a power cut, and does not count.
 */
async function isFreshened(file: string): Promise<boolean> {
  const now = new Date();
  try {
    if ((await stat(file)).size === 0) return false;
    await utimes(file, now, now);
    return true;
  } catch {
    return false; // The file is missing, or another user's: then the same bytes are written again.
  }
}

/** Makes a folder with the permissions of the folder above, which are wider in a repository that a group shares. */
async function makeFolder(folder: string, above: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true });
  const { mode } = await stat(above);
  if (made !== undefined) await chmod(folder, mode & 0o7777).catch(() => {}); // Removed: then made once more.
}

export type TreeEntry = { readonly mode: string; readonly name: string; readonly id: string };

export function parseTree(content: Buffer, format: ObjectFormat): readonly TreeEntry[] {
  const idBytes = format === "sha1" ? 20 : 32;
  const entries: TreeEntry[] = [];
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const end = content.indexOf(0, space);
    entries.push({
      mode: content.toString("latin1", at, space),
      name: content.toString("utf8", space + 1, end),
      id: content.toString("hex", end + 1, end + 1 + idBytes),
    });
    at = end + 1 + idBytes;
  }
  return entries;
}

/** Sorted as git sorts: a folder as if its name ended in "/". */
export function treeBytes(entries: readonly TreeEntry[]): Buffer {
  const key = ({ mode, name }: TreeEntry) => Buffer.from(mode === TREE ? `${name}/` : name);
  return Buffer.concat(
    entries
      .toSorted((a, b) => Buffer.compare(key(a), key(b)))
      .flatMap(({ mode, name, id }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]),
  );
}

export const TREE = "40000";
export const BLOB = "100644";

export type Commit = {
  readonly tree: string;
  readonly parents: readonly string[];
  /** As in the object: "Name <address> seconds zone". */
  readonly author: string;
  readonly committer: string;
  readonly message: string;
  readonly encoding?: string;
};

export function parseCommit(content: Buffer): Commit {
  const text = content.toString("latin1"); // Keeps all bytes, because a message need not be UTF-8.
  const end = text.indexOf("\n\n");
  const lines = (end === -1 ? text : text.slice(0, end)).split("\n");
  const values = (name: string) =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const utf8 = (latin: string) => Buffer.from(latin, "latin1").toString("utf8");
  const encoding = values("encoding")[0];
  return {
    tree: values("tree")[0] ?? "",
    parents: values("parent"),
    author: utf8(values("author")[0] ?? ""),
    committer: utf8(values("committer")[0] ?? ""),
    message: decoded(Buffer.from(end === -1 ? "" : text.slice(end + 2), "latin1"), encoding),
    ...(encoding === undefined ? {} : { encoding }),
  };
}

function decoded(bytes: Buffer, encoding: string | undefined): string {
  try {
    return new TextDecoder(encoding ?? "utf-8").decode(bytes);
  } catch {
    return bytes.toString("utf8"); // An unknown encoding: its ASCII part stays readable.
  }
}

/** The text of a commit object, always in UTF-8. */
export const commitText = ({ tree, parents, author, committer, message }: Commit): string =>
  [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${author}`,
    `committer ${committer}`,
    "",
    message,
  ].join("\n");
