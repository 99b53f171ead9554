/** How is a file written so that it is there whole, or not at all? Under another name first, then under its own. */
import { mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";

/** Outlives this process, however it ends. A machine that loses its power may lose it: see `writeDurably`. */
export async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(draftOf(file), text, { mode: 0o600 });
  await rename(draftOf(file), file);
}

/** On the disk when it returns, its name and those of new folders as well. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const folder = path.dirname(file);
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeSynced(draftOf(file), text, 0o600);
  await rename(draftOf(file), file);
  await syncFolder(folder);
  for (let made = folder; first !== undefined && made.length >= first.length; made = path.dirname(made))
    await syncFolder(path.dirname(made));
}

/** Under its own name at once: half of it may be there. What it holds is on the disk when it returns. */
export async function writeSynced(file: string, text: string, mode = 0o666): Promise<void> {
  const handle = await open(file, "w", mode);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Gone when it returns, also for whoever starts after a power cut. */
export async function removeDurably(file: string): Promise<void> {
  await rm(file, { force: true });
  await syncFolder(path.dirname(file)).catch(ignoreMissing);
}

const draftOf = (file: string) => `${file}.new`;

/** A new name in a folder, or one less, is on the disk once the folder is. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } catch (error) {
    if (!UNABLE.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    await handle.close();
  }
}

/** Some network file systems cannot sync a folder, and need not. */
const UNABLE = new Set(["EINVAL", "ENOTSUP", "ENOSYS", "EISDIR"]);

export function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}
