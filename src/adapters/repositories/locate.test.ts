/** Tests how a repository, its base and its target branch are found, and which repositories are refused. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { failed, got, quiet } from "../../../test/contracts/repository.ts";
import { makeRepository, openRepository } from "../../../test/support/repositories.ts";
import { hasFailed } from "../../core/result.ts";
import { createTarget, locate, resolveBase, tooOld } from "./locate.ts";

const FILES = { "a.txt": "a\n", "sub/b.txt": "b\n" };

describe("a repository is located", () => {
  it("from its top and from a folder in it, with the branch and without a notice", async () => {
    await using at = await makeRepository({ files: FILES });
    const top = await realpath(at.folder);
    const expected = {
      top,
      gitDir: join(top, ".git"),
      head: await at.git("rev-parse", "HEAD"),
      branch: "main",
      gitAsks: [],
    };
    for (const [folder, at] of [
      [top, top],
      [join(top, "sub"), top],
      [join(top, ".git"), expected.gitDir],
    ] as const) {
      const { notices, ...found } = got(await locate(folder, quiet));
      assert.deepEqual(found, { ...expected, top: at });
      assert.deepEqual(await notices(), []);
    }
  });

  it("from one of several work trees, with the git folder that all share", async () => {
    await using at = await makeRepository({ files: FILES });
    const tree = join(at.folder, "..", "a tree");
    await at.git("worktree", "add", "-q", "-b", "other", tree);
    const found = got(await locate(tree, quiet));
    assert.equal(found.top, await realpath(tree));
    assert.equal(found.gitDir, join(await realpath(at.folder), ".git"));
    assert.equal(found.branch, "other");
  });

  it("with a notice if HEAD is detached, or what is checked out was changed", async () => {
    await using at = await makeRepository({ files: FILES });
    await at.git("checkout", "-q", "--detach");
    await at.write({ "a.txt": "changed\n", "new.txt": "new\n" });
    const found = got(await locate(at.folder, quiet));
    assert.equal("branch" in found, false);
    assert.match((await found.notices()).join("; "), /HEAD is detached.*2 changes that are not committed/);
    assert.equal(await at.git("status", "--porcelain"), " M a.txt\n?? new.txt");
  });

  it("with a notice if it is shallow, bare, or has submodules", async () => {
    await using at = await makeRepository({ files: FILES });
    await at.commit({ "a.txt": "b\n" });
    await at.git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},lib`);
    await at.git("commit", "-q", "-m", "a submodule");
    assert.deepEqual(await got(await locate(at.folder, quiet)).notices(), [
      "there are submodules: they are not entered",
    ]);
    const outer = join(at.folder, "..");
    await at.git("clone", "-q", "--depth=1", "--no-checkout", `file://${at.folder}`, join(outer, "shallow"));
    assert.match((await got(await locate(join(outer, "shallow"), quiet)).notices()).join(), /shallow clone/);
    await at.git("clone", "-q", "--bare", at.folder, join(outer, "bare"));
    const bare = got(await locate(join(outer, "bare"), quiet));
    assert.equal(bare.top, bare.gitDir);
    assert.match((await bare.notices()).join(), /bare repository/);
  });
});

describe("a repository is refused", () => {
  it("if there is none, no folder, or no commit, with what to do", async () => {
    const outer = await mkdtemp(join(tmpdir(), "skein-test-"));
    const none = await locate(outer, quiet);
    assert.match(failed(none), /is not in a git repository/);
    assert.match(hasFailed(none) ? (none.failure.next ?? "") : "", /git init/);
    assert.match(failed(await locate(join(outer, "nowhere"), quiet)), /there is no folder/);
    await mkdir(join(outer, "empty"));
    await openRepository(join(outer, "empty")).git("init", "-q");
    const empty = await locate(join(outer, "empty"), quiet);
    assert.match(failed(empty), /has no commit/);
    assert.match(hasFailed(empty) ? (empty.failure.next ?? "") : "", /git commit/);
    await rm(outer, { recursive: true });
  });

  it("if git is not there", async () => {
    await using at = await makeRepository({ files: FILES });
    const path = process.env["PATH"];
    process.env["PATH"] = "/nonexistent";
    const found = await locate(at.folder, quiet);
    process.env["PATH"] = path;
    assert.match(failed(found), /git is not on the PATH/);
    assert.match(hasFailed(found) ? (found.failure.next ?? "") : "", /install git 2\.38/);
  });

  it("if git is older than 2.38, by its own word", () => {
    for (const old of ["git version 2.37.9", "git version 1.9.1", "git version 2.7.4.windows.1"]) {
      assert.match(failed(tooOld(old) ?? {}), /too old/, old);
    }
    for (const fine of ["git version 2.38.0", "git version 2.39.5 (Apple Git-154)", "git version 3.0.0"]) {
      assert.equal(tooOld(fine), undefined, fine);
    }
    assert.match(failed(tooOld("something else") ?? {}), /does not say its version/);
  });
});

describe("a base", () => {
  it("is any name of a commit, and never an option", async () => {
    await using at = await makeRepository({ files: FILES });
    const first = await at.git("rev-parse", "HEAD");
    const second = await at.commit({ "a.txt": "b\n" });
    await at.git("tag", "-a", "-m", "tag", "v1", first);
    const located = got(await locate(at.folder, quiet));
    for (const [name, commit] of [
      ["main", second],
      ["HEAD~1", first],
      ["v1", first],
      [first.slice(0, 10), first],
    ] as const) {
      assert.equal(await resolveBase(located, name, quiet), commit, name);
    }
    for (const bad of ["--all", "-h", "", "nowhere", "HEAD:a.txt", "main\nmain", "a..b", "--git-dir=/tmp"]) {
      assert.match(
        failed(Object(await resolveBase(located, bad, quiet))),
        /no commit|not the name of a commit/,
        bad,
      );
    }
  });
});

describe("a target", () => {
  it("is made, is fine if it is there already, and is never moved", async () => {
    await using at = await makeRepository({ files: FILES });
    const first = await at.git("rev-parse", "HEAD");
    const second = await at.commit({ "a.txt": "b\n" });
    const target = "skein/r1/target";
    assert.deepEqual(await createTarget(at.folder, target, first, quiet), { is: "created" });
    assert.deepEqual(await createTarget(at.folder, target, first, quiet), { is: "there" });
    assert.deepEqual(await createTarget(at.folder, target, second, quiet), { is: "elsewhere", at: first });
    assert.equal(await at.git("rev-parse", target), first);
    assert.match(failed(await createTarget(at.folder, "-d", first, quiet)), /no name of a branch/);
    assert.match(failed(await createTarget(at.folder, "x", "main", quiet)), /no commit/);
    assert.ok(failed(await createTarget(at.folder, "x", "1".repeat(40), quiet)));
    assert.equal(await at.git("branch", "--list", "x"), "");
  });
});
