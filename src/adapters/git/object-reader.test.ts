/** Tests reading git objects and refs through one long-lived process: order, restarts, deadlines. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";
import { makeRepository, type TestRepository, withScriptedGit } from "../../../test/support/repositories.ts";
import { startedGits } from "./git.ts";
import { ObjectReader } from "./object-reader.ts";

const readerOf = (at: TestRepository, maxMs?: number) => new ObjectReader(join(at.folder, ".git"), {}, maxMs);

describe("an object reader", () => {
  it("reads many objects in order with one process, also large and binary ones", async () => {
    const large = new Uint8Array(300_000).map((_, i) => i % 251);
    await using at = await makeRepository({ files: { "a.txt": "a\n", large, empty: "" } });
    const reader = readerOf(at);
    const before = startedGits();
    const names = ["HEAD:a.txt", "HEAD:large", "HEAD:nothing", "HEAD:empty", "HEAD^{tree}", "HEAD:a.txt"];
    const reads = await Promise.all(names.map((name) => reader.contents(name)));
    const sizes = reads.map((read) => (read.is === "found" ? read.content.length : read.is));
    assert.deepEqual([sizes[0], sizes[1], sizes[2], sizes[3], sizes[5]], [2, 300_000, "missing", 0, 2]);
    assert.deepEqual(reads[1]?.is === "found" && new Uint8Array(reads[1].content), large);
    const info = await reader.info("HEAD:large");
    assert.deepEqual(info.is === "found" && [info.type, info.bytes, info.content.length], [
      "blob",
      300_000,
      0,
    ]);
    assert.equal(startedGits() - before, 1);
    reader.close();
  });

  it("sees refs and objects that were made after it started", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    const reader = readerOf(at);
    assert.equal((await reader.info("refs/heads/later")).is, "missing");
    const commit = await at.branch("later", { "a.txt": "b\n" });
    const read = await reader.info("refs/heads/later");
    assert.equal(read.is === "found" && read.id, commit);
    await at.git("update-ref", "refs/heads/later", "HEAD");
    const moved = await reader.info("refs/heads/later");
    assert.equal(moved.is === "found" && moved.id, await at.git("rev-parse", "HEAD"));
    await at.git("pack-refs", "--all");
    await at.git("gc", "-q", "--prune=now");
    const packed = await reader.info("refs/heads/later");
    assert.deepEqual(packed, moved);
    reader.close();
  });

  it("starts again after its process died, and asks once more what it had been asked", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    const reader = readerOf(at);
    const died = join(at.folder, "..", "died");
    await withScriptedGit(
      `[ -e "${died}" ] || { touch "${died}"; read line; exit 1; }; exec "$GIT" "$@"`,
      async () => {
        const reads = await Promise.all([reader.contents("HEAD:a.txt"), reader.info("HEAD")]);
        assert.deepEqual(
          reads.map((read) => read.is),
          ["found", "found"],
        );
      },
    );
    reader.close();
  });

  it("fails when its process keeps dying, does not start, or does not answer", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    await withScriptedGit("echo broken >&2; exit 3", async () => {
      const read = await readerOf(at).info("HEAD");
      assert.match(read.is === "failed" ? read.why : "", /broken/);
    });
    await withScriptedGit("exec sleep 100", async () => {
      const read = await readerOf(at, 50).info("HEAD");
      assert.match(read.is === "failed" ? read.why : "", /no answer within 50 ms/);
    });
    const nowhere = await new ObjectReader("/nonexistent", {}).info("HEAD");
    assert.equal(nowhere.is, "failed");
  });

  it("takes no name that would be two", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    assert.throws(() => readerOf(at).info("HEAD\ninfo HEAD"), /no name of an object/);
  });

  it("fails what waits when it is closed, and can be asked again", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    const reader = readerOf(at);
    const waiting = reader.info("HEAD");
    reader.close();
    assert.equal((await waiting).is, "failed");
    assert.equal((await reader.info("HEAD")).is, "found");
    reader.close();
  });

  it("does not keep a program from ending that forgets to close it", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    const program = `import { ObjectReader } from ${JSON.stringify(new URL("./object-reader.ts", import.meta.url).href)};
      const read = await new ObjectReader(process.argv[1], {}).info("HEAD");
      process.stdout.write(read.is);`;
    const { promise, resolve } = Promise.withResolvers<string>();
    const args = ["--input-type=module-typescript", "-e", program, "--", join(at.folder, ".git")];
    execFile(process.execPath, args, { timeout: 20_000 }, (error, out) => resolve(error?.message ?? out));
    assert.equal(await promise, "found");
  });
});
