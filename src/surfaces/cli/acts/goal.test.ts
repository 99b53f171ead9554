/** Tests what is read as a goal, and what is refused as a path that does not exist. */

import assert from "node:assert/strict";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../../../test/support/folders.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { processInput } from "../input.ts";
import { readGoal } from "./goal.ts";

async function read(folder: string, given: string) {
  let said = "";
  const sink = {
    hasColours: false,
    write: (text: string) => {
      said += text;
    },
  };
  const context: Context = {
    ...{ out: sink, err: sink, json: false, env: {}, folder, command: "skein" },
    now: () => 0,
    input: processInput,
  };
  const goal = await readGoal(context, given);
  return { ...goal, said };
}

describe("a goal", () => {
  it("is no file that a link of the repository leads to outside of it, but one that is named itself", async () => {
    const [folder, home] = [newFolder(), newFolder()];
    for (const place of [".git", "docs"]) mkdirSync(path.join(folder, place));
    writeFileSync(path.join(home, "key"), "secret 4711");
    writeFileSync(path.join(folder, "docs/SPEC.md"), "Do it.");
    symlinkSync(path.join(home, "key"), path.join(folder, "SPEC.md"));
    symlinkSync(home, path.join(folder, "docs/more"));
    symlinkSync("docs/SPEC.md", path.join(folder, "TODO.md"));
    for (const given of ["SPEC.md", "docs/more/key", path.join(folder, "SPEC.md")]) {
      const { said, ...refused } = await read(folder, given);
      assert.deepEqual(refused, { exit: EXIT.usage }, given);
      assert.ok(said.includes(`out of the repository, to ${realpathSync(home)}/key\n`), said);
      assert.doesNotMatch(said, /4711/);
    }
    assert.deepEqual(await read(folder, "TODO.md"), { text: "Do it.", said: "" });
    assert.deepEqual(await read(folder, path.join(home, "key")), { text: "secret 4711", said: "" });
  });

  it("is refused where it is a path that does not exist, with what is near it", async () => {
    const folder = newFolder();
    for (const name of ["plans", "docs"]) mkdirSync(path.join(folder, name));
    for (const name of ["SPEC.md", "plans/first.json", "docs/DESIGN.md"])
      writeFileSync(path.join(folder, name), "Do it.");
    const near: Readonly<Record<string, string>> = {
      "./SPEC": "did you mean SPEC.md?",
      "spec.txt": "did you mean SPEC.md?",
      "SEPC.md": "did you mean SPEC.md?",
      "plans/fist.json": "did you mean plans/first.json?",
      "plans/first": "did you mean plans/first.json?",
      "design.md": "did you mean docs/DESIGN.md?",
      "plans/DESIGN.md": "try: name an existing file",
      "docs\\DESGN.md": "did you mean docs/DESIGN.md?",
      "..\\SPEC.txt": "try: name an existing file",
      "C:\\specs\\SEPC.md": "try: name an existing file",
      "plans/x.json": "try: name an existing file",
      "src/index.ts": "try: name an existing file",
      "SPEC.pdf": "did you mean SPEC.md?",
      "./SPEC one.md": "try: name an existing file",
      "other.md": "try: name an existing file, or say the goal in a sentence",
      "/no/such/folder/SPEC": "try: name an existing file",
    };
    for (const [given, words] of Object.entries(near)) {
      const { said, ...refused } = await read(folder, given);
      assert.deepEqual(refused, { exit: EXIT.usage }, given);
      assert.ok(said.includes(`there is no file ${given}\n`) && said.includes(words), said);
    }
  });

  it("is the text of a file that is there, and a sentence that mentions one that is not", async () => {
    const folder = newFolder();
    writeFileSync(path.join(folder, "SPEC"), "Do it.");
    assert.deepEqual(await read(folder, "./SPEC"), { text: "Do it.", said: "" });
    for (const sentence of [
      "write SPEC.md",
      "write docs/NOTES.md and plans/other.json",
      "./build fails as it says in NOTES.md",
      "./build is slow: mend it",
      "read/write",
      "rename a/b.ts to c.ts",
      "fix",
    ])
      assert.deepEqual(await read(folder, sentence), { text: sentence, said: "" });
  });
});
