/** Reads and writes trees of a real git repository as objects, without a process for each. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ObjectReader } from "../../src/adapters/git/object-reader.ts";
import { BLOB, commitText, parseTree, TREE, treeBytes, writeObject } from "../../src/adapters/git/objects.ts";
import type { Files } from "./tree.ts";

/** New texts by path; `null` deletes a file. */
export type Changes = ReadonlyMap<string, string | null>;

const BY = "Worker <worker@example.invalid> 1700000000 +0000";

export class Trees implements Disposable {
  readonly #gitDir: string;
  readonly #reader: ObjectReader;
  readonly #texts = new Map<string, string>();
  readonly #trees = new Map<string, Files>();
  readonly #treeOf = new Map<string, string>();
  /** Ids of texts that were written before: most files of a tree are also in the tree before it. */
  readonly #blobs = new Map<string, string>();

  constructor(gitDir: string) {
    this.#gitDir = gitDir;
    this.#reader = new ObjectReader(gitDir, { GIT_DIR: gitDir });
  }

  /** The id of a commit's tree. */
  async treeOf(commit: string): Promise<string> {
    const known = this.#treeOf.get(commit) ?? (await this.#read(`${commit}^{tree}`)).id;
    this.#treeOf.set(commit, known);
    return known;
  }

  async files(commit: string): Promise<Files> {
    const tree = await this.treeOf(commit);
    const known = this.#trees.get(tree) ?? (await this.#filesIn(tree, ""));
    this.#trees.set(tree, known);
    return known;
  }

  /** Writes a commit with the tree of `parent` and `changes`; no ref points at it yet. */
  async commit(parent: string | undefined, changes: Changes, message: string): Promise<string> {
    const files = new Map(parent === undefined ? [] : await this.files(parent));
    for (const [path, text] of changes) {
      if (text === null) files.delete(path);
      else files.set(path, text);
    }
    const tree = await this.#writeTree(files);
    const parents = parent === undefined ? [] : [parent];
    return this.#write("commit", commitText({ tree, parents, author: BY, committer: BY, message }));
  }

  /** Writes a loose ref for a new branch; no existing branch is moved. */
  async branch(name: string, commit: string): Promise<void> {
    const file = join(this.#gitDir, "refs/heads", name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${commit}\n`);
  }

  [Symbol.dispose](): void {
    this.#reader.close();
  }

  async #filesIn(tree: string, folder: string): Promise<Files> {
    const { content } = await this.#read(tree);
    const parts = await Promise.all(
      parseTree(content, "sha1").map(async ({ mode, name, id }): Promise<Files> => {
        if (mode === TREE) return this.#filesIn(id, `${folder}${name}/`);
        const text = this.#texts.get(id) ?? (await this.#read(id)).content.toString();
        this.#texts.set(id, text);
        return new Map([[`${folder}${name}`, text]]);
      }),
    );
    return new Map(parts.flatMap((part) => [...part]));
  }

  /** Paths are at most one folder deep here. */
  async #writeTree(files: Files): Promise<string> {
    const folders = Map.groupBy(files, ([path]) => dirname(path));
    const entries = await Promise.all(
      [...folders].map(async ([folder, inside]) => ({
        mode: TREE,
        name: folder,
        id: await this.#write("tree", treeBytes(await this.#entries(inside))),
      })),
    );
    return this.#write("tree", treeBytes(entries));
  }

  #entries(inside: readonly (readonly [string, string])[]) {
    return Promise.all(
      inside.map(async ([path, text]) => {
        const id = this.#blobs.get(text) ?? (await this.#write("blob", text));
        this.#blobs.set(text, id);
        return { mode: BLOB, name: path.slice(dirname(path).length + 1), id };
      }),
    );
  }

  #write(type: "blob" | "tree" | "commit", content: string | Uint8Array): Promise<string> {
    const folder = {
      objects: join(this.#gitDir, "objects"),
      format: "sha1",
      unsynced: new Set<string>(),
    } as const;
    return writeObject(folder, type, content);
  }

  async #read(name: string): Promise<{ readonly id: string; readonly content: Buffer }> {
    const read = await this.#reader.contents(name);
    if (read.is !== "found") throw new Error(`${name} is ${read.is} in ${this.#gitDir}`);
    return read;
  }
}
