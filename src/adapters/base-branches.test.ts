/** Tests that every move of a branch is noticed, however it is made, and nothing else. With real git. */
import assert from "node:assert/strict";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../test/support/folders.ts";
import {
  makeRepository,
  openRepository,
  type TestRepository,
  withScriptedGit,
} from "../../test/support/repositories.ts";
import { GitBaseBranch } from "./base-branches.ts";
import { startedGits } from "./git/git.ts";

const MAX = { timeout: 90_000 };

/** Watches a branch; `next` waits for the next move. */
function watched({ folder }: Pick<TestRepository, "folder">, known: string, branch = "main") {
  const stop = new AbortController();
  const base = new GitBaseBranch({ gitDir: path.join(folder, ".git"), branch });
  const moves = base.moves(known, stop.signal)[Symbol.asyncIterator]();
  return {
    next: async () => (await moves.next()).value as string | undefined,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await moves.next();
    },
  };
}

async function setting() {
  const repository = await makeRepository({ files: { a: "1\n" } });
  return { repository, first: await repository.git("rev-parse", "HEAD") };
}

describe("a move of the base", MAX, () => {
  it("is a commit on it, an update of its ref, and a step back", async () => {
    const { repository, first } = await setting();
    await using held = repository;
    await using base = watched(held, first);
    const woken = base.next();
    const second = await held.commit({ a: "2\n" });
    assert.equal(await woken, second);
    const third = await held.git("commit-tree", "-p", second, "-m", "x", `${second}^{tree}`);
    await held.git("update-ref", "refs/heads/main", third);
    assert.equal(await base.next(), third);
    await held.git("update-ref", "refs/heads/main", first);
    assert.equal(await base.next(), first);
  });

  it("is one that was made while nobody looked", async () => {
    const { repository, first } = await setting();
    await using held = repository;
    const second = await held.commit({ a: "2\n" });
    await using base = watched(held, first);
    assert.equal(await base.next(), second);
  });

  it("is not that refs were packed, and is seen after it", async () => {
    const { repository, first } = await setting();
    await using held = repository;
    await held.git("branch", "deep/er", first);
    await using base = watched(held, first, "deep/er");
    const woken = base.next();
    await held.git("pack-refs", "--all", "--prune");
    const second = await held.commit({ a: "2\n" });
    await held.git("branch", "-f", "deep/er", second);
    assert.equal(await woken, second);
    await held.git("pack-refs", "--all", "--prune");
    await held.git("update-ref", "refs/heads/deep/er", first);
    assert.equal(await base.next(), first);
  });

  it("is seen in a repository of linked work trees, from each of them", async () => {
    const { repository, first } = await setting();
    await using held = repository;
    const folder = path.join(newFolder(), "linked");
    await held.git("worktree", "add", "-q", "-b", "side", folder);
    await using base = watched(held, first, "side");
    const woken = base.next();
    await held.commit({ a: "of main\n" });
    const moved = await openRepository(folder).commit({ a: "of side\n" });
    assert.equal(await woken, moved);
  });

  it("is not that the branch is gone, but that it is back elsewhere", async () => {
    const { repository, first } = await setting();
    await using held = repository;
    const second = await held.commit({ a: "2\n" });
    await held.git("checkout", "-q", "--detach");
    await held.git("update-ref", "refs/heads/main", first);
    await using base = watched(held, first);
    const woken = base.next();
    await held.git("branch", "-q", "-D", "main");
    await held.git("branch", "main", first);
    await held.git("branch", "-q", "-D", "main");
    await held.git("branch", "main", second);
    assert.equal(await woken, second);
  });

  it("is the last of many that came at once, for a few questions to git", async () => {
    const { repository, first } = await setting();
    await using held = repository;
    await using base = watched(held, first);
    const woken = base.next();
    const second = await held.commit({ a: "2\n" });
    assert.equal(await woken, second);
    const before = startedGits();
    let last = second;
    for (let i = 0; i < 50; i += 1) {
      last = await held.git("commit-tree", "-p", last, "-m", `${i}`, `${last}^{tree}`);
      await held.git("update-ref", "refs/heads/main", last);
    }
    assert.equal(await base.next(), last);
    assert.equal(startedGits() - before, 1, "none while nobody asks, and one for all");
  });

  it("costs no process while only others move", async () => {
    const { repository, first } = await setting();
    await using held = repository;
    await held.git("branch", "other", first);
    await using base = watched(held, first, "other");
    const before = startedGits();
    const woken = base.next();
    let last = first;
    for (let i = 0; i < 20; i += 1) last = await held.commit({ a: `${i}\n` });
    assert.ok(startedGits() - before <= 1, `${startedGits() - before}`);
    await held.git("branch", "-f", "other", last);
    assert.equal(await woken, last);
  });

  it("is found although git could not be asked when it was made", async () => {
    const { repository, first } = await setting();
    await using held = repository;
    const second = await held.commit({ a: "2\n" });
    const mark = path.join(newFolder(), "asked");
    await withScriptedGit(
      `[ -e '${mark}' ] || { touch '${mark}'; exit 128; }\nexec "$GIT" "$@"`,
      async () => {
        await using base = watched(held, first);
        assert.equal(await base.next(), second);
      },
    );
  });

  it("is never told of a name that is none", async () => {
    const { repository, first } = await setting();
    await using held = repository;
    await using base = watched(held, first, "--all");
    assert.equal(await base.next(), undefined);
  });
});
