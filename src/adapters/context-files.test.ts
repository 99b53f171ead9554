/** Tests which files and changes of a folder are found, read and matched as context, with and without git. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { newFolder } from "../../test/support/folders.ts";
import { makeRepository } from "../../test/support/repositories.ts";
import { hasFailed } from "../core/result.ts";
import type { FileSource } from "../ports/subtasks.ts";
import { AssociativeFiles } from "../subtasks/associative-files.ts";
import { folderSource } from "./context-files.ts";

const { signal } = new AbortController();

const pathsIn = async (source: FileSource) => {
  const listed = await source.list(signal);
  return hasFailed(listed) ? assert.fail(listed.failure.message) : listed.map(({ path }) => path).sort();
};

test("lists what git tracks and what is new, not what is ignored or gone, nor links", async () => {
  await using repository = await makeRepository({
    files: { "a.ts": "1", "gone.ts": "2", ".gitignore": "*.log\n" },
  });
  await repository.write({ "new ü.ts": "3", "x.log": "4", "gone.ts": null, link: { link: "a.ts" } });
  assert.deepEqual(await pathsIn(folderSource(repository.folder)), [".gitignore", "a.ts", "new ü.ts"]);
});

test("a folder without git is walked, without what is hidden and what others wrote", async () => {
  const folder = newFolder();
  for (const name of ["src/a.ts", "b.md", ".hidden/c", "node_modules/d/e.js"]) {
    mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(folder, name), "text");
  }
  const source = folderSource(folder);
  assert.deepEqual(await pathsIn(source), ["b.md", "src/a.ts"]);
  assert.deepEqual(await source.changes(signal), []);
});

test("reads text inside the folder, and nothing else", async () => {
  await using repository = await makeRepository({
    files: { "a.ts": "one", "b.bin": new Uint8Array([1, 0, 2]), out: { link: "/etc/passwd" } },
  });
  const { read } = folderSource(repository.folder);
  assert.deepEqual(await read("a.ts", signal), { text: "one" });
  for (const [name, why] of [
    ["gone.ts", /no such file/],
    ["../../etc/passwd", /outside of the workspace/],
    ["/etc/passwd", /outside of the workspace/],
    ["out", /link out of the workspace/],
    [".git/config", /git's own/],
    ["b.bin", /not text/],
    [".", /not a file/],
    ["a\0b", /zero byte/],
  ] as const) {
    const found = await read(name, signal);
    assert.ok(hasFailed(found), name);
    assert.match(found.failure.message, why);
  }
});

test("changes are newest first, with what they are called", async () => {
  await using repository = await makeRepository({ files: { "a.ts": "1" } });
  await repository.commit({ "a.ts": "2", "sub/b c.ts": "3" }, "Mend the login\n\nmore");
  assert.deepEqual(await folderSource(repository.folder).changes(signal), [
    { subject: "Mend the login", paths: ["a.ts", "sub/b c.ts"] },
    { subject: "first", paths: ["a.ts"] },
  ]);
  assert.deepEqual((await folderSource(path.join(repository.folder, "sub")).changes(signal))[0]?.paths, [
    "b c.ts",
  ]);
});

test("files are matched by name, content, import and history, and again after a change", async () => {
  await using repository = await makeRepository({
    files: {
      "src/login.ts": 'import { hash } from "./passwords.ts";\nexport const login = hash;\n',
      "src/passwords.ts": "export const hash = 1;\n",
      "src/screen.ts": "// shows the login\n",
      "src/tree.ts": "export const leaf = 1;\n",
    },
  });
  await repository.commit({ "src/tree.ts": "export const leaf = 2;\n" }, "Login: grow a tree");
  const source = folderSource(repository.folder);
  const reads: string[] = [];
  const files = new AssociativeFiles({
    ...source,
    read: (name, at) => {
      reads.push(name);
      return source.read(name, at);
    },
  });
  const match = async (query: string) => {
    const matched = await files.match(query, 3, signal);
    return hasFailed(matched) ? assert.fail(matched.failure.message) : matched;
  };
  assert.equal((await match("Mend the login"))[0], "src/login.ts");
  assert.deepEqual((await match("Mend the login")).toSorted(), [
    "src/login.ts",
    "src/screen.ts",
    "src/tree.ts",
  ]);
  assert.deepEqual((await match("hashing")).toSorted(), ["src/login.ts", "src/passwords.ts"]);
  assert.deepEqual(await match("zebra"), []);
  const before = reads.length;
  await repository.write({ "src/tree.ts": "export const zebra = 123;\n" });
  assert.deepEqual(await match("zebra"), ["src/tree.ts"]);
  assert.deepEqual(reads.slice(before), ["src/tree.ts"]); // Only the changed file was read again.
});
