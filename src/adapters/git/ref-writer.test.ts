/** Tests moving refs through one long-lived process: transactions, restarts, hanging and closed processes. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { makeRepository, type TestRepository, withScriptedGit } from "../../../test/support/repositories.ts";
import { startedGits } from "./git.ts";
import { RefWriter } from "./ref-writer.ts";

const writerOf = (at: TestRepository, maxMs?: number) => new RefWriter(join(at.folder, ".git"), {}, maxMs);

describe("a writer of refs", () => {
  it("moves many with one process, also while somebody packs them", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    const head = await at.git("rev-parse", "HEAD");
    const writer = writerOf(at);
    const before = startedGits();
    assert.deepEqual(await writer.move([`create refs/x/1 ${head}`]), { ok: true });
    await at.git("pack-refs", "--all", "--prune");
    const both = [
      writer.move([`update refs/x/1 ${head} ${head}`, `create refs/x/2 ${head}`]),
      writer.move(["delete refs/x/1", "delete refs/x/none"]),
    ];
    assert.deepEqual(await Promise.all(both), [{ ok: true }, { ok: true }]);
    assert.equal(startedGits() - before, 1);
    assert.equal(await at.git("for-each-ref", "--format=%(refname)", "refs/x"), "refs/x/2");
    writer.close();
  });

  it("moves all or nothing, says why in git's words, and goes on", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    const head = await at.git("rev-parse", "HEAD");
    const writer = writerOf(at);
    const refused = await writer.move([`create refs/x/1 ${head}`, `update refs/x/2 ${"1".repeat(40)}`]);
    assert.ok(!refused.ok);
    assert.match(refused.failure.message, /^git update-ref: .*nonexistent object 1{40}/);
    assert.equal(await at.git("for-each-ref", "refs/x"), "");
    await writeFile(join(at.folder, ".git/refs/locked.lock"), "");
    const locked = await writer.move([`create refs/locked ${head}`]);
    assert.ok(!locked.ok && /\.lock': File exists/.test(locked.failure.message));
    assert.deepEqual(await writer.move([`create refs/x/1 ${head}`]), { ok: true });
    writer.close();
  });

  it("starts again after its process died, and ends one that hangs", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    const head = await at.git("rev-parse", "HEAD");
    const died = join(at.folder, "..", "died");
    const writer = writerOf(at);
    const dies = `[ -e '${died}' ] || { touch '${died}'; read a; read b; read c; echo "commit: ok"; exit 0; }`;
    await withScriptedGit(`${dies}\nexec "$GIT" "$@"`, async () => {
      assert.deepEqual(await writer.move([`create refs/x/1 ${head}`]), { ok: true });
      assert.deepEqual(await writer.move([`create refs/x/2 ${head}`]), { ok: true });
    });
    assert.equal(await at.git("for-each-ref", "--format=%(refname)", "refs/x"), "refs/x/2");
    writer.close();
    const hanging = writerOf(at, 100);
    const answer = await withScriptedGit("exec sleep 60", () => hanging.move([`create refs/x/3 ${head}`]));
    assert.ok(!answer.ok && answer.code === undefined);
  });

  it("answers waiting callers also if it is closed meanwhile", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    const head = await at.git("rev-parse", "HEAD");
    const writer = writerOf(at, 5_000);
    const refused = writer.move([`update refs/x/1 ${"1".repeat(40)}`]);
    await new Promise(setImmediate); // By now the question was sent.
    writer.close();
    assert.equal((await refused).ok, false);
    assert.deepEqual(await writer.move([`create refs/x/1 ${head}`]), { ok: true });
    writer.close();
  });
});
