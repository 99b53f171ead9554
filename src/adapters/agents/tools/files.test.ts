/** Tests which files a model can read, list and change, and that no path or link leads it outside of the workspace. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { it } from "node:test";
import { newFolder } from "../../../../test/support/folders.ts";
import { LIMITS } from "../../../../test/support/tool-places.ts";
import { editText, listFolder, readText, writeText } from "./files.ts";
import { readInside, writeInside } from "./open-inside.ts";
import { inside, isRefused, rootOf } from "./reach.ts";

/** Makes a tree with `secret.txt` and the folder `other` outside of it. */
function places() {
  const outer = fs.realpathSync(newFolder());
  const folder = path.join(outer, "tree");
  fs.mkdirSync(path.join(outer, "other"));
  fs.writeFileSync(path.join(outer, "secret.txt"), "a secret\n");
  fs.writeFileSync(path.join(outer, "other", "file.txt"), "a secret\n");
  fs.mkdirSync(folder);
  const at = (name: string) => path.join(folder, name);
  return { outer, folder, at, place: { root: rootOf(folder), limits: LIMITS } };
}

const text = (file: string) => fs.readFileSync(file, "utf8");

it("reads a file in parts, and says where to go on", async () => {
  const { at, place } = places();
  fs.writeFileSync(at("a"), Array.from({ length: 5 }, (_, index) => `line ${index + 1}\n`).join(""));
  assert.equal(await readText(place, { path: "a", offset: 4 }), "line 4\nline 5");
  assert.equal(
    await readText(place, { path: "a", offset: 2, limit: 2 }),
    "line 2\nline 3\n[lines 2 to 3 of 5; go on with offset 4]",
  );
  assert.equal(await readText(place, { path: "a", offset: 6 }), "error: a has only 5 lines");
});

it("reads no more than the limit, and at least a line", async () => {
  const { at, place } = places();
  fs.writeFileSync(at("a"), `${"x".repeat(900)}\n`.repeat(100));
  const heard = await readText({ ...place, limits: { ...LIMITS, maxOutputBytes: 2_000 } }, { path: "a" });
  assert.match(heard, /\[lines 1 to 2 of 100; go on with offset 3\]$/);
  fs.writeFileSync(at("b"), "y".repeat(5_000));
  const long = await readText({ ...place, limits: { ...LIMITS, maxOutputBytes: 10 } }, { path: "b" });
  assert.equal(long, `${"y".repeat(2_000)} … 3000 characters left out`);
});

it("refuses what is no text, too large, a folder, or not there", async () => {
  const { at, place } = places();
  fs.writeFileSync(at("binary"), Buffer.from([1, 0, 2]));
  fs.writeFileSync(at("large"), "x".repeat(11));
  const small = { ...place, limits: { ...LIMITS, maxFileBytes: 10 } };
  assert.match(await readText(place, { path: "binary" }), /^error: binary is not UTF-8 text/);
  assert.match(await readText(small, { path: "large" }), /^error: large has 11 bytes, more than 10/);
  assert.match(await writeText(small, { path: "new", content: "x".repeat(11) }), /^error: .*more than 10/);
  assert.equal(await readText(place, { path: "." }), "error: . is a folder: use ls");
  assert.equal(await readText(place, { path: "no/thing" }), 'error: "no/thing" is not there');
});

it("writes a new file with its folders, and keeps the mode of an old one", async () => {
  const { at, place } = places();
  assert.equal(await writeText(place, { path: "d/e/new.sh", content: "x" }), "wrote d/e/new.sh: 1 bytes");
  fs.chmodSync(at("d/e/new.sh"), 0o755);
  await writeText(place, { path: "d/e/new.sh", content: "yy" });
  assert.deepEqual([text(at("d/e/new.sh")), fs.statSync(at("d/e/new.sh")).mode & 0o777], ["yy", 0o755]);
  assert.deepEqual(fs.readdirSync(at("d/e")), ["new.sh"]);
});

it("edits one place, or says how many there are", async () => {
  const { at, place } = places();
  fs.writeFileSync(at("a"), "one two one\n");
  const edit = (old_text: string, new_text: string, replace_all?: boolean) =>
    editText(place, { path: "a", old_text, new_text, replace_all });
  assert.match(await edit("one", "1"), /^error: old_text is in a 2 times/);
  assert.match(await edit("three", "3"), /^error: old_text is not in a/);
  assert.match(await edit("", "3"), /^error: old_text is empty/);
  assert.equal(await edit("two", "$& $1"), "changed a in 1 place");
  assert.equal(await edit("one", "1", true), "changed a in 2 places");
  assert.equal(text(at("a")), "1 $& $1 1\n");
});

it("refuses an edit that would make a file too large, before it is made", async () => {
  const { at, place } = places();
  fs.writeFileSync(at("a"), "a".repeat(20_000));
  const edit = { path: "a", old_text: "a", new_text: "é".repeat(50_000), replace_all: true };
  assert.match(await editText(place, edit), /^error: a has 2000000000 bytes, more than \d+/);
  assert.equal(text(at("a")).length, 20_000);
});

it("edits a file with the line ends that it has", async () => {
  const { at, place } = places();
  fs.writeFileSync(at("a"), "one\r\ntwo\r\n");
  await editText(place, { path: "a", old_text: "one\ntwo", new_text: "1\n2" });
  assert.equal(text(at("a")), "1\r\n2\r\n");
});

it("knows the workspace by its absolute path, also through a link, and nothing else", async () => {
  const { outer, at, folder, place } = places();
  fs.writeFileSync(at("a"), "one");
  fs.symlinkSync(folder, path.join(outer, "also"));
  assert.equal(await readText(place, { path: at("a") }), "one");
  const through = { ...place, root: rootOf(path.join(outer, "also")) };
  assert.equal(await readText(through, { path: path.join(outer, "also", "a") }), "one");
  for (const asked of ["/etc/passwd", "..", "../secret.txt", "a/../../secret.txt", `${folder}-not`, outer]) {
    assert.equal(await readText(place, { path: asked }), `error: "${asked}" is outside of the workspace`);
    assert.match(await writeText(place, { path: asked, content: "" }), /^error: .* is outside/);
    assert.match(await listFolder(place, { path: asked }), /^error: .* is outside/);
  }
});

it("follows links inside, and none that leads out, in the same words whether something is there", async () => {
  const { outer, at, place } = places();
  fs.writeFileSync(at("a"), "one");
  fs.symlinkSync("a", at("in"));
  fs.symlinkSync("../secret.txt", at("out"));
  fs.symlinkSync("../nothing.txt", at("dangling"));
  fs.symlinkSync(path.join(outer, "other"), at("folder"));
  fs.symlinkSync("loop", at("loop"));
  assert.equal(await readText(place, { path: "in" }), "one");
  await writeText(place, { path: "in", content: "two" });
  assert.deepEqual([text(at("a")), fs.readlinkSync(at("in"))], ["two", "a"]);
  for (const asked of ["out", "dangling", "folder/file.txt", "folder/new.txt", "loop"]) {
    const why = `error: "${asked}" is a link out of the workspace, or to nothing`;
    assert.equal(await readText(place, { path: asked }), why);
    assert.equal(await writeText(place, { path: asked, content: "mine" }), why);
    assert.equal(await editText(place, { path: asked, old_text: "a", new_text: "b" }), why);
  }
  assert.equal(
    await listFolder(place, { path: "folder" }),
    'error: "folder" is a link out of the workspace, or to nothing',
  );
  assert.equal(text(path.join(outer, "secret.txt")), "a secret\n");
  assert.deepEqual(fs.readdirSync(path.join(outer, "other")), ["file.txt"]);
  assert.equal(fs.existsSync(path.join(outer, "nothing.txt")), false);
});

it("is not led out by a folder that is swapped for a link between the look and the use", async () => {
  if (process.platform !== "linux") return; // Only Linux can be asked for the real path of an open folder.
  const { outer, at, place } = places();
  fs.mkdirSync(at("d/other"), { recursive: true });
  fs.writeFileSync(at("d/other/file.txt"), "mine");
  const found = await inside(place.root, "d/other/file.txt");
  assert.ok(!isRefused(found));
  fs.renameSync(at("d"), at("e"));
  fs.symlinkSync(outer, at("d"));
  await assert.rejects(readInside(place.root, found, 100), { code: "ELOOP" });
  await assert.rejects(writeInside(place.root, found, "mine"), /ELOOP|ENOTDIR/);
  assert.deepEqual(fs.readdirSync(path.join(outer, "other")), ["file.txt"]);
  assert.equal(text(path.join(outer, "other", "file.txt")), "a secret\n");
});

it("is not led out by a file that is swapped for a link between the look and the use", async () => {
  const { outer, at, place } = places();
  fs.writeFileSync(at("a"), "mine");
  const found = await inside(place.root, "a");
  assert.ok(!isRefused(found));
  fs.rmSync(at("a"));
  fs.symlinkSync("../secret.txt", at("a"));
  assert.deepEqual(await readInside(place.root, found, 100), { is: "special" });
  await writeInside(place.root, found, "mine");
  assert.deepEqual([text(at("a")), text(path.join(outer, "secret.txt"))], ["mine", "a secret\n"]);
});

it("writes nothing through a hard link to a file outside", async () => {
  const { outer, at, place } = places();
  fs.linkSync(path.join(outer, "secret.txt"), at("hard"));
  await editText(place, { path: "hard", old_text: "secret", new_text: "lie" });
  assert.deepEqual([text(at("hard")), text(path.join(outer, "secret.txt"))], ["a lie\n", "a secret\n"]);
});

it("does not wait for a pipe, and opens no device", async () => {
  const { at, place } = places();
  execFileSync("mkfifo", [at("pipe")]);
  assert.match(await readText(place, { path: "pipe" }), /^error: pipe is a pipe, a socket or a device/);
  assert.match(await writeText(place, { path: "pipe", content: "" }), /^error: pipe is a pipe/);
});

it("writes nothing that is git's, in the workspace or in a repository inside of it", async () => {
  const { at, place } = places();
  fs.mkdirSync(at(".git/hooks"), { recursive: true });
  fs.writeFileSync(at(".git/config"), "[core]\n");
  fs.symlinkSync(".git", at("dot"));
  assert.equal(await readText(place, { path: ".git/config" }), "[core]");
  const asked = [
    ".git/config",
    ".git/hooks/pre-commit",
    "dot/config",
    ".GIT/config",
    "sub/.git/config",
    ".git",
  ];
  for (const one of asked) {
    assert.match(await writeText(place, { path: one, content: "x" }), /^error: .* belongs to git/);
    assert.match(await editText(place, { path: one, old_text: "c", new_text: "d" }), /belongs to git/);
  }
  assert.equal(await writeText(place, { path: ".gitignore", content: "x" }), "wrote .gitignore: 1 bytes");
});

it("does not follow its own folder to where a link in its place leads", async () => {
  const { outer, folder, place } = places();
  fs.renameSync(folder, path.join(outer, "moved"));
  fs.symlinkSync(path.join(outer, "other"), folder);
  assert.match(await readText(place, { path: "file.txt" }), /^error: the workspace is not where it was/);
  assert.match(await writeText(place, { path: "new.txt", content: "" }), /^error: the workspace is not/);
});

it("lists a folder with marks for folders and links, and says what it left out", async () => {
  const { at, place } = places();
  assert.equal(await listFolder(place, {}), "(the folder is empty)");
  fs.mkdirSync(at("d"));
  fs.writeFileSync(at("a"), "");
  fs.symlinkSync("a", at("l"));
  assert.equal(await listFolder(place, {}), "a\nd/\nl@");
  for (let index = 0; index < 1_010; index += 1) fs.writeFileSync(at(`d/${index}`), "");
  assert.match(await listFolder(place, { path: "d" }), /\n\[10 more are left out\]$/);
  assert.equal(await listFolder(place, { path: "a" }), 'error: "a" is below something that is not a folder');
});
