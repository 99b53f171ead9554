/** Tests that salvaged work is listed, restored to a new branch, and dropped only as it was listed. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { failed, got, quiet } from "../../../test/contracts/repository.ts";
import { makeRepository } from "../../../test/support/repositories.ts";
import { salvageIn } from "./salvage.ts";

async function salvagedWorld() {
  const at = await makeRepository({ files: { "a.txt": "a\n" } });
  const commit = await at.branch("work", { "b.txt": "unfinished\n" }, { message: "Half of it: änd more" });
  await at.git("update-ref", "refs/skein/salvage/r1/t.2.1.3", commit);
  await at.git("update-ref", "refs/skein/salvage/r1/odd", commit);
  await at.git("branch", "-D", "work");
  return { ...at, commit };
}

it("salvage lists what was kept, with run, task and attempt", async () => {
  await using at = await salvagedWorld();
  const listed = got(await salvageIn(at.folder).list(quiet)).toSorted((a, b) => (a.ref < b.ref ? 1 : -1));
  const seconds = Number(await at.git("log", "-1", "--format=%ct", at.commit));
  const kept = { run: "r1", commit: at.commit, atMs: seconds * 1000, subject: "Half of it: änd more" };
  assert.deepEqual(listed, [
    { ref: "refs/skein/salvage/r1/t.2.1.3", task: "t.2.1", attempt: 3, ...kept },
    { ref: "refs/skein/salvage/r1/odd", task: "odd", ...kept },
  ]);
});

it("salvage restores to a new branch only, and leaves the checkout alone", async () => {
  await using at = await salvagedWorld();
  const entry = got(await salvageIn(at.folder).list(quiet))[0]!;
  assert.deepEqual(await salvageIn(at.folder).restore(entry, "back", quiet), { is: "created" });
  assert.equal(await at.git("rev-parse", "back"), at.commit);
  assert.match(failed(await salvageIn(at.folder).restore(entry, "main", quiet)), /exists already/);
  assert.match(failed(await salvageIn(at.folder).restore(entry, "--force", quiet)), /no name of a branch/);
  assert.equal(await at.git("status", "--porcelain"), "");
  assert.equal(await at.git("symbolic-ref", "HEAD"), "refs/heads/main");
});

it("salvage drops only what was listed, as it was listed", async () => {
  await using at = await salvagedWorld();
  const ref = "refs/skein/salvage/r1/t.2.1.3";
  const head = await at.git("rev-parse", "HEAD");
  assert.ok(failed(await salvageIn(at.folder).drop({ ref, commit: head }, quiet)));
  const main = { ref: "refs/heads/main", commit: head };
  assert.match(failed(await salvageIn(at.folder).drop(main, quiet)), /not a salvage ref/);
  assert.deepEqual(await salvageIn(at.folder).drop({ ref, commit: at.commit }, quiet), { is: "dropped" });
  assert.deepEqual(
    got(await salvageIn(at.folder).list(quiet)).map((entry) => entry.task),
    ["odd"],
  );
});
