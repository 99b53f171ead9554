/** Tests that the branches of a closed run are removed, and that work which never landed is kept as salvage. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRepository } from "../../../test/support/repositories.ts";
import { retireBranches } from "./retire.ts";

/** Makes a closed run "a" with attempts that were handed in, each as a branch and the ref that holds it. */
async function closedRun() {
  const repository = await makeRepository({ files: { "a.txt": "1\n" } });
  const { git, folder } = repository;
  const base = await git("rev-parse", "HEAD");
  const made = async (name: string, text: string) => {
    await git("checkout", "-q", "--detach", base);
    const commit = await repository.commit({ "b.txt": text }, name);
    await git("update-ref", `refs/heads/skein/a/task/${name}`, commit);
    await git("update-ref", `refs/skein/held/a/kept/${name}`, commit);
    await git("checkout", "-q", "main");
    return commit;
  };
  const refs = async () =>
    Object.fromEntries(
      (
        await git(
          "for-each-ref",
          "--format=%(refname) %(objectname)",
          "refs/heads/skein",
          "refs/skein/salvage",
        )
      )
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => line.replace("refs/", "").split(" ") as [string, string]),
    );
  const retire = (landed: readonly string[] = []) =>
    retireBranches({ top: folder, gitDir: `${folder}/.git`, run: "a", target: "skein/a/target", landed });
  return {
    ...{ ...repository, base, made, refs, retire },
    [Symbol.asyncDispose]: () => repository[Symbol.asyncDispose](),
  };
}

test("the branches of a closed run go, and only what never landed is kept, as salvage", async () => {
  await using run = await closedRun();
  const refused = await run.made("t.1.1-words", "refused\n");
  const merged = await run.made("t.1.2-words", "merged\n");
  const replayed = await run.made("t.2.1.1-more", "replayed\n");
  await run.git("update-ref", "refs/heads/skein/a/target", merged);
  assert.equal(await run.retire([replayed]), undefined);
  const expected = { "heads/skein/a/target": merged, "skein/salvage/a/t.1.1": refused };
  assert.deepEqual(await run.refs(), expected);
  assert.equal(await run.retire([replayed]), undefined);
  assert.deepEqual(await run.refs(), expected, "twice is once");
});

test("a branch of the user's, one that has moved and one that is checked out stay as they are", async () => {
  await using run = await closedRun();
  const { git } = run;
  await run.made("t.1.1-words", "one\n");
  const moved = await run.made("t.2.1-words", "two\n");
  const used = await run.made("t.3.1-words", "three\n");
  await git("update-ref", "refs/heads/skein/a/target", run.base);
  await git("update-ref", "refs/heads/skein/a/task/t.2.1-words", run.base);
  await git("update-ref", "refs/heads/skein/a/task/mine", run.base);
  await git("update-ref", "refs/heads/skein/a/task/t.9.1-mine", used);
  await git("checkout", "-q", "skein/a/task/t.3.1-words");
  assert.equal(await run.retire(), undefined);
  const refs = await run.refs();
  assert.deepEqual(Object.keys(refs), [
    "heads/skein/a/target",
    "heads/skein/a/task/mine",
    "heads/skein/a/task/t.2.1-words",
    "heads/skein/a/task/t.3.1-words",
    "heads/skein/a/task/t.9.1-mine",
    "skein/salvage/a/t.1.1",
    "skein/salvage/a/t.2.1",
  ]);
  assert.equal(refs["heads/skein/a/task/t.2.1-words"], run.base);
  assert.equal(
    refs["skein/salvage/a/t.2.1"],
    moved,
    "what was handed in is kept beside the branch that moved",
  );
});

test("what a kill left half done is finished, and no other work loses its salvage entry", async () => {
  await using run = await closedRun();
  const { git } = run;
  const saved = await run.made("t.1.1-words", "saved before the kill\n");
  await git("update-ref", "refs/skein/salvage/a/t.1.1", saved);
  const removed = await run.made("t.2.1-words", "its branch was removed by hand\n");
  await git("update-ref", "-d", "refs/heads/skein/a/task/t.2.1-words");
  const both = await run.made("t.3.1-words", "handed in\n");
  await git("update-ref", "refs/skein/salvage/a/t.3.1", run.base);
  assert.equal(await run.retire(), undefined); // Without a target, as if a person had deleted it.
  assert.deepEqual(await run.refs(), {
    "skein/salvage/a/t.1.1": saved,
    "skein/salvage/a/t.2.1": removed,
    "skein/salvage/a/t.3.1": run.base,
    "skein/salvage/a/t.3.1-words": both,
  });
});
