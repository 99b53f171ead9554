/** Tests what a planner is told of real commits: documents, paths and history, within limits. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { type Files, makeRepository } from "../../test/support/repositories.ts";
import { hasFailed } from "../core/result.ts";
import type { Facts } from "../ports/surroundings.ts";
import { chosenPaths } from "./chosen-paths.ts";
import { gitSurroundings } from "./surroundings.ts";

const MAX = { timeout: 60_000 };
const never = () => new AbortController().signal;

async function factsOf(files: Files, message?: string): Promise<Facts> {
  await using repository = await makeRepository();
  const commit = await repository.commit(files, message);
  const facts = await gitSurroundings(repository.folder).of(commit, never());
  assert.ok(!hasFailed(facts), JSON.stringify(facts));
  return facts;
}

describe("what a planner is told of a commit", MAX, () => {
  it("is its documents, its paths and its newest commits, not what came later", async () => {
    await using repository = await makeRepository({ files: { "SPEC.md": "the spec\n", "src/a.ts": "" } });
    const commit = await repository.commit({ "DECISIONS.md": "we chose", "docs/SPEC.md": "no" }, "second");
    await repository.commit({ "SPEC.md": "changed", "later.ts": "" }, "third");
    await repository.write({ "AGENTS.md": "not committed" });
    const facts = await gitSurroundings(repository.folder).of(commit, never());
    assert.ok(!hasFailed(facts));
    assert.deepEqual(facts.documents, [
      { path: "SPEC.md", text: "the spec\n", leftOut: 0 },
      { path: "DECISIONS.md", text: "we chose", leftOut: 0 },
    ]);
    assert.deepEqual(facts.files, ["DECISIONS.md", "SPEC.md", "docs/SPEC.md", "src/a.ts"]);
    assert.equal(facts.filesLeftOut, 0);
    assert.deepEqual(
      facts.commits.map((line) => line.replace(/^[0-9a-f]{7,} /, "")),
      ["second", "first"],
    );
  });

  it("is the same from a folder below the top, and from a bare repository", async () => {
    await using repository = await makeRepository({ files: { "SPEC.md": "s", "src/a.ts": "" } });
    const commit = await repository.git("rev-parse", "HEAD");
    const ask = (folder: string) => gitSurroundings(folder).of(commit, never());
    const facts = await ask(repository.folder);
    mkdirSync(path.join(repository.folder, "src/b"));
    assert.deepEqual(await ask(path.join(repository.folder, "src/b")), facts);
    assert.deepEqual(await ask(path.join(repository.folder, ".git")), facts);
  });

  it("holds the beginning of a document that is too long, in whole lines, and how much is left out", async () => {
    const text = "one line of text\n".repeat(10_000);
    const { documents } = await factsOf({ "SPEC.md": text });
    const [spec] = documents;
    assert.ok(spec && spec.text.length <= 64_000 && spec.text.length > 63_900);
    assert.ok(text.startsWith(spec.text) && spec.text.endsWith("\n"));
    assert.equal(spec.text.length + spec.leftOut, text.length);
  });

  it("gives five long documents the same room, and a short one all that it needs", async () => {
    const long = "x".repeat(1_500_000);
    const { documents } = await factsOf({
      "SPEC.md": long,
      "FEATURES.json": long,
      "AGENTS.md": "short",
      "CLAUDE.md": long,
      "DECISIONS.md": long,
    });
    assert.deepEqual(
      documents.map(({ path: name, text }) => [name, text.length]),
      [
        ["SPEC.md", 39_998],
        ["FEATURES.json", 39_998],
        ["AGENTS.md", 5],
        ["CLAUDE.md", 39_998],
        ["DECISIONS.md", 39_998],
      ],
    );
    for (const { text, leftOut } of documents.filter((one) => one.path !== "AGENTS.md"))
      assert.equal(text.length + leftOut, long.length);
  });

  it("leaves out a document that is a link or a folder", async () => {
    const { documents } = await factsOf({
      "AGENTS.md": "rules",
      "CLAUDE.md": { link: "AGENTS.md" },
      "SPEC.md/part.md": "x",
    });
    assert.deepEqual(
      documents.map(({ path: name }) => name),
      ["AGENTS.md"],
    );
  });

  it("keeps odd names whole, and takes control characters out of subjects", async () => {
    const odd = ["a\nb.ts", '"quoted".ts', "-rf", "ümlaut.ts", "tab\there"];
    const facts = await factsOf(
      Object.fromEntries(odd.map((name) => [name, "x"])),
      "evil \u001b[31m subject",
    );
    assert.deepEqual(facts.files.toSorted(), odd.toSorted());
    assert.match(facts.commits[0]!, /^[0-9a-f]+ evil {2}\[31m subject$/);
  });

  it("holds 20 commits, and 200 characters of a subject", async () => {
    await using repository = await makeRepository({ files: { a: "" } });
    for (let i = 0; i < 20; i += 1)
      await repository.git("commit", "-q", "--allow-empty", "-m", `${i} ${"y".repeat(400)}`);
    const facts = await gitSurroundings(repository.folder).of(
      await repository.git("rev-parse", "HEAD"),
      never(),
    );
    assert.ok(!hasFailed(facts));
    assert.equal(facts.commits.length, 20);
    assert.ok(facts.commits.every((line) => line.length <= 200));
  });

  it("is a failure for what is no commit, and for one who was stopped", async () => {
    await using repository = await makeRepository({ files: { a: "" } });
    const surroundings = gitSurroundings(repository.folder);
    for (const commit of ["--output=/tmp/x", "HEAD", "0".repeat(40)])
      assert.ok(hasFailed(await surroundings.of(commit, never())), commit);
    const head = await repository.git("rev-parse", "HEAD");
    assert.ok(hasFailed(await surroundings.of(head, AbortSignal.abort())));
  });
});

describe("the paths that are shown", () => {
  const folder = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${name}${String(i).padStart(6, "0")}`);

  it("are all of them if they fit", () => {
    assert.deepEqual(chosenPaths(["a", "b/c"], 2), { files: ["a", "b/c"], filesLeftOut: 0 });
  });

  it("are as many as fit, of every folder the same, and of small ones all", () => {
    const paths = [
      ...folder("", 3),
      ...folder("data/", 50_000),
      ...folder("src/deep/er/", 200),
      ...folder("src/x/", 5_000),
    ].sort();
    const { files, filesLeftOut } = chosenPaths(paths, 1_000);
    const count = (prefix: string) => files.filter((name) => name.startsWith(prefix)).length;
    assert.ok(files.length > 990 && files.length <= 1_000);
    assert.equal(filesLeftOut, paths.length - files.length);
    assert.equal(files.filter((name) => !name.includes("/")).length, 3);
    assert.equal(count("src/deep/er/"), 200);
    assert.equal(count("data/"), count("src/x/"));
    assert.deepEqual(files, files.toSorted());
  });

  it("are still as many as fit where there are more folders", () => {
    const many = Array.from({ length: 50 }, (_, i) => [`${i}/a`, `${i}/b`]).flat();
    assert.equal(chosenPaths(many, 10).files.length, 10);
  });
});
