/** Is what is read of git's index what git itself says? Real repositories, and broken bytes. */
import assert from "node:assert/strict";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { makeRepository, type TestRepository } from "../../../test/support/repositories.ts";
import { randomFrom } from "../../simulation/random.ts";
import { readIndex } from "./git-index.ts";

const indexOf = ({ folder }: TestRepository) => readFileSync(path.join(folder, ".git", "index"));

/** Names of every length beside each other, so that the padding has every length, too. */
const FILES = Object.fromEntries([
  ...Array.from({ length: 20 }, (_, i) => [`src/${"x".repeat(i + 1)}.ts`, "y".repeat(i)]),
  ["ünï cöde/日本.md", "x"],
  ["a\nb", ""],
]);

async function pathsBy(repository: TestRepository): Promise<readonly string[]> {
  return (await repository.git("ls-files", "-z")).split("\0").filter((file) => file !== "");
}

describe("an index of git", () => {
  it("has the files that git says, with their sizes", async () => {
    await using repository = await makeRepository({ files: FILES });
    const read = readIndex(indexOf(repository), 1_000);
    assert.deepEqual(
      read?.entries.map(({ path: file }) => file),
      await pathsBy(repository),
    );
    assert.equal(read?.isCut, false);
    for (const { path: file, bytes } of read?.entries ?? [])
      assert.equal(bytes, Buffer.byteLength(FILES[file] ?? "?"), file);
    const few = readIndex(indexOf(repository), 3);
    assert.deepEqual([few?.entries.length, few?.isCut], [3, true]);
  });

  it("may have links, executables, files that are only meant to be added, and conflicts", async () => {
    await using repository = await makeRepository({ files: { a: "1\n", "run.sh": "x" } });
    const { git, folder } = repository;
    symlinkSync("a", path.join(folder, "link"));
    writeFileSync(path.join(folder, "meant"), "");
    await git("add", "link");
    await git("commit", "-q", "-m", "link");
    const change = async (text: string) => {
      writeFileSync(path.join(folder, "a"), text);
      await git("commit", "-q", "-am", text.trim());
    };
    await git("checkout", "-q", "-b", "other");
    await change("2\n");
    await git("checkout", "-q", "-b", "last", "HEAD~1");
    await change("3\n");
    await git("merge", "-q", "other").catch(() => {}); // It conflicts: "a" is there three times.
    await git("update-index", "--chmod=+x", "run.sh");
    await git("add", "-N", "meant"); // Makes it version 3.
    assert.equal(indexOf(repository).readUInt32BE(4), 3);
    const read = readIndex(indexOf(repository), 1_000);
    const seen = new Set(read?.entries.map(({ path: file }) => file));
    assert.deepEqual([...seen], ["a", "meant", "run.sh"]);
    assert.equal(seen.size, read?.entries.length, "each once");
  });

  it("of another kind is left to git: compressed, split, of another hash", async () => {
    await using repository = await makeRepository({ files: FILES });
    const { git } = repository;
    await git("update-index", "--index-version", "4");
    assert.equal(readIndex(indexOf(repository), 10), undefined);
    await git("update-index", "--index-version", "2");
    assert.ok(readIndex(indexOf(repository), 10));
    await git("update-index", "--split-index");
    assert.equal(readIndex(indexOf(repository), 10), undefined);
    await using other = await makeRepository({ files: { a: "1" } });
    const sha256 = path.join(other.folder, "sha256");
    await other.git("init", "-q", "--object-format=sha256", sha256);
    for (const name of ["one", "two", "three"]) writeFileSync(path.join(sha256, name), name);
    await other.git("-C", sha256, "add", ".");
    assert.equal(readIndex(readFileSync(path.join(sha256, ".git", "index")), 10), undefined);
  });

  it("that is broken in any way is no index, or is read to its end; nothing throws", async () => {
    await using repository = await makeRepository({ files: FILES });
    const whole = indexOf(repository);
    const random = randomFrom(11);
    for (let i = 0; i < 3_000; i += 1) {
      const bytes = Buffer.from(random.chance(0.3) ? whole.subarray(0, random.below(whole.length)) : whole);
      for (let n = random.below(4); n > 0 && bytes.length > 0; n -= 1)
        bytes[random.below(bytes.length)] = random.below(256);
      readIndex(bytes, 100);
    }
    assert.equal(readIndex(Buffer.alloc(0), 1), undefined);
    assert.equal(readIndex(whole.subarray(0, 200), 100), undefined);
  });
});
