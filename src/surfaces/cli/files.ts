/** Reads files that a person names, without waiting for a pipe's other end, and writes files whole or not at all. */

import { constants, lstatSync, type Stats } from "node:fs";
import { link, lstat, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../../core/failure.ts";

export const isMissing = (error: unknown): boolean => Object(error).code === "ENOENT";

export const CONFIG_NAMES = ["skein.yaml", "skein.yml"] as const;

/** A dangling link counts as a file, because the person who made it did not mean the defaults. */
export const configNamesIn = (top: string): readonly string[] =>
  CONFIG_NAMES.filter((name) => lstatSync(path.join(top, name), { throwIfNoEntry: false }));

/** The start of a file; one byte more than the limit shows that the file is longer. */
export const readBounded = async (file: string, maxBytes: number): Promise<string> =>
  (await readBytes(file, maxBytes)).toString("utf8");

export async function readBytes(file: string, maxBytes: number): Promise<Buffer> {
  // Opening a pipe without this flag would wait for its other end.
  await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const found = await handle.stat();
  if (!found.isFile()) throw new Error("it is not a file");
  const buffer = Buffer.alloc(Math.min(maxBytes + 1, found.size + 1));
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

/** `isThere`: something has that name, and may not be replaced. */
export type Unwritten = { readonly why: string; readonly isThere: boolean };

/**
 * Writes a draft beside the file, then gives it the name. A hard link fails if the name is taken meanwhile; a rename
 * replaces the file, or the link itself. A file of another kind, such as /dev/null, is never replaced.
 */
export async function writeNew(
  file: string,
  text: string,
  mayReplace: boolean,
): Promise<{ readonly isReplaced: boolean } | Unwritten> {
  const there = await lookAt(file);
  if (mayReplace && there && !there.isFile() && !there.isSymbolicLink())
    return { why: "it is not a file", isThere: false };
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.${crypto.randomUUID()}.new`);
  try {
    await using handle = await open(draft, "wx");
    await handle.writeFile(text);
    await handle.sync();
    await (mayReplace ? rename(draft, file) : linkNew(draft, file));
    return { isReplaced: there !== undefined };
  } catch (error) {
    return { why: messageOf(error).replaceAll(draft, file), isThere: Object(error).code === "EEXIST" };
  } finally {
    await rm(draft, { force: true }).catch(() => {}); // Perhaps nothing can be written here at all.
  }
}

async function linkNew(draft: string, file: string): Promise<void> {
  try {
    await link(draft, file);
  } catch (error) {
    if (Object(error).code === "EEXIST" || (await lookAt(file))) throw error;
    await rename(draft, file); // A file system without hard links; a moment ago the name was free.
  }
}

/** Also finds a dangling link. */
export const lookAt = (file: string): Promise<Stats | undefined> => lstat(file).catch(() => undefined);
