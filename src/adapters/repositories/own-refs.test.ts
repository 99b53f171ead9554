/** Tests which refs belong to a run, which commits only it has, and that refs are removed only where they were seen. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRepository } from "../../../test/support/repositories.ts";
import { hasFailed } from "../../core/result.ts";
import { ownRefsIn } from "./own-refs.ts";

const NEVER = new AbortController().signal;
const OWNED = { run: "a", branches: "skein/a/" };

test("only the run's own names are its refs, and each is removed only where it was seen", async () => {
  await using repository = await makeRepository({ files: { "a.txt": "1\n" } });
  const { git, folder } = repository;
  const first = await git("rev-parse", "HEAD");
  const second = await repository.commit({ "a.txt": "2\n" }, "two");
  const own = [
    "refs/heads/skein/a/target",
    "refs/heads/skein/a/task/t.1.1-one",
    "refs/notes/skein/a",
    "refs/skein/held/a/base",
    "refs/skein/salvage/a/t.1.1",
  ];
  const others = [
    "refs/heads/skein/a/mine",
    "refs/heads/skein/ab/target",
    "refs/notes/skein/ab",
    "refs/skein/held/ab/base",
  ];
  for (const ref of [...own, ...others]) await git("update-ref", ref, first);
  const found = await ownRefsIn(folder).list(OWNED, NEVER);
  assert.ok(!hasFailed(found));
  assert.deepEqual(
    found.map(({ ref }) => ref),
    own,
  );
  await git("update-ref", "refs/heads/skein/a/target", second);
  assert.ok(await ownRefsIn(folder).remove(found, NEVER), "one has moved meanwhile");
  assert.equal(
    (await git("for-each-ref", "refs/heads/skein/a", "refs/notes/skein/a", "refs/skein")).split("\n").length,
    7,
  );
  const now = await ownRefsIn(folder).list(OWNED, NEVER);
  assert.ok(!hasFailed(now));
  assert.equal(await ownRefsIn(folder).remove(now, NEVER), undefined);
  const left = (
    await git("for-each-ref", "--format=%(refname)", "refs/heads/skein", "refs/notes", "refs/skein")
  ).split("\n");
  assert.deepEqual(left, others);
});

test("a commit that a branch, a tag or a remote of the user's has is not only the run's", async () => {
  await using repository = await makeRepository({ files: { "a.txt": "1\n" } });
  const { git, folder } = repository;
  const main = await git("rev-parse", "HEAD");
  await git("checkout", "-q", "-b", "skein/a/target");
  const one = await repository.commit({ "b.txt": "1\n" }, "one");
  const two = await repository.commit({ "c.txt": "1\n" }, "two");
  await git("checkout", "-q", "main");
  const only = async () =>
    [...((await ownRefsIn(folder).onlyIn(OWNED, [one, two], NEVER)) as ReadonlySet<string>)]
      .filter(Boolean)
      .sort();
  assert.deepEqual(await only(), [one, two].sort());
  await git("update-ref", "refs/skein/held/b/base", two);
  assert.deepEqual(await only(), [one, two].sort(), "what a run holds is let go");
  await git("tag", "v1", one);
  assert.deepEqual(await only(), [two]);
  await git("update-ref", "refs/remotes/origin/x", two);
  assert.deepEqual(await only(), []);
  assert.equal(await git("rev-parse", "main"), main);
});
