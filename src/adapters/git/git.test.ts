/** Tests that git syncs its objects and refs to the disk before it ends. */
import assert from "node:assert/strict";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../../test/support/folders.ts";
import { makeRepository } from "../../../test/support/repositories.ts";
import { git } from "./git.ts";

const TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

describe("a git that writes", () => {
  it("has synced its objects and refs when it ends, those of many files with one sync", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    await at.branch("other", { "b.txt": "b\n" });
    await at.commit({ "c.txt": "c\n" });
    await at.write(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`new-${i}`, `new ${i}\n`])));
    const { folder } = at;
    const trace = join(newFolder(), "trace");
    /** How often git waited for the disk, and how often it only began to write. */
    const syncsOf = async (...args: readonly string[]) => {
      await rm(trace, { force: true });
      const answer = await git({ folder, args, input: "x", environment: { GIT_TRACE2_EVENT: trace } });
      assert.ok(answer.ok, answer.ok ? "" : answer.failure.message);
      const text = await readFile(trace, "utf8");
      const count = (kind: string) =>
        Number(new RegExp(`"fsync/${kind}","value":"(\\d+)"`).exec(text)?.[1] ?? 0);
      return { flushed: count("hardware-flush"), begun: count("writeout-only") };
    };
    assert.deepEqual(await syncsOf("rev-parse", "HEAD"), { flushed: 0, begun: 0 });
    assert.equal((await syncsOf("hash-object", "-w", "--stdin")).flushed, 1);
    assert.equal((await syncsOf("commit-tree", TREE)).flushed, 1);
    assert.equal((await syncsOf("merge-tree", "--write-tree", "main", "other")).flushed, 1);
    assert.equal((await syncsOf("update-ref", "refs/heads/skein/r/target", "HEAD")).flushed, 1);
    const { flushed, begun } = await syncsOf("add", "-A");
    assert.ok(begun >= 40 && flushed <= 2, JSON.stringify({ flushed, begun }));
  });
});
