/** How are files matched offline? An index of them, brought up to date before each match, and the rules over it. */
import { messageOf } from "../core/failure.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { ContextFiles, FileSource } from "../ports/subtasks.ts";
import { type IndexedFile, indexFile } from "./file-index.ts";
import { matchFiles } from "./match-files.ts";

export class AssociativeFiles implements ContextFiles {
  readonly #source: FileSource;
  readonly #known = new Map<string, { readonly version: string; readonly file: IndexedFile }>();
  #updating: Promise<Failed | undefined> | undefined;

  constructor(source: FileSource) {
    this.#source = source;
  }

  read(path: string, signal: AbortSignal): ReturnType<ContextFiles["read"]> {
    return this.#source.read(path, signal);
  }

  async match(query: string, limit: number, signal: AbortSignal): Promise<readonly string[] | Failed> {
    // Siblings that start together share one look.
    this.#updating ??= this.#update(signal).finally(() => {
      this.#updating = undefined;
    });
    const failed = await this.#updating;
    if (failed) return failed;
    const changes = await this.#source.changes(signal);
    const files = Array.from(this.#known.values(), ({ file }) => file);
    return matchFiles(query, files, changes).slice(0, limit);
  }

  /** Only what is new or changed is read again. One that cannot be read can still be found by its name. */
  async #update(signal: AbortSignal): Promise<Failed | undefined> {
    const listed = await this.#source.list(signal);
    if (hasFailed(listed)) return listed;
    const there = new Set(listed.map(({ path }) => path));
    for (const path of this.#known.keys()) if (!there.has(path)) this.#known.delete(path);
    for (const { path, version } of listed) {
      if (this.#known.get(path)?.version === version) continue;
      if (signal.aborted) return { failure: { kind: "interrupted", message: messageOf(signal.reason) } };
      const read = await this.#source.read(path, signal);
      this.#known.set(path, { version, file: indexFile(path, hasFailed(read) ? "" : read.text) });
    }
    return undefined;
  }
}
