/** Tests which changes of the user's checkout are noticed: commits, branches, tags, files, the index. */
import assert from "node:assert/strict";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { failed, got, quiet } from "../../test/contracts/repository.ts";
import { makeRepository, type TestRepository } from "../../test/support/repositories.ts";
import { differences } from "../ports/checkout.ts";
import { GitCheckout } from "./checkouts.ts";
import { startedGits } from "./git/git.ts";
import { refsInFiles } from "./git/refs-in-files.ts";

const make = () =>
  makeRepository({ files: { "a.txt": "a\n", "ü b/c.txt": "c\n", ".gitignore": "ignored/\n" } });

/** What a look after `change` shows that a look before it did not. */
async function noticed(at: TestRepository, change: () => Promise<unknown>): Promise<readonly string[]> {
  const checkout = new GitCheckout({ folder: at.folder, own: "skein/" });
  const before = got(await checkout.look(quiet));
  await change();
  return differences(before, got(await checkout.look(quiet)));
}

describe("the tripwire", () => {
  it("notices nothing where nothing happened, also if the index was refreshed or a file was only touched", async () => {
    await using at = await make();
    await at.write({ "a.txt": "dirty\n", "new.txt": "n\n" });
    assert.deepEqual(await noticed(at, async () => {}), []);
    const touch = async () => {
      await utimes(join(at.folder, "ü b/c.txt"), 1, 1);
      await at.git("update-index", "--refresh", "-q").catch(() => {}); // It exits with 1: a.txt is dirty.
    };
    assert.deepEqual(await noticed(at, touch), []);
  });

  it("notices a commit, a checkout of another branch, and a detached HEAD", async () => {
    await using at = await make();
    const commit = () => at.git("commit", "-q", "--allow-empty", "-m", "x");
    assert.deepEqual(await noticed(at, commit), ["HEAD", "refs/heads/main"]);
    assert.deepEqual(await noticed(at, () => at.git("checkout", "-q", "-b", "other")), [
      "HEAD",
      "refs/heads/other",
    ]);
    assert.deepEqual(await noticed(at, () => at.git("checkout", "-q", "--detach")), ["HEAD"]);
  });

  it("notices branches and tags that were made, moved or deleted, but not Skein's own, nor that they were packed", async () => {
    await using at = await make();
    const before = await at.git("rev-parse", "HEAD");
    await at.git("branch", "b/c");
    await at.commit({ "a.txt": "2\n" });
    assert.deepEqual(await noticed(at, () => at.git("branch", "-f", "b/c", "HEAD")), ["refs/heads/b/c"]);
    assert.deepEqual(await noticed(at, () => at.git("tag", "v1")), ["refs/tags/v1"]);
    assert.deepEqual(await noticed(at, () => at.git("pack-refs", "--all")), []);
    assert.deepEqual(await noticed(at, () => at.git("branch", "-f", "b/c", before)), ["refs/heads/b/c"]);
    assert.deepEqual(await noticed(at, () => at.git("branch", "-D", "b/c")), ["refs/heads/b/c"]);
    const own = async () => {
      await at.git("branch", "skein/r1/target");
      await at.git("update-ref", "refs/skein/salvage/r1/t.1.1", "HEAD");
      await at.git("update-ref", "refs/remotes/origin/main", "HEAD");
    };
    assert.deepEqual(await noticed(at, own), []);
    assert.deepEqual(await noticed(at, () => at.git("pack-refs", "--all")), []);
  });

  it("reads refs as git lists them: packed, moved since, deleted, symbolic, in a linked work tree, or too many", async () => {
    await using at = await make();
    await at.git("branch", "b/c");
    await at.git("tag", "-a", "-m", "v1", "v1");
    await at.git("branch", "skein/r1/target");
    await at.git("pack-refs", "--all");
    await at.commit({ "a.txt": "2\n" });
    await at.git("branch", "later");
    await at.git("symbolic-ref", "refs/heads/alias", "refs/heads/main");
    const listed = await at.git(
      "for-each-ref",
      "--format=%(refname) %(objectname)",
      "refs/heads",
      "refs/tags",
    );
    const ids = new Map(listed.split("\n").map((line) => line.split(" ") as [string, string]));
    ids.set("refs/heads/alias", "ref: refs/heads/main");
    ids.delete("refs/heads/skein/r1/target");
    const from = {
      gitDir: join(at.folder, ".git"),
      folders: ["refs/heads", "refs/tags"],
      except: "refs/heads/skein/",
    };
    assert.deepEqual(
      new Map([...(await refsInFiles({ ...from, max: 5 }))!].sort()),
      new Map([...ids].sort()),
    );
    assert.equal(await refsInFiles({ ...from, max: 4 }), undefined);
    const linked = `${at.folder}-linked`;
    await at.git("worktree", "add", "-q", "-b", "side", linked);
    const checkout = new GitCheckout({ folder: linked, own: "skein/" });
    const before = got(await checkout.look(quiet));
    await at.git("branch", "-D", "later");
    assert.deepEqual(differences(before, got(await checkout.look(quiet))), ["refs/heads/later"]);
    await at.git("worktree", "remove", "--force", linked);
  });

  it("notices files that are new, changed, deleted, or changed once more", async () => {
    await using at = await make();
    assert.deepEqual(await noticed(at, () => at.write({ "new ä.txt": "n\n" })), ["new ä.txt"]);
    assert.deepEqual(await noticed(at, () => at.write({ "new ä.txt": "m\n" })), ["new ä.txt"]);
    assert.deepEqual(await noticed(at, () => at.write({ "a.txt": "b\n" })), ["a.txt"]);
    assert.deepEqual(await noticed(at, () => at.write({ "a.txt": "c\n" })), ["a.txt"]);
    assert.deepEqual(await noticed(at, () => at.write({ "ü b/c.txt": null })), ["ü b/c.txt"]);
    assert.deepEqual(await noticed(at, () => at.write({ "ignored/x": "x\n" })), []);
  });

  it("notices a change of the index alone", async () => {
    await using at = await make();
    await at.write({ "a.txt": "b\n" });
    assert.deepEqual(await noticed(at, () => at.git("add", "a.txt")), ["index", "a.txt"]);
    const id = await at.git("rev-parse", "HEAD:a.txt");
    const stage = () => at.git("update-index", "--add", "--cacheinfo", `100644,${id},z.txt`);
    assert.ok((await noticed(at, stage)).includes("index"));
    const other = await at.git("rev-parse", "HEAD:ü b/c.txt");
    const again = () => at.git("update-index", "--cacheinfo", `100644,${other},z.txt`);
    assert.deepEqual(await noticed(at, again), ["index"]);
  });

  it("notices a merge that stopped at a conflict", async () => {
    await using at = await make();
    await at.branch("work", { "a.txt": "theirs\n" });
    await at.commit({ "a.txt": "ours\n" });
    const seen = await noticed(at, () => at.git("merge", "work").catch(() => {}));
    assert.deepEqual(seen, ["index", "a.txt"]);
  });

  it("looks at the whole checkout from a folder in it, with one process a look", async () => {
    await using at = await make();
    await at.write({ "a.txt": "b\n" });
    const checkout = new GitCheckout({ folder: join(at.folder, "ü b"), own: "skein/" });
    assert.match(got(await checkout.look(quiet)).get("a.txt") ?? "", /2 bytes/);
    const before = startedGits();
    await checkout.look(quiet);
    assert.equal(startedGits() - before, 1);
  });

  it("writes nothing itself", async () => {
    await using at = await make();
    await utimes(join(at.folder, "a.txt"), 1, 1);
    const index = () => at.git("hash-object", ".git/index");
    const before = await index();
    got(await new GitCheckout({ folder: at.folder, own: "skein/" }).look(quiet));
    assert.equal(await index(), before);
  });

  it("sees nothing in a bare repository, and fails where there is none", async () => {
    await using bare = await makeRepository({ bare: true });
    assert.deepEqual(await new GitCheckout({ folder: bare.folder, own: "skein/" }).look(quiet), new Map());
    assert.ok(failed(await new GitCheckout({ folder: "/nonexistent", own: "skein/" }).look(quiet)));
  });

  it("lists a bounded number of files, and counts the rest", async () => {
    await using at = await make();
    await at.write({ "1": "", "2": "", "3": "", "a.txt": "b\n" });
    const look = got(await new GitCheckout({ folder: at.folder, own: "skein/", maxFiles: 3 }).look(quiet));
    assert.deepEqual(
      [...look.keys()],
      ["HEAD", "index", "a.txt", "1", "2", "further files", "refs/heads/main"],
    );
    assert.equal(look.get("further files"), "1");
  });
});
