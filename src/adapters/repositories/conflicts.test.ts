/** Tests with real git that forgotten conflict markers are found, and no text that only looks like them. */
import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import {
  type Files,
  makeRepository,
  type TestRepository,
  withScriptedGit,
} from "../../../test/support/repositories.ts";
import { hasFailed } from "../../core/result.ts";
import { startedGits } from "../git/git.ts";
import { type Conflicts, conflictsOf } from "./conflicts.ts";

const LINES = ["<<<<<<< HEAD", "ours", "=======", "theirs", ">>>>>>> branch", ""];
const BLOCK = LINES.join("\n");
const gitDirOf = ({ folder }: Pick<TestRepository, "folder">) => path.join(folder, ".git");

async function filesIn(conflicts: Conflicts, commit: string): Promise<readonly string[]> {
  const found = await conflicts.in(commit, new AbortController().signal);
  assert.ok(!hasFailed(found), JSON.stringify(found));
  return found.map(({ file, blocks }) => `${file}:${blocks.map(({ first }) => first).join(",")}`);
}

async function foundIn(files: Files): Promise<readonly string[]> {
  await using repository = await makeRepository({ files });
  return await filesIn(conflictsOf(gitDirOf(repository)), await repository.git("rev-parse", "HEAD"));
}

describe("conflicts in a commit", () => {
  it("are what a merge left that somebody committed as it was", async () => {
    await using repository = await makeRepository({ files: { "src/a.js": "f();\n1;\n", "b.js": "1;\n" } });
    await repository.branch("other", { "src/a.js": "f();\n2;\n" });
    await repository.commit({ "src/a.js": "f();\n3;\n" });
    await assert.rejects(repository.git("merge", "-q", "other"));
    const merged = await repository.commit({}, "merged, it seems");
    assert.equal((await repository.git("rev-parse", `${merged}^2`)).length, 40);
    assert.deepEqual(await filesIn(conflictsOf(gitDirOf(repository)), merged), ["src/a.js:2"]);
  });

  it("are found whatever a path holds, and however lines end", async () => {
    const files = {
      'src/a "quoted" name.ts': BLOCK,
      "src/a\nline.ts": BLOCK,
      "src/ü [x]*.ts": `f();\n${BLOCK}${BLOCK}`,
      "-e.ts": BLOCK,
      ":(top)c.ts": BLOCK,
      "crlf.ts": LINES.join("\r\n"),
      "package-lock.json": `{\n${BLOCK}}\n`,
    };
    const found = await foundIn(files);
    assert.deepEqual(
      found.toSorted(),
      [
        'src/a "quoted" name.ts:1',
        "src/a\nline.ts:1",
        "src/ü [x]*.ts:2,7",
        "-e.ts:1",
        ":(top)c.ts:1",
        "crlf.ts:1",
        "package-lock.json:2",
      ].toSorted(),
    );
  });

  it("are found also where git is told to colour everything", async () => {
    await using repository = await makeRepository({ files: { "src/a.ts": BLOCK } });
    await repository.git("config", "color.ui", "always");
    const head = await repository.git("rev-parse", "HEAD");
    assert.deepEqual(await filesIn(conflictsOf(gitDirOf(repository)), head), ["src/a.ts:1"]);
  });

  it("are not headings, examples, documents, data, or files that git calls binary", async () => {
    const files = {
      "docs/conf.rst": "Title\n=======\n\ntext\n",
      "src/heading.py": "# Title\n=======\n",
      "README.md": BLOCK,
      "src/fixtures/a.ts": BLOCK,
      "src/merge.test.ts": `const text = \`\n${BLOCK}\`;\n`,
      "src/merge.ts": `export const EXAMPLE = \`\n${BLOCK}\`;\n`,
      "src/binary.ts": Buffer.concat([Buffer.from([0, 1, 2]), Buffer.from(`\n${BLOCK}`)]),
      "src/huge.sql": `${"insert into a values (1);\n".repeat(200_000)}${BLOCK}`,
      "src/link.ts": { link: "../README.md" },
    };
    assert.deepEqual(await foundIn(files), []);
  });

  it("are not where the commit's attributes say that such lines are text", async () => {
    const files = {
      ".gitattributes": "src/a.ts conflict-marker-size=32\n*.gen.ts -diff\nsrc/d.ts conflict-marker-size=7\n",
      "src/.gitattributes": "c.ts -conflict-marker-size\n",
      "src/a.ts": BLOCK,
      "src/b.gen.ts": BLOCK,
      "src/c.ts": BLOCK,
      "src/d.ts": BLOCK,
      "lib/c.ts": BLOCK,
    };
    assert.deepEqual(await foundIn(files), ["lib/c.ts:1", "src/d.ts:1"]);
  });

  it("do not depend on what is in the checkout", async () => {
    await using repository = await makeRepository({ files: { "src/a.ts": BLOCK } });
    const commit = await repository.git("rev-parse", "HEAD");
    await repository.write({ ".gitattributes": "* binary\n", "src/a.ts": "f();\n", "src/b.ts": BLOCK });
    await repository.git("add", "-A");
    assert.deepEqual(await filesIn(conflictsOf(gitDirOf(repository)), commit), ["src/a.ts:1"]);
  });

  it("are found after a commit without any, where only the difference is read, as if all were read", async () => {
    await using repository = await makeRepository({
      files: { "src/a.ts": "f();\n", "fixtures/a.ts": BLOCK, "b.ts": "f();\n" },
    });
    const conflicts = conflictsOf(gitDirOf(repository));
    const clean = await repository.git("rev-parse", "HEAD");
    assert.deepEqual(await filesIn(conflicts, clean), []);
    const red = await repository.commit({ "src/a.ts": BLOCK });
    const moved = await repository.commit({ "fixtures/a.ts": null, "src/moved.ts": BLOCK });
    const healed = await repository.commit({ "src/a.ts": "f();\n", "src/moved.ts": null });
    assert.deepEqual(await filesIn(conflicts, red), ["src/a.ts:1"]);
    assert.deepEqual(await filesIn(conflicts, moved), ["src/a.ts:1", "src/moved.ts:1"]);
    assert.deepEqual(await filesIn(conflicts, healed), []);
    assert.deepEqual(await filesIn(conflicts, moved), ["src/a.ts:1", "src/moved.ts:1"]);
  });

  it("cost one process where there are none, also among examples", async () => {
    await using repository = await makeRepository({ files: { "src/a.ts": "f();\n", "test/a.ts": BLOCK } });
    const conflicts = conflictsOf(gitDirOf(repository));
    const first = await repository.git("rev-parse", "HEAD");
    const second = await repository.commit({ "src/a.ts": "g();\n", "test/b.ts": BLOCK });
    for (const commit of [first, second, second]) {
      const before = startedGits();
      assert.deepEqual(await filesIn(conflicts, commit), []);
      assert.equal(startedGits() - before, 1);
    }
  });

  it("are looked for in what differs only, after a commit without any", async () => {
    await using repository = await makeRepository({ files: { "a.ts": "f();\n" } });
    const said = path.join(repository.folder, ".git", "said");
    const conflicts = conflictsOf(gitDirOf(repository));
    const first = await repository.git("rev-parse", "HEAD");
    const second = await repository.commit({ "a.ts": "g();\n" });
    await withScriptedGit(`echo "$*" >> '${said}'\nexec "$GIT" "$@"`, async () => {
      await filesIn(conflicts, first);
      await filesIn(conflicts, second);
    });
    const [all, differing] = (await readFile(said, "utf8")).split("\n");
    assert.match(all!, / grep .* [0-9a-f]{40}$/);
    assert.match(differing!, new RegExp(` diff-tree .* ${first} ${second}$`));
  });

  it("are looked for everywhere again when the commit without any is gone", async () => {
    await using repository = await makeRepository({ files: { "a.ts": "f();\n" } });
    const conflicts = conflictsOf(gitDirOf(repository));
    const clean = await repository.commit({ "a.ts": "g();\n" });
    assert.deepEqual(await filesIn(conflicts, clean), []);
    await repository.git("reset", "-q", "--hard", "HEAD~1");
    const red = await repository.commit({ "a.ts": BLOCK });
    await rm(path.join(gitDirOf(repository), "objects", clean.slice(0, 2), clean.slice(2)));
    assert.deepEqual(await filesIn(conflicts, red), ["a.ts:1"]);
  });

  it("of a repository that cannot be read are a failure, and not none", async () => {
    await using repository = await makeRepository({ files: { "a.ts": BLOCK } });
    const commit = await repository.git("rev-parse", "HEAD");
    const blob = await repository.git("rev-parse", "HEAD:a.ts");
    const file = path.join(gitDirOf(repository), "objects", blob.slice(0, 2), blob.slice(2));
    await rm(file);
    await writeFile(file, "broken");
    const found = await conflictsOf(gitDirOf(repository)).in(commit, new AbortController().signal);
    assert.ok(hasFailed(found));
  });
});

describe("a place that may quote markers", () => {
  it("is a document, a test, what tests read, what a program recorded, or somebody else's", async () => {
    const places: string[] = [];
    for (const place of [
      ...["README", "a.md", "x/a.rst", "a.txt", "docs/a.js", "man/git.1", "CHANGELOG"],
      ...[
        "a.test.ts",
        "src/a_test.go",
        "test/support/a.ts",
        "tests/data.yml",
        "src/__tests__/a.json",
        "t/lib.sh",
      ],
      ...["testdata/a.go", "merge-fixtures/a.ts", "src/__snapshots__/a", "golden/a.js", "src/test_data/a.c"],
      ...["a.patch", "a.orig", "vendor/a.go", "node_modules/a/a.js", "examples/a.js", "unit_tests/a.c"],
    ])
      places.push(place);
    assert.deepEqual(await foundIn(Object.fromEntries(places.map((place) => [place, BLOCK]))), []);
  });

  it("is not a file of the program itself, nor one that tools keep for it", async () => {
    const places = [
      ...["Makefile", "app/index.html", "contest/a.py", "package.json", "src/a.ts", "src/attest.rs"],
      ...["src/inspect/a.rb", "src/latest/a.ts", "src/manager/a.go", "src/t1/a.c", "yarn.lock"],
    ];
    const found = await foundIn(Object.fromEntries(places.map((place) => [place, BLOCK])));
    assert.deepEqual(
      found,
      places.map((place) => `${place}:1`),
    );
  });
});
