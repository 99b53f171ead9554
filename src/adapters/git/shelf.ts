/** Keeps the newest git objects under a second name, to put them back if a `git prune` removes them. */
import { copyFile, link, mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { looseFile } from "./objects.ts";

/**
 * A backup against `git prune`, which lists the objects that are needed and removes the rest later, including
 * those that a ref has held since. A caller that finds an object missing puts back all that is here; so does the
 * next engine after a kill.
 */
export class Shelf {
  readonly #objects: string;
  readonly #folder: string | undefined;
  #names: Set<string> | undefined;

  /** `objects`: the repository's folder of objects. `folder`: for the second names; without it nothing is kept. */
  constructor(objects: string, folder?: string) {
    this.#objects = objects;
    this.#folder = folder;
  }

  /** Keeps loose objects only: an object in a pack was needed when it was packed. */
  async keep(ids: readonly string[]): Promise<void> {
    const folder = this.#folder;
    if (folder === undefined) return;
    const names = await this.#list(folder);
    const fresh = [...new Set(ids)].filter((id) => !names.has(id)).slice(-MAX_FILES);
    await inParts(fresh, async (id) => {
      if (await isCopied(looseFile(this.#objects, id), join(folder, id))) names.add(id);
    });
    const old = [...names].slice(0, Math.max(0, names.size - MAX_FILES));
    await inParts(old, async (id) => {
      names.delete(id);
      await rm(join(folder, id), { force: true });
    });
  }

  /** Throws if the disk fails. */
  async putBack(): Promise<void> {
    const folder = this.#folder;
    if (folder === undefined) return;
    await inParts([...(await this.#list(folder))], async (id) => {
      const file = looseFile(this.#objects, id);
      const found = await stat(file).catch(() => undefined); // The object is missing, or in a pack.
      if (found?.size) return;
      if (found) await rm(file, { force: true }); // A power cut left it empty.
      for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
        // A `git prune` removes empty folders, even one that was made just now.
        await mkdir(join(this.#objects, id.slice(0, 2)), { recursive: true }).catch(() => {});
        if (await isCopied(join(folder, id), file)) return;
      }
    });
  }

  /** Removes the backup when none of its objects is needed any more. */
  async clear(): Promise<void> {
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
    this.#names = undefined;
  }

  async #list(folder: string): Promise<Set<string>> {
    if (this.#names === undefined) {
      await mkdir(folder, { recursive: true });
      this.#names = new Set(await readdir(folder));
    }
    return this.#names;
  }
}

/** False if the object is missing. A link costs no space; on another disk it is a copy. */
async function isCopied(from: string, to: string): Promise<boolean> {
  const size = (await stat(from).catch(() => undefined))?.size ?? 0;
  if (size === 0 || size > MAX_FILE_BYTES) return false;
  return link(from, to)
    .catch((error: NodeJS.ErrnoException) => (error.code === "EEXIST" ? undefined : copyFile(from, to)))
    .then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return false; // Packed or pruned meanwhile.
        throw error;
      },
    );
}

async function inParts(ids: readonly string[], use: (id: string) => Promise<void>): Promise<void> {
  for (let at = 0; at < ids.length; at += AT_ONCE) await Promise.all(ids.slice(at, at + AT_ONCE).map(use));
}

/** More objects than a run writes during one `git prune`. */
const MAX_FILES = 5_000;
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_TRIES = 10;
const AT_ONCE = 64;
