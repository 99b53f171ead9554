/** Opens files through a handle of their folder, so that they stay inside the workspace even if a folder is swapped. */
import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, rename, rm } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { GUARDED } from "../../files/read-bounded.ts";
import { type Inside, isWithin, type Root } from "./reach.ts";

/** `at`: a path to the opened folder, valid even if another folder has its name now. */
type OpenFolder = AsyncDisposable & { readonly at: string };

/**
 * Opens the folder, checks its real path, and then names its files through the handle, so that no link can be put
 * in the way in between. Without /proc (macOS) that remains possible: only the last part of a path is guarded
 * there.
 */
export async function openFolder(root: Root, path: string): Promise<OpenFolder> {
  return held(root, path, await open(path, FOLDER));
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

async function held(root: Root, path: string, handle: FileHandle): Promise<OpenFolder> {
  const door = `/proc/self/fd/${handle.fd}`;
  const real = process.platform === "linux" ? await readlink(door).catch(() => undefined) : undefined;
  if (real !== undefined && !isWithin(root.real, real)) {
    await handle.close();
    throw swapped();
  }
  return { at: real === undefined ? path : door, [Symbol.asyncDispose]: () => handle.close() };
}

const swapped = () => Object.assign(new Error("swapped for a link"), { code: "ELOOP" });

async function makeFolder(root: Root, path: string): Promise<OpenFolder> {
  let folder = await openFolder(root, root.real);
  let so = root.real;
  for (const part of relative(root.real, path).split(sep)) {
    if (part === "") continue;
    so = join(so, part);
    await using above = folder;
    const next = join(above.at, part);
    await mkdir(next).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    folder = await held(root, so, await open(next, FOLDER));
  }
  return folder;
}

/** Throws file system errors. */
export async function lookInside(root: Root, { path }: Inside): Promise<Stats> {
  if (path === root.real) return lstat(path);
  await using folder = await openFolder(root, dirname(path));
  return await lstat(join(folder.at, basename(path))); // Awaited here, before the folder is closed.
}

type Bytes =
  | { readonly is: "bytes"; readonly bytes: Buffer; readonly mode: number }
  | { readonly is: "folder" | "special" }
  | { readonly is: "too-large"; readonly size: number };

/**
 * Checks the file before opening it, because opening a pipe or a device can wait or have effects. Throws file
 * system errors.
 */
export async function readInside(root: Root, { path }: Inside, maxBytes: number): Promise<Bytes> {
  if (path === root.real) return { is: "folder" };
  await using folder = await openFolder(root, dirname(path));
  const name = join(folder.at, basename(path));
  const found = await lstat(name);
  if (found.isDirectory()) return { is: "folder" };
  if (!found.isFile()) return { is: "special" };
  await using file = await open(name, GUARDED);
  const opened = await file.stat();
  if (!opened.isFile()) return { is: "special" };
  if (opened.size > maxBytes) return { is: "too-large", size: opened.size };
  const bytes = Buffer.alloc(opened.size); // Bytes that are added meanwhile are not read.
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return { is: "bytes", bytes: bytes.subarray(0, length), mode: opened.mode & 0o777 };
}

/**
 * Writes a new file that replaces the old one: whole or not at all. A hard link to the old one outside keeps its
 * content. Throws file system errors.
 */
export async function writeInside(root: Root, { path }: Inside, text: string, mode?: number): Promise<void> {
  await using folder = await makeFolder(root, dirname(path));
  const name = join(folder.at, basename(path));
  const draft = join(folder.at, `.${randomUUID()}.skein`);
  try {
    await using file = await open(draft, NEW, 0o666);
    await file.writeFile(text);
    if (mode !== undefined) await file.chmod(mode);
    await rename(draft, name);
  } catch (thrown) {
    await rm(draft, { force: true });
    throw thrown;
  }
}

const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
