/** Tests that git objects written without git are the same as git's own, and that commits are parsed. */
import assert from "node:assert/strict";
import { readdir, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { makeRepository } from "../../../test/support/repositories.ts";
import { BLOB, commitText, parseCommit, parseTree, TREE, treeBytes, writeObject } from "./objects.ts";

describe("objects that are written without git", () => {
  it("are the ones that git would have written", async () => {
    for (const format of ["sha1", "sha256"] as const) {
      await using at = await makeRepository({
        files: { "a.txt": "ä\n", "a/b": "b", "a-b": "c", a0: "d" },
        format,
      });
      const objects = join(at.folder, ".git/objects");
      const store = { objects, format, unsynced: new Set<string>() };
      const blob = await writeObject(store, "blob", "something new ✓\n");
      assert.equal(await at.git("cat-file", "blob", blob), "something new ✓");
      const tree = await at.git("rev-parse", "HEAD^{tree}");
      const list = (await at.git("ls-tree", "HEAD"))
        .split("\n")
        .map((line) => /^(\d+) \w+ (\w+)\t(.*)$/.exec(line)!);
      const entries = list.map(([, mode, id, name]) => ({
        mode: mode!.replace(/^0/, ""),
        name: name!,
        id: id!,
      }));
      const bytes = treeBytes(entries.toReversed());
      assert.equal(await writeObject(store, "tree", bytes), tree);
      assert.deepEqual(parseTree(bytes, format), entries);
      assert.equal(await at.git("fsck", "--strict", "--no-dangling"), "");
    }
  });

  it("leave nothing beside them, are read-only, and are made young again when written twice", async () => {
    await using at = await makeRepository();
    const objects = join(at.folder, ".git/objects");
    const store = { objects, format: "sha1", unsynced: new Set<string>() } as const;
    const id = await writeObject(store, "blob", "x");
    const file = join(objects, id.slice(0, 2), id.slice(2));
    assert.deepEqual(await readdir(join(objects, id.slice(0, 2))), [id.slice(2)]);
    assert.equal((await stat(file)).mode & 0o222, 0);
    await utimes(file, 1, 1);
    assert.equal(await writeObject(store, "blob", "x"), id);
    assert.ok((await stat(file)).mtimeMs > 1_000_000);
  });

  it("are sorted as git sorts a folder", () => {
    const id = "1".repeat(40);
    const entries = [
      { mode: BLOB, name: "a.b", id },
      { mode: TREE, name: "a", id },
      { mode: BLOB, name: "a0", id },
    ];
    assert.deepEqual(parseTree(treeBytes(entries.toReversed()), "sha1"), entries);
  });
});

describe("a commit", () => {
  it("is read and written back the same, with every parent", () => {
    const commit = {
      tree: "1".repeat(40),
      parents: ["2".repeat(40), "3".repeat(40)],
      author: "Zoë <z@example.invalid> 1700000000 +0100",
      committer: "Skein <skein@localhost> 1700000001 +0000",
      message: "Süßes\n\nparent of all\n",
    };
    assert.deepEqual(parseCommit(Buffer.from(commitText(commit))), commit);
  });

  it("is read with a signature, and in the encoding that it names", () => {
    const text = Buffer.concat([
      Buffer.from(`tree ${"1".repeat(40)}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n`),
      Buffer.from("gpgsig -----BEGIN-----\n author of nothing\n -----END-----\nencoding ISO-8859-1\n\n"),
      Buffer.from([0x73, 0xfc, 0xdf, 0x0a]),
    ]);
    const { message, author, parents } = parseCommit(text);
    assert.deepEqual([message, author, parents], ["süß\n", "A <a> 1 +0000", []]);
  });
});
