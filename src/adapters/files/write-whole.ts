/** How is a file written so that it is there whole, or not at all? Under another name first, then under its own. */
import { mkdir, open, rename, writeFile } from "node:fs/promises";
import path from "node:path";

/** Outlives this process, however it ends. A machine that loses its power may lose it: see `writeDurably`. */
export async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(draftOf(file), text, { mode: 0o600 });
  await rename(draftOf(file), file);
}

/** On the disk when it returns, its name as well. */
export async function writeDurably(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const handle = await open(draftOf(file), "w", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draftOf(file), file);
  await syncFolder(path.dirname(file));
}

const draftOf = (file: string) => `${file}.new`;

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
