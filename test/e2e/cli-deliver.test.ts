/** Tests `skein deliver` and `--deliver`: what is moved, merged, gated or refused, and what is said about it. */
import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { makePlace, type Place } from "./cli-place.ts";

const GATE = ["--gate", "test -f README.md && ! grep -q broken README.md"];

async function done(place: Place, ...more: readonly string[]): Promise<string> {
  const ran = await place.skein("run", "write two files", "--agent", place.agent, ...GATE, "--json", ...more);
  assert.equal(ran.code, 0, ran.err);
  return JSON.parse(ran.out.split("\n")[0]!).request.run;
}

test("a branch that nobody has checked out is moved, and the checkout stays as it is", async () => {
  await using place = await makePlace();
  const { repository } = place;
  await repository.git("branch", "stable");
  await repository.git("checkout", "-q", "-b", "mine");
  const before = await repository.git("rev-parse", "stable");
  const run = await done(place, "--base", "stable", "--deliver");
  const target = await repository.git("rev-parse", `skein/${run}/target`);
  assert.equal(await repository.git("rev-parse", "stable"), target, "--deliver has done it");
  assert.equal(await repository.git("rev-parse", "mine"), before);
  assert.equal(await repository.git("status", "--porcelain"), "");
  const again = JSON.parse((await place.skein("deliver", run, "--json")).out);
  assert.deepEqual(again, { run, branch: "stable", is: "nothing-new", base: target });
});

test("what the branch got meanwhile is merged and gated first; red or in conflict, nothing is moved", async () => {
  await using place = await makePlace();
  const { repository, skein } = place;
  const run = await done(place);
  const base = await repository.git("rev-parse", "main");

  const broken = await repository.commit({ "README.md": "broken\n" }, "break it");
  const red = await skein("deliver", run, "--into-checkout");
  assert.equal(red.code, 1);
  assert.match(
    red.err,
    /main has moved meanwhile; together with what landed the gate fails: nothing was changed/,
  );
  assert.equal(await repository.git("rev-parse", "main"), broken);

  await repository.git("reset", "-q", "--hard", base);
  await repository.commit({ "t.1.txt": "another\n" }, "the same file, otherwise");
  const conflict = await skein("deliver", run, "--into-checkout");
  assert.equal(conflict.code, 1);
  assert.match(conflict.err, /conflicts with what landed: nothing was changed\n {2}t\.1\.txt\n/);

  await repository.git("reset", "-q", "--hard", base);
  const own = await repository.commit({ "mine.txt": "mine\n" }, "something of my own");
  const delivered = await skein("deliver", run, "--into-checkout");
  assert.equal(delivered.code, 0, delivered.err);
  assert.equal(await repository.git("merge-base", "main", own), own, "my commit is still there");
  assert.equal(await repository.git("ls-files"), "README.md\nmine.txt\nt.1.txt\nt.2.txt");
  assert.equal(await repository.git("status", "--porcelain"), "");
});

test("a run that is done says how it is delivered to a branch that is checked out", async () => {
  await using place = await makePlace();
  const run = await done(place);
  for (const verb of ["status", "resume"])
    assert.match(
      (await place.skein(verb, run)).out,
      new RegExp(`^next: skein deliver ${run} --into-checkout$`, "m"),
    );
  await place.repository.git("checkout", "-q", "-b", "mine");
  assert.match((await place.skein("status", run)).out, new RegExp(`^next: skein deliver ${run}$`, "m"));
});

test("a run that started from a detached HEAD is delivered to the branch that is named", async () => {
  await using place = await makePlace();
  const { repository, skein } = place;
  await repository.git("checkout", "-q", "--detach");
  const run = await done(place);
  const unnamed = await skein("deliver", run);
  assert.equal(unnamed.code, 2);
  assert.match(unnamed.err, /did not start from a branch\ntry: name one: skein deliver .* --branch <name>/);
  assert.equal((await skein("deliver", run, "--branch", "main")).code, 0);
  assert.equal(
    await repository.git("rev-parse", "main"),
    await repository.git("rev-parse", `skein/${run}/target`),
  );
  const unknown = await skein("deliver", run, "--branch", "feature");
  assert.equal(unknown.code, 1);
  assert.match(unknown.err, /the branch feature is not there\ntry: name an existing branch \(`git branch`/);
  const nowhere = await skein("deliver", run, "--branch", "--force");
  assert.notEqual(nowhere.code, 0);
});

test("--deliver that would be refused at the end is refused at the start, and says what to add", async () => {
  await using place = await makePlace();
  const { repository, skein } = place;
  const args = ["run", "write two files", "--agent", place.agent, ...GATE, "--deliver"];
  const refused = await skein(...args);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /main is checked out in .*refused at the end\ntry: add --into-checkout/);
  assert.equal(await repository.git("for-each-ref", "refs/heads/skein"), "", "nothing was started");
  await repository.git("checkout", "-q", "--detach");
  const nowhere = await skein(...args);
  assert.deepEqual([nowhere.code, /would not start from a branch/.test(nowhere.err)], [2, true]);
  await repository.git("checkout", "-q", "main");
  const delivered = await place.skein(...args, "--into-checkout");
  assert.equal(delivered.code, 0, delivered.err);
  assert.match(delivered.out, /deliver \S+ --into-checkout {2}# merge it into your branch\n/);
  assert.equal(await repository.git("ls-files"), "README.md\nt.1.txt\nt.2.txt");
});

test("what is offered instead of a refused delivery asks for the same again", async () => {
  await using place = await makePlace({ work: '[ "$SKEIN_TASK" = t.1 ] || exit 9' });
  const once = ["--set", "retry.maxFailed=1"];
  const ran = await place.skein("run", "two", "--agent", place.agent, ...GATE, ...once, "--json");
  assert.equal(ran.code, 1);
  const { run } = JSON.parse(ran.out.split("\n")[0]!).request;
  assert.match(
    (await place.skein("deliver", run)).err,
    /gated: skein deliver \S+ --partial --into-checkout\n$/,
  );
  assert.match(
    (await place.skein("status", run)).out,
    /delivered: skein deliver \S+ --partial --into-checkout\n$/,
  );
  const refused = await place.skein("deliver", run, "--partial");
  assert.match(refused.err, /try: skein deliver \S+ --partial --into-checkout,/);
  assert.equal((await place.skein("deliver", run, "--partial", "--into-checkout")).code, 0);
});

test("a delivery that is refused for the checkout has not merged anything before", async () => {
  await using place = await makePlace();
  const { repository, skein } = place;
  const run = await done(place);
  await repository.commit({ "mine.txt": "mine\n" }, "something of my own");
  const before = await repository.git("for-each-ref");
  const unasked = await skein("deliver", run);
  assert.equal(unasked.code, 1);
  assert.match(unasked.err, /main is checked out in .*: nothing was changed\n/);
  assert.equal(await repository.git("for-each-ref"), before, "not asked for");
  await repository.write({ "README.md": "# not committed\n" });
  const dirty = await skein("deliver", run, "--into-checkout");
  assert.equal(dirty.code, 1);
  assert.match(dirty.err, /has changes that are not committed/);
  assert.equal(await repository.git("for-each-ref"), before, "not clean");
});

test("where there is no gate, a delivery does not say that anything passed it", async () => {
  await using place = await makePlace();
  const ran = await place.skein("run", "two", "--agent", place.agent, "--gate", "none", "--json");
  assert.equal(ran.code, 0, ran.err);
  await place.repository.commit({ "mine.txt": "mine\n" }, "something of my own");
  const { out, err } = await place.skein("deliver", "--into-checkout");
  assert.match(out, /^main had moved: it was merged into the target; there is no gate; delivered: main/, err);
});

test("without a name the newest run is delivered of which the branch has not everything", async () => {
  await using place = await makePlace({ work: '[ ! -e "$HOME/idle" ] || exit 9' });
  const { repository, skein } = place;
  const once = ["--set", "retry.maxFailed=1", "--json"];
  const older = await done(place);
  await writeFile(path.join(place.folder, "home", "idle"), "");
  const idle = await place.skein("run", "nothing", "--agent", place.agent, ...GATE, ...once);
  assert.equal(idle.code, 1, "nothing landed in the newest");
  const delivered = JSON.parse((await skein("deliver", "--into-checkout", "--json")).out);
  assert.deepEqual([delivered.run, delivered.is], [older, "delivered"]);

  await rm(path.join(place.folder, "home", "idle"));
  await repository.git("branch", "stable", delivered.from);
  const newer = await done(place, "--base", "stable", "--deliver");
  assert.notEqual(newer, older);
  await repository.git("reset", "-q", "--hard", delivered.from);
  const again = JSON.parse((await skein("deliver", "--into-checkout", "--json")).out);
  assert.deepEqual([again.run, again.is], [older, "delivered"], "the newest was delivered already");
  assert.match((await skein("deliver", "--into-checkout")).out, /stable has everything of run/);
});
