/** Tests unusual repositories: a run works there, says what is unusual, and leaves them as they were. */
import assert from "node:assert/strict";
import { utimes } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { makeRepository, openRepository } from "../support/repositories.ts";
import { makeBarrier, makePlace } from "./cli-place.ts";
import { ALONE, agentOf, appears, COMPLETE, checkoutOf, runOf } from "./odd-place.ts";

const LIMIT = { timeout: 90_000 };

describe("a run in an odd repository", { concurrency: 2 }, () => {
  it("starts from the commit of a detached HEAD, says so, and leaves HEAD where it is", LIMIT, async () => {
    await using place = await makePlace();
    const { git, commit } = place.repository;
    const first = await git("rev-parse", "HEAD");
    await commit({ "later.txt": "later\n" });
    await git("checkout", "-q", "--detach", first);
    const before = await checkoutOf(place);
    const ran = await place.skein("run", "x", "--agent", place.agent, ...ALONE);
    assert.equal(ran.code, 0, ran.out + ran.err);
    assert.match(ran.out, /^notice: HEAD is detached: the run starts from this commit/m);
    const target = `skein/${runOf(ran.out)}/target`;
    assert.equal(await git("ls-tree", "--name-only", target), "README.md\nt.txt");
    assert.deepEqual(await checkoutOf(place), before);
    const delivered = await place.skein("deliver", runOf(ran.out));
    assert.equal(delivered.code, 2, delivered.out + delivered.err);
    assert.match(delivered.err, /branch/);
    assert.deepEqual(await checkoutOf(place), before);
  });

  it(
    "uses what is committed of a dirty checkout, and leaves files, index and untracked files as they were",
    LIMIT,
    async () => {
      await using place = await makePlace({
        files: { "a.txt": "committed\n", "b.txt": "b\n", "gone.txt": "g\n", ".gitignore": "*.log\n" },
      });
      const { git, write } = place.repository;
      await write({ "a.txt": "staged\n", "new.txt": "intended\n" });
      await git("add", "a.txt");
      await git("add", "-N", "new.txt");
      await git("rm", "-q", "--cached", "b.txt");
      await write({
        "a.txt": "edited\n",
        "gone.txt": null,
        "untracked/x.txt": "mine\n",
        "x.log": "ignored\n",
      });
      // A git command with optional locks would write this file's new time into the index.
      await utimes(path.join(place.repository.folder, ".gitignore"), 1, 1);
      const before = await checkoutOf(place);
      const agent = await agentOf(place, "cat.sh", `ls > seen.txt; cat a.txt >> seen.txt; ${COMPLETE}`);
      const ran = await place.skein("run", "x", "--agent", agent, ...ALONE);
      assert.equal(ran.code, 0, ran.out + ran.err);
      assert.match(
        ran.out,
        /^notice: the checkout has 6 changes that are not committed: .* what is committed$/m,
      );
      const seen = await git("show", `skein/${runOf(ran.out)}/target:seen.txt`);
      assert.equal(seen, "a.txt\nb.txt\ngone.txt\nseen.txt\ncommitted");
      assert.deepEqual(await checkoutOf(place), before);
    },
  );

  it(
    "works where the path has spaces, quotes, letters of other alphabets and a sign that shells expand",
    LIMIT,
    async () => {
      await using place = await makePlace({
        name: `mein "Projekt" $HOME 日本 é's -x`,
        files: { "ä ö/ü 'q'.txt": "old\n" },
      });
      const state = path.join(place.folder, "stäte of 'things' $X");
      const { skein } = place.with({ env: { SKEIN_STATE_DIR: state } });
      const agent = await agentOf(
        place,
        "my agent's.sh",
        `echo new > "ä ö/ü 'q'.txt"; echo more > "日 本.txt"; ${COMPLETE}`,
      );
      const gate = "test -f 'ä ö'/* && case $PWD in *stäte*) ;; *) exit 1; esac";
      const ran = await skein(
        "run",
        "x",
        "--agent",
        JSON.stringify([agent]),
        "--planner",
        "none",
        "--gate",
        gate,
      );
      assert.equal(ran.code, 0, ran.out + ran.err);
      const run = runOf(ran.out);
      assert.equal(await place.repository.git("show", `skein/${run}/target:日 本.txt`), "more");
      assert.ok(ran.out.includes(path.join(state)), ran.out);
      const shown = await skein("show", run, "the goal");
      assert.match(shown.out, /Changed 2 files[^\n]*\n {2}ä ö\/ü 'q'\.txt\n {2}日 本\.txt/);
      const delivered = await skein("deliver", run, "--into-checkout");
      assert.equal(delivered.code, 0, delivered.err);
      assert.equal(await place.repository.git("status", "--porcelain"), "");
    },
  );

  it("works in a shallow clone, says so, and fetches nothing", LIMIT, async () => {
    await using place = await makePlace();
    await place.repository.commit({ "a.txt": "2\n" });
    await place.repository.commit({ "a.txt": "3\n" });
    const clone = path.join(place.folder, "shallow clone");
    await place.repository.git("clone", "-q", "--depth", "1", `file://${place.repository.folder}`, clone);
    const { git } = openRepository(clone);
    await git("remote", "set-url", "origin", "file:///nowhere");
    const { skein } = place.with({ folder: clone });
    const ran = await skein("run", "write two", "--agent", place.agent, "--gate", "test -f a.txt");
    assert.equal(ran.code, 0, ran.out + ran.err);
    assert.match(ran.out, /^notice: this is a shallow clone/m);
    assert.match(ran.out, /2 of 2 tasks done/);
    assert.equal(await git("rev-list", "--count", "HEAD"), "1");
    assert.equal(await git("rev-parse", "--is-shallow-repository"), "true");
    assert.equal((await skein("deliver", runOf(ran.out), "--into-checkout")).code, 0);
    assert.equal(await git("show", "HEAD:t.2.txt"), "made by t.2");
  });

  it("does not enter submodules, says so, and keeps them at their commit", LIMIT, async () => {
    await using inner = await makeRepository({ files: { "inner.txt": "inner\n" } });
    await using place = await makePlace();
    const { git, commit } = place.repository;
    await git("submodule", "--quiet", "add", inner.folder, "libs/inner");
    await commit({}, "with a submodule");
    const before = await checkoutOf(place);
    const agent = await agentOf(place, "look.sh", `ls -A libs/inner > seen.txt; ${COMPLETE}`);
    const ran = await place.skein("run", "x", "--agent", agent, ...ALONE);
    assert.equal(ran.code, 0, ran.out + ran.err);
    assert.match(ran.out, /^notice: there are submodules: they are not entered$/m);
    const target = `skein/${runOf(ran.out)}/target`;
    assert.equal(await git("show", `${target}:seen.txt`), "");
    assert.equal(await git("rev-parse", `${target}:libs/inner`), await inner.git("rev-parse", "HEAD"));
    assert.deepEqual(await checkoutOf(place), before);
    assert.equal((await place.skein("deliver", runOf(ran.out), "--into-checkout")).code, 0);
    assert.equal(await git("status", "--porcelain"), "");
  });

  it("takes two runs at the same time, each with its own target, lock and workspaces", LIMIT, async () => {
    await using place = await makePlace();
    const barrier = await makeBarrier(place.folder);
    const here = `'${place.folder}'/here-$SKEIN_RUN`;
    const agent = await agentOf(
      place,
      "meet.sh",
      `if [ $SKEIN_KIND = work ] && [ $SKEIN_TASK = t.1 ]; then : > ${here}; ${barrier.wait}; fi\nexec '${place.agent}'`,
    );
    const runs = [1, 2].map((n) =>
      place.start("run", `goal ${n}`, "--agent", agent, "--gate", "test -f README.md"),
    );
    await Promise.all(runs.map((run) => run.says("Worker started on one")));
    const listed = JSON.parse((await place.skein("status", "--json")).out).runs as {
      run: string;
      pid: number;
      state: string;
    }[];
    assert.deepEqual(listed.map(({ pid }) => pid).sort(), runs.map(({ pid }) => pid).sort());
    // Both runs are in the middle of a worker's turn; neither worker continues before the other has begun.
    await Promise.all(listed.map(({ run }) => appears(path.join(place.folder, `here-${run}`))));
    const stop = await place.skein("stop");
    assert.deepEqual([stop.code, /several runs are running/.test(stop.err)], [2, true], stop.err);
    await barrier.open();
    for (const ended of await Promise.all(runs.map((run) => run.ended))) {
      assert.equal(ended.code, 0, ended.out + ended.err);
      const target = `skein/${runOf(ended.out)}/target`;
      assert.equal(
        await place.repository.git("ls-tree", "--name-only", target),
        "README.md\nt.1.txt\nt.2.txt",
      );
      const log = await place.repository.git(
        "log",
        "--format=%(trailers:key=Skein-Run,valueonly,separator=%x2C)",
        `main..${target}`,
      );
      assert.deepEqual(
        [...new Set(log.split("\n"))].filter((name) => name !== ""),
        [runOf(ended.out)],
      );
    }
    assert.equal(
      (await place.skein("deliver", runOf((await runs[0]!.ended).out), "--into-checkout")).code,
      0,
    );
    // The base has moved by now: it is merged into the second run's target, where both changed the same files.
    const second = await place.skein("deliver", runOf((await runs[1]!.ended).out), "--into-checkout");
    assert.equal(second.code, 0, second.out + second.err);
  });

  it("works from a folder below the top, from a worktree, and in a bare repository", LIMIT, async () => {
    await using place = await makePlace({ files: { "sub/deep/a.txt": "a\n" } });
    const tree = path.join(place.folder, "work tree");
    await place.repository.git("worktree", "add", "-q", "-b", "other", tree);
    const bare = path.join(place.folder, "bare.git");
    await place.repository.git("clone", "-q", "--bare", ".", bare);
    const folders = [path.join(place.repository.folder, "sub/deep"), tree, bare];
    for (const folder of folders) {
      const ran = await place.with({ folder }).skein("run", "x", "--agent", place.agent, ...ALONE);
      assert.equal(ran.code, 0, folder + ran.out + ran.err);
      assert.match(ran.out, folder === bare ? /notice: this is a bare repository/ : /1 of 1 task done/);
      const base = folder === tree ? "other" : "main";
      assert.match(ran.out, new RegExp(`^base {4}${base} `, "m"));
    }
    const listed = JSON.parse((await place.skein("status", "--json")).out).runs;
    assert.equal(listed.length, 2, "the work trees of a repository share its runs");
    assert.equal(await place.repository.git("status", "--porcelain"), "");
  });
});
