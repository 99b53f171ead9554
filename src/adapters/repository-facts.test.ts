/** Tests what is sampled of real repositories with one question to git: files, sizes, the test command. */
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../test/support/folders.ts";
import { makeRepository } from "../../test/support/repositories.ts";
import { hasFailed } from "../core/result.ts";
import { sampleOf, topOf } from "./repository-facts.ts";

const NEVER = new AbortController().signal;
const TESTED = '{"scripts": {"test": "node --test"}}';

describe("a sample of a repository", () => {
  it("has every file that git tracks with its size, from any folder in it, and the command that runs its tests", async () => {
    await using repository = await makeRepository({
      files: { "src/a b\n.ts": "12345", "package.json": TESTED, "ünï.md": "x" },
    });
    symlinkSync("/etc/passwd", path.join(repository.folder, "link"));
    await repository.git("add", "link");
    await repository.git("commit", "-q", "-m", "link");
    writeFileSync(path.join(repository.folder, "Makefile"), "test:\n"); // Not committed.
    const folder = path.join(repository.folder, "src");
    const sample = await sampleOf(folder, NEVER);
    assert.ok(!hasFailed(sample));
    assert.deepEqual(sample.entries, [
      { path: "package.json", bytes: TESTED.length },
      { path: "src/a b\n.ts", bytes: 5 },
      { path: "ünï.md", bytes: 1 },
    ]);
    assert.deepEqual([sample.isCut, sample.testCommand], [false, "npm run test"]);
    assert.equal(topOf(folder), repository.folder);
  });

  it("stops at a megabyte, with whole paths only", async () => {
    await using repository = await makeRepository({ files: { a: "" } });
    const id = await repository.git("hash-object", "-w", "a");
    const name = (i: number) => `${String(i).padStart(5, "0")}-${"x".repeat(200)}`;
    const lines = Array.from({ length: 6_000 }, (_, i) => `100644 ${id}\t${name(i)}\n`).join("");
    writeFileSync(path.join(repository.folder, ".git", "lines"), lines);
    const { execFileSync } = await import("node:child_process");
    execFileSync("git", ["update-index", "--index-info"], { cwd: repository.folder, input: lines });
    await repository.git("commit", "-q", "-m", "many");
    const sample = await sampleOf(repository.folder, NEVER);
    assert.ok(!hasFailed(sample) && sample.isCut);
    assert.ok(sample.entries.length > 3_000 && sample.entries.length < 6_000);
    for (const [i, entry] of sample.entries.entries()) assert.equal(entry.path, name(i));
  });

  it("fails in words where there is no repository, or no commit", async () => {
    const folder = newFolder();
    const none = await sampleOf(folder, NEVER);
    assert.ok(hasFailed(none) && /not a git repository/.test(none.failure.message));
    mkdirSync(path.join(folder, ".git")); // Empty: no repository for git either.
    assert.notEqual(topOf(folder), folder);
    await using repository = await makeRepository({ files: { a: "" } });
    await repository.git("checkout", "-q", "--orphan", "empty");
    await repository.git("rm", "-q", "--cached", "a");
    assert.ok(hasFailed(await sampleOf(repository.folder, NEVER)));
    mkdirSync(path.join(folder, "x"));
    assert.ok(hasFailed(await sampleOf(path.join(folder, "gone"), NEVER)));
  });
});
