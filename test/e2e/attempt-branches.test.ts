/** Tests which branches and refs of failed attempts are left when a run is closed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makePlace, type Place } from "./cli-place.ts";

/** The first attempt of every task writes what the gate refuses; later attempts do not. */
const WORK = `if ! test -e "$HOME/tried-$SKEIN_TASK"; then
touch "$HOME/tried-$SKEIN_TASK"; echo broken > "$SKEIN_TASK.txt"
echo '{"status":"complete","summary":"tried it","concerns":[]}'; exit 0; fi`;
const GATE = ["--gate", "test -f README.md && ! grep -q broken *.txt"];

async function closed(place: Place, ...more: readonly string[]): Promise<string> {
  const ran = await place.skein("run", "write two files", "--agent", place.agent, ...GATE, "--json", ...more);
  assert.equal(ran.code, 0, ran.err + ran.out);
  return JSON.parse(ran.out.split("\n")[0]!).request.run;
}

const refsOf = async ({ repository }: Place) =>
  (
    await repository.git(
      "for-each-ref",
      "--format=%(refname)",
      "refs/heads/skein",
      "refs/skein",
      "refs/notes",
    )
  )
    .split("\n")
    .filter((ref) => ref !== "");

test("a closed run leaves its target, its proofs, and what never landed; its failed attempts can still be read", async () => {
  await using place = await makePlace({ work: WORK });
  const run = await closed(place);
  const left = [
    `refs/heads/skein/${run}/target`,
    `refs/notes/skein/${run}`,
    `refs/skein/salvage/${run}/t.1.1`,
    `refs/skein/salvage/${run}/t.2.1`,
  ];
  assert.deepEqual(await refsOf(place), left);
  const diff = await place.skein("show", run, "t.1", "--diff");
  assert.match(diff.out, new RegExp(`refs/skein/salvage/${run}/t\\.1\\.1`));
  assert.match(diff.out, /^\+broken$/m);
  assert.match((await place.skein("salvage")).out, new RegExp(`${run}/t\\.1\\.1`));
  const restored = await place.skein("salvage", "restore", `${run}/t.1.1`, "--branch", "again");
  assert.equal(restored.code, 0, restored.err);
  assert.equal(await place.repository.git("show", "again:t.1.txt"), "broken");

  // An engine that was killed in its last steps leaves the attempt's branch and the ref that holds it.
  const commit = await place.repository.git("rev-parse", "again");
  await place.repository.git("update-ref", `refs/heads/skein/${run}/task/t.1.1-x`, commit);
  await place.repository.git("update-ref", `refs/skein/held/${run}/kept/t.1.1-x`, commit);
  assert.equal((await place.skein("resume", run)).code, 0);
  assert.deepEqual(await refsOf(place), left);
});

test("with keepBranches, the branches of attempts stay", async () => {
  await using place = await makePlace({ work: WORK });
  const run = await closed(place, "--set", "keepBranches=true");
  const left = (await refsOf(place)).map((ref) => ref.replace(/-write-\w+$/, ""));
  assert.deepEqual(left, [
    `refs/heads/skein/${run}/target`,
    ...["t.1.1", "t.1.2", "t.2.1", "t.2.2"].map((name) => `refs/heads/skein/${run}/task/${name}`),
    `refs/notes/skein/${run}`,
  ]);
});
