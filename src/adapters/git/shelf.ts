/** What if objects are removed right after they were written? The newest are kept in memory, and can be put back. */
import { readFile, stat } from "node:fs/promises";
import { looseFile, writeLoose } from "./objects.ts";

/**
 * A `git prune` lists what is needed, and removes the rest some time later: so also what a ref has held since. Who
 * finds something missing puts back all that is here.
 */
export class Shelf {
  readonly #objects: string;
  /** The file of each, as it is; the oldest first. */
  readonly #files = new Map<string, Buffer>();
  #bytes = 0;

  /** `objects`: the folder of a repository's objects. */
  constructor(objects: string) {
    this.#objects = objects;
  }

  /** Of those that are in files of their own: what is in a pack was needed when it was packed. */
  async keep(ids: readonly string[]): Promise<void> {
    const fresh = ids.filter((id) => !this.#files.has(id));
    for (let at = 0; at < fresh.length; at += AT_ONCE) {
      const part = fresh.slice(at, at + AT_ONCE);
      const files = await Promise.all(part.map((id) => this.#read(id)));
      for (const [i, bytes] of files.entries()) if (bytes) this.#put(part[i]!, bytes);
    }
    for (const [id, { length }] of this.#files) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#files.delete(id);
      this.#bytes -= length;
    }
  }

  /** Throws if the disk does not take them. */
  async putBack(): Promise<void> {
    for (const [id, bytes] of this.#files) {
      const found = await stat(looseFile(this.#objects, id)).catch(() => undefined); // Not there, or in a pack.
      if (!found?.size) await writeLoose(this.#objects, id, bytes);
    }
  }

  #put(id: string, bytes: Buffer): void {
    if (this.#files.has(id)) return;
    this.#files.set(id, bytes);
    this.#bytes += bytes.length;
  }

  async #read(id: string): Promise<Buffer | undefined> {
    const file = looseFile(this.#objects, id);
    try {
      return (await stat(file)).size > MAX_FILE_BYTES ? undefined : await readFile(file);
    } catch {
      return undefined; // In a pack.
    }
  }
}

/** Some thousand objects: more than a run lands while one `git prune` goes on. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_FILE_BYTES = 1024 * 1024;
const AT_ONCE = 64;
