/** Writes files so that readers find all of a file or none of it: under another name first, then by a rename. */
import { randomBytes } from "node:crypto";
import { mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";

/** The file survives the end of this process. A power cut may lose it: see `writeDurably`. */
export async function writeWhole(file: string, text: string | Uint8Array): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await replace(file, (draft) => writeFile(draft, text, { mode: 0o600 }));
}

/** On return the file is on the disk, with its name and the names of new folders. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const folder = path.dirname(file);
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  await replace(file, (draft) => writeSynced(draft, text, 0o600));
  await syncFolder(folder);
  for (let made = folder; first !== undefined && made.length >= first.length; made = path.dirname(made))
    await syncFolder(path.dirname(made));
}

/** Each writer has its own draft, because several processes may write the same file. */
async function replace(file: string, write: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString("hex")}.new`;
  try {
    await write(draft);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {}); // The first error says what is wrong.
    throw error;
  }
}

/** Writes in place, so a crash can leave half of the file. On return the content is on the disk. */
export async function writeSynced(file: string, text: string, mode = 0o666): Promise<void> {
  await using handle = await open(file, "w", mode);
  await handle.writeFile(text);
  await handle.sync();
}

/** Removes a file so that it is still gone after a power cut. */
export async function removeDurably(file: string): Promise<void> {
  await rm(file, { force: true });
  await syncFolder(path.dirname(file)).catch(ignoreMissing);
}

/** Makes names that were added to or removed from a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder);
  await handle.sync().catch((error: NodeJS.ErrnoException) => {
    if (!UNABLE.has(error.code ?? "")) throw error;
  });
}

/** Some network file systems cannot sync a folder, and need not. */
const UNABLE = new Set(["EINVAL", "ENOTSUP", "ENOSYS", "EISDIR"]);

export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}
