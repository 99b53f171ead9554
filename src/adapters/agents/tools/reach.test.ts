/** Tests what tools can reach beside the workspace: one file to write, its neighbours to read, no links. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { it } from "node:test";
import { newFolder } from "../../../../test/support/folders.ts";
import { LIMITS, plainPlace, sandboxFor, use, whyNoSandbox } from "../../../../test/support/tool-places.ts";
import { runCommand } from "./bash.ts";
import { editText, listFolder, readText, writeText } from "./files.ts";
import { padOf, rootOf } from "./reach.ts";
import { workerTools } from "./tools.ts";

/** Makes a scratchpad: `mine.md` is the output file, `theirs.md` is another's; `secret` is outside of both folders. */
function places() {
  const outer = fs.realpathSync(newFolder());
  const at = (name: string) => path.join(outer, name);
  for (const folder of ["tree", "pad"]) fs.mkdirSync(at(folder));
  fs.writeFileSync(at("secret"), "a secret\n");
  fs.writeFileSync(at("pad/mine.md"), "", { mode: 0o600 });
  fs.writeFileSync(at("pad/theirs.md"), "what they found\n");
  fs.symlinkSync(at("secret"), at("pad/out.md"));
  fs.symlinkSync("/", at("pad/root"));
  const scratchpad = { folder: at("pad"), file: at("pad/mine.md") };
  const place = { root: rootOf(at("tree")), ...padOf(scratchpad), limits: LIMITS };
  return { outer, at, scratchpad, place };
}

const text = (file: string) => fs.readFileSync(file, "utf8");

it("writes and edits the output file, and keeps it to its owner", async () => {
  const { at, place } = places();
  const file = at("pad/mine.md");
  assert.equal(await writeText(place, { path: file, content: "one\n" }), "wrote mine.md: 4 bytes");
  assert.match(await editText(place, { path: file, old_text: "one", new_text: "two" }), /^changed mine\.md/);
  assert.deepEqual([text(file), fs.statSync(file).mode & 0o777], ["two\n", 0o600]);
  assert.equal(await readText(place, { path: file }), "two");
});

it("reads what others wrote there, lists it, and changes none of it", async () => {
  const { at, place } = places();
  assert.equal(await readText(place, { path: at("pad/theirs.md") }), "what they found");
  assert.equal(await listFolder(place, { path: at("pad") }), "mine.md\nout.md@\nroot@\ntheirs.md");
  for (const name of ["pad/theirs.md", "pad/new.md", "pad", "pad/mine.md/x", "pad/mine.md.1"]) {
    assert.match(await writeText(place, { path: at(name), content: "x" }), /^error: .*is not yours/);
  }
  const edit = { path: at("pad/theirs.md"), old_text: "they", new_text: "I" };
  assert.match(await editText(place, edit), /is not yours/);
  assert.deepEqual(fs.readdirSync(at("pad")).length, 4);
});

it("follows no link out of the scratchpad, also not in the place of the output file", async () => {
  const { at, place, outer } = places();
  fs.rmSync(at("pad/mine.md"));
  fs.symlinkSync(at("secret"), at("pad/mine.md"));
  const asked = ["pad/out.md", "pad/mine.md", "pad/root/etc/passwd", "pad/../secret", "secret"].map(at);
  for (const one of [...asked, `${outer}/pad/x/../../secret`, `${outer}/padded`, "../pad/theirs.md"]) {
    assert.match(await readText(place, { path: one }), /^error: /, one);
    assert.match(await writeText(place, { path: one, content: "x" }), /^error: /, one);
  }
  assert.equal(text(at("secret")), "a secret\n");
});

it("does without: nothing is in reach beside the workspace", async () => {
  const { at, place } = places();
  const { pad: _none, ...bare } = place;
  assert.match(await readText(bare, { path: at("pad/theirs.md") }), /outside of the workspace/);
  const readers = { ...bare, ...padOf({ folder: at("pad") }) };
  assert.equal(await readText(readers, { path: at("pad/theirs.md") }), "what they found");
  assert.match(await writeText(readers, { path: at("pad/mine.md"), content: "x" }), /is not yours/);
});

it("a role that only reads can write its output file, and nothing else", async () => {
  const { at, scratchpad } = places();
  const place = { ...plainPlace(), folder: at("tree"), scratchpad };
  const tools = workerTools(place, ["read", "git"]);
  assert.deepEqual(Object.keys(tools).sort(), ["git", "read", "write"]);
  const file = scratchpad.file;
  assert.match(await use(tools, "write", { path: file, content: "found" }), /^wrote/);
  assert.match(await use(tools, "write", { path: "a.txt", content: "x" }), /changes only its output file/);
  assert.deepEqual(fs.readdirSync(at("tree")), []);
  assert.deepEqual(Object.keys(workerTools({ ...place, scratchpad: undefined }, ["read"])), ["read"]);
});

if ((await whyNoSandbox()) === false) {
  it("commands in a sandbox write the output file, read its neighbours, and change none of them", async () => {
    const { at, scratchpad, outer } = places();
    const sandbox = await sandboxFor({ state: outer, repository: newFolder() });
    const place = { ...plainPlace(), folder: at("tree"), scratchpad, sandbox };
    const bash = (command: string) => runCommand(place, { command }, place.signal);
    assert.equal(await bash("cat ../pad/theirs.md && echo mine > ../pad/mine.md"), "what they found\n");
    assert.equal(text(at("pad/mine.md")), "mine\n");
    for (const command of ["echo x > ../pad/theirs.md", "touch ../pad/new", "rm -f ../pad/mine.md"]) {
      assert.match(await bash(command), /\[exit code/, command);
    }
    fs.rmSync(scratchpad.file);
    fs.symlinkSync(at("secret"), scratchpad.file);
    // The link leads to a file in memory, because the folder around its target is hidden. Commands go on.
    assert.equal(await bash("echo x > ../pad/mine.md; echo still here"), "still here\n");
    assert.equal(text(at("secret")), "a secret\n");
  });
}
