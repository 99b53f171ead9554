/** Tests the evidence of a branch: files, diff, lost and switched-off tests, marks, and changes too large to judge. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failed, got, makeWorld, quiet } from "../../../test/contracts/repository.ts";
import { cpuMs } from "../../../test/support/cpu.ts";
import type { Files } from "../../../test/support/repositories.ts";
import { startedGits } from "../git/git.ts";
import type { ObjectReader } from "../git/object-reader.ts";
import { evidence as evidenceIn } from "./evidence.ts";
import { GitRepository } from "./git.ts";
import { closeStore, openStore } from "./store.ts";

const open = (folder: string) => new GitRepository({ folder });

async function shown(before: Files, changes: Files) {
  await using world = await makeWorld(open, before);
  const commit = await world.at.branch("work", changes);
  return got(await world.repository.evidence(world.base, commit, quiet));
}

const manyTests = (verb: string, count: number) =>
  Array.from({ length: count }, (_, i) => `it("${verb} ${i}", () => {\n  assert(${verb}(${i}));\n});\n`).join(
    "",
  );

const LINES = Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join("");

describe("evidence", () => {
  it("names both paths of a rename, a deleted file, and names with strange signs", async () => {
    const odd = 'ü "q"\t-x.txt';
    const { filesChanged, filesCreated, filesModified, diff } = await shown(
      { "old.txt": LINES, "gone.txt": "something else\n" },
      { "old.txt": null, "new.txt": `${LINES}more\n`, "gone.txt": null, [odd]: "x\n" },
    );
    assert.deepEqual(filesChanged, ["gone.txt", "new.txt", "old.txt", odd].toSorted());
    assert.deepEqual([filesCreated, filesModified], [1, 1]);
    assert.match(diff, /rename from old\.txt/);
  });

  it("is read by one process beside the reader of objects", async () => {
    await using world = await makeWorld(open, { "a.txt": LINES });
    const commits = [
      await world.at.branch("one", { "b.txt": "b\n" }),
      await world.at.branch("two", { "c.txt": "c\n" }),
    ];
    got(await world.repository.evidence(world.base, commits[0]!, quiet));
    const before = startedGits();
    got(await world.repository.evidence(world.base, commits[1]!, quiet));
    assert.equal(startedGits() - before, 1);
  });

  it("is not misled by a name that looks like a line of git's", async () => {
    const [odd, raw] = ["7\t7\tx", `:100644 100644 ${"1".repeat(40)} ${"2".repeat(40)} M`];
    const { linesAdded, filesChanged } = await shown(
      { a: LINES, b: `other ${LINES}` },
      { a: null, [odd]: `${LINES}more\n`, b: null, [raw]: `other ${LINES}` },
    );
    assert.equal(linesAdded, 1);
    assert.deepEqual(filesChanged, [odd, raw, "a", "b"]);
  });

  it("counts no lines of a binary file, and names a change of mode", async () => {
    const bytes = new Uint8Array([0, 1, 2, 0]);
    const evidence = await shown(
      { "run.sh": "echo\n" },
      { "a.png": bytes, "run.sh": { text: "echo\n", executable: true } },
    );
    assert.deepEqual(evidence.filesChanged, ["a.png", "run.sh"]);
    assert.deepEqual([evidence.linesAdded, evidence.linesRemoved], [0, 0]);
  });

  it("is none of a change that is too large to be read to its end: a mark could be behind it", async () => {
    await using world = await makeWorld(open);
    const much = "0123456789abcdef\n".repeat(2 * 1024 * 1024); // 34 MB
    const commit = await world.at.branch("work", { "data.txt": much, "z.ts": "// @ts-expect-error\n" });
    const answer = await world.repository.evidence(world.base, commit, quiet);
    assert.match(failed(answer), /too large to be judged: its patch has more than 32 MB/);
  });

  it("is none of a change that puts others in the place of thousands of tests, and is so at once", async () => {
    await using world = await makeWorld(open, { "test/a.test.js": manyTests("adds", 3_000) });
    const commit = await world.at.branch("work", { "test/a.test.js": manyTests("lends", 3_000) });
    const start = cpuMs();
    const answer = await world.repository.evidence(world.base, commit, quiet);
    assert.match(failed(answer), /too large to be judged: it puts others in the place of too many tests/);
    assert.ok(cpuMs() - start < 5_000, `${cpuMs() - start} ms`);
  });

  it("is none where a test file cannot be read now: its tests may be gone", async () => {
    await using world = await makeWorld(open, { "test/a.test.js": manyTests("adds", 2) });
    const commit = await world.at.branch("work", { "test/a.test.js": manyTests("adds", 1) });
    const store = got(await openStore(world.at.folder));
    try {
      const contents = async (name: string) => {
        const read = await store.reader.contents(name);
        return read.is === "found" && read.type === "blob"
          ? { is: "failed", why: "git cat-file: killed" }
          : read;
      };
      const reader = { info: (name: string) => store.reader.info(name), contents };
      const answer = await evidenceIn(
        { ...store, reader: reader as unknown as ObjectReader },
        world.base,
        commit,
        quiet,
      );
      assert.match(failed(answer), /git cat-file: killed/);
    } finally {
      closeStore(store);
    }
  });

  it("cuts a diff of many megabytes, says so, and still finds what is behind the cut", async () => {
    const long = `${"x".repeat(99)}\n`.repeat(15_000);
    const evidence = await shown(
      { "a.txt": "a\n" },
      { "a-long.txt": long, "src/z.ts": "// TODO: the rest\n" },
    );
    assert.ok(evidence.diff.length < 1.1 * 1024 * 1024);
    assert.match(evidence.diff, /\[the diff is cut here: \d+ characters are left out\]\n$/);
    assert.equal(evidence.linesAdded, 15_001);
    assert.deepEqual(evidence.forbiddenMarks, ["src/z.ts:1 TODO"]);
  });

  it("does not run what the repository's settings would show a diff with", async () => {
    await using world = await makeWorld(open, { "a.txt": "1\n", ".gitattributes": "*.txt diff=mine\n" });
    await world.at.git("config", "diff.mine.textconv", "echo replaced");
    await world.at.git("config", "diff.external", "echo replaced");
    const commit = await world.at.branch("work", { "a.txt": "2\n" });
    const { diff } = got(await world.repository.evidence(world.base, commit, quiet));
    assert.doesNotMatch(diff, /replaced/);
    assert.match(diff, /^\+2$/m);
  });

  it("fails for a commit that is not there", async () => {
    await using world = await makeWorld(open);
    assert.match(failed(await world.repository.evidence(world.base, "1".repeat(40), quiet)), /is not there/);
  });

  it("names tests that were deleted, or renamed to what is no test, but not those that moved", async () => {
    const body = (name: string) =>
      `import { it } from "node:test";\nit("${name}", () => {});\n${LINES}// ${name}\n`;
    const { deletedTests } = await shown(
      { "a.test.ts": body("a"), "b.test.ts": body("b b"), "c.test.ts": body("c c c"), "d.ts": "x\n" },
      {
        "a.test.ts": null,
        "b.test.ts": null,
        "b.txt": body("b b"),
        "c.test.ts": null,
        "test/c.test.ts": body("c c c"),
        "d.ts": null,
      },
    );
    assert.deepEqual(deletedTests, ['a.test.ts (its only case: "a")', 'b.test.ts (its only case: "b b")']);
  });

  it("names the cases that a test file has lost, one by one or together", async () => {
    const cases = (n: number) => Array.from({ length: n }, (_, i) => `it("does ${i}", () => {});\n`).join("");
    const { deletedTests } = await shown(
      { "a.test.ts": `${LINES}${cases(3)}`, "b.test.ts": `${LINES}${cases(3)}` },
      { "a.test.ts": `${LINES}// nothing here\n`, "b.test.ts": `${LINES}${cases(1)}` },
    );
    assert.deepEqual(deletedTests, [
      'a.test.ts (all of its 3 cases: "does 0", "does 1", "does 2")',
      'b.test.ts "does 1"',
      'b.test.ts "does 2"',
    ]);
  });

  it("names tests that were switched off, with their lines, and not those that were off before", async () => {
    const { disabledTests } = await shown(
      { "a.test.ts": 'it.skip("old", () => {});\nit("b", () => {});\n', "src/a.ts": "x\n" },
      {
        "a.test.ts": 'describe("all", () => {\n  it.skip("old", () => {});\n  it.skip("b", () => {});\n});\n',
        "src/a.ts": "list.skip(3);\nit.skip(4);\n",
        "tests/test_a.py": "import pytest\n\n@pytest.mark.skip\ndef test_a(): pass\n",
      },
    );
    assert.deepEqual(disabledTests, [
      'a.test.ts:3 it.skip of "b"',
      'tests/test_a.py:3 pytest.mark.skip of "test_a"',
    ]);
  });

  it("names marks in added lines, and not those that were there, moved or deleted", async () => {
    const { forbiddenMarks } = await shown(
      {
        "src/a.ts": "// TODO: old\nconst a = 1;\n",
        "src/b.ts": "// FIXME: old\n",
        "src/d.ts": LINES + LINES,
      },
      {
        "src/a.ts": "const b = 2;\n  // TODO: old\nconst a = x as any;\n",
        "src/b.ts": null,
        "src/c.ts": "// @ts-expect-error\nf();\n",
        "src/d.ts": `${LINES}++ x as any;\n${LINES}`,
      },
    );
    assert.deepEqual(forbiddenMarks, [
      "src/a.ts:3 as any",
      "src/c.ts:1 @ts-expect-error",
      "src/d.ts:21 as any",
    ]);
  });

  it("names conflict markers that a worker committed, by the rules of the gate", async () => {
    const conflict = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n";
    const { forbiddenMarks } = await shown(
      {
        ".gitattributes": "meant.ts conflict-marker-size=32\n",
        "old.ts": `f();\n${conflict}`,
        "a.ts": "x\n",
      },
      {
        "a.ts": `x\n${conflict}`,
        "old.ts": `g();\n${conflict}`,
        "b.ts": `const a = \`\n${conflict}\`;\n`,
        "meant.ts": conflict,
        "docs/a.md": `# A\n${conflict}`,
        "docs/b.rst": "A\n=======\n",
      },
    );
    assert.deepEqual(forbiddenMarks, ["a.ts:2 conflict markers"]);
  });
});
