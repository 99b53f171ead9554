/** Tests `skein remove` of a single run: what goes, what stays, and what is refused or asked first. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { createLogFile } from "../../src/adapters/event-logs/sqlite-file.ts";
import { lockRun } from "../../src/adapters/runs/run-lock.ts";
import { hasFailed } from "../../src/core/result.ts";
import { remove } from "../../src/surfaces/cli/acts/remove.ts";
import { processInput } from "../../src/surfaces/cli/input.ts";
import { makePlace, type Place } from "./cli-place.ts";
import { appears } from "./odd-place.ts";

const GATE = ["--gate", "test -f README.md"];

async function done(place: Place): Promise<string> {
  const ran = await place.skein("run", "write two files", "--agent", place.agent, ...GATE, "--json");
  assert.equal(ran.code, 0, ran.err);
  return JSON.parse(ran.out.split("\n")[0]!).request.run;
}

/** The refs of a run, without its notes. */
const refsOf = async ({ repository }: Place) =>
  (await repository.git("for-each-ref", "--format=%(refname)", "refs/heads/skein", "refs/skein"))
    .split("\n")
    .filter((ref) => ref !== "");

const runsIn = async ({ state }: Place): Promise<readonly string[]> => {
  const [repository = ""] = await readdir(state);
  return readdir(path.join(state, repository, "runs"));
};

/** Answers as a person at a terminal who types one line. */
async function typed(place: Place, run: string, line: string, meanwhile = async () => {}) {
  const written = { out: "", err: "" };
  const sink = (name: "out" | "err") => ({
    hasColours: false,
    size: () => ({ columns: 80, rows: 24 }),
    write: (text: string) => {
      written[name] += text;
    },
  });
  const context = {
    out: sink("out"),
    err: sink("err"),
    json: false,
    env: { SKEIN_STATE_DIR: place.state, HOME: place.folder },
    folder: place.repository.folder,
    command: "skein",
    now: Date.now,
    input: processInput,
  };
  const input = {
    isTerminal: true,
    line: async () => {
      await meanwhile();
      return line;
    },
    all: async () => Buffer.alloc(0),
    close: async () => {},
  };
  return { code: await remove(context, { run }, () => input), ...written };
}

test("a run that was delivered is removed with its branches and its state; the proofs and everything else stay", async () => {
  await using place = await makePlace();
  const { repository } = place;
  const run = await done(place);
  const other = await done(place);
  const delivered = await place.skein("deliver", run, "--into-checkout");
  assert.equal(delivered.code, 0, delivered.err);
  await repository.git("branch", `skein/${run}/mine`);
  const unasked = await place.skein("remove", run);
  assert.equal(unasked.code, 2);
  assert.match(
    unasked.err,
    new RegExp(`^skein: there is no terminal .*\\ntry: skein remove ${run} --yes\\n$`),
  );
  const before = await refsOf(place);
  const removed = await place.skein("remove", run, "--yes");
  assert.equal(removed.code, 0, removed.err);
  assert.equal(
    removed.out,
    `run ${run} is removed\nrefs/notes/skein/${run} stays: it has the proofs of what was delivered\n`,
  );
  const own = (ref: string) => ref.startsWith(`refs/heads/skein/${run}/t`);
  assert.deepEqual(
    await refsOf(place),
    before.filter((ref) => !own(ref)),
    "a branch of the user's own stays",
  );
  assert.deepEqual(await runsIn(place), [other]);
  assert.match(await repository.git("log", "-1", `--notes=skein/${run}`), /"proof": ?"green"/);
  assert.equal((await place.skein("show", run)).code, 2);
  assert.equal((await place.skein("show", other)).code, 0);
  const again = await place.skein("remove", run, "--yes");
  assert.deepEqual([again.code, /there is no run/.test(again.err)], [2, true]);
});

test("what landed and was never delivered is named, and takes more than a yes", async () => {
  await using place = await makePlace();
  const run = await done(place);
  const before = await refsOf(place);
  const refused = await place.skein("remove", run, "--yes");
  assert.equal(refused.code, 1);
  assert.match(
    refused.err,
    new RegExp(
      `was never delivered, and would be lost: nothing was removed\\n {2}landed, and on no branch or tag of yours \\(2\\):\\n` +
        ` {4}[0-9a-f]{10} {2}one\\n {4}[0-9a-f]{10} {2}two\\ntry: skein deliver ${run} --into-checkout; or lose it: ` +
        `skein remove ${run} --yes --undelivered\\n$`,
    ),
  );
  const json = JSON.parse((await place.skein("remove", run, "--yes", "--json")).err);
  assert.equal(json.error.kind, "undelivered");
  for (const line of ["y", "yes", ""]) {
    const asked = await typed(place, run, line);
    assert.equal(asked.code, 1);
    assert.match(
      asked.err,
      /never delivered\. To lose it, type the name of the run: skein: nothing was removed\n$/,
    );
    assert.match(asked.out, /landed, and on no branch or tag of yours \(2\):/);
  }
  assert.deepEqual(await refsOf(place), before);
  const removed = await typed(place, run, run);
  assert.equal(removed.code, 0, removed.err);
  const commit = /^ {2}([0-9a-f]{10}) {2}two$/m.exec(removed.out)?.[1] ?? "";
  assert.match(
    await place.repository.git("cat-file", "-t", commit),
    /commit/,
    "it can be brought back for a while",
  );
  assert.equal(
    await place.repository.git("for-each-ref", "refs/heads/skein", "refs/skein", "refs/notes"),
    "",
  );
  assert.deepEqual(await runsIn(place), []);
});

test("a run that is not over is refused; cancelled, it goes after a yes, and its kept work is named", async () => {
  // The worker waits on the pipe until it is killed.
  const work = 'echo half > "$SKEIN_TASK.txt"; mkfifo "$HOME/pipe"; cat < "$HOME/pipe"';
  await using place = await makePlace({ work });
  const live = place.start("run", "write two files", "--agent", place.agent, ...GATE);
  await appears(path.join(place.folder, "home", "pipe"));
  const { runs } = JSON.parse((await place.skein("status", "--json")).out);
  const { run } = runs[0];
  const going = await place.skein("remove", run, "--yes", "--undelivered");
  assert.deepEqual(
    [going.code, /is running in process \d+: nothing was removed\ntry: skein cancel/.test(going.err)],
    [1, true],
    going.err,
  );
  live.kill("SIGKILL");
  await live.ended;
  const open = await place.skein("remove", run, "--yes");
  assert.deepEqual(
    [open.code, /is only stopped, not closed: nothing was removed\ntry: skein cancel/.test(open.err)],
    [1, true],
    open.err,
  );
  assert.equal((await place.skein("cancel", run)).code, 0);
  const declined = await typed(place, run, "n");
  assert.deepEqual(
    [declined.code, /Remove run \S+ for good\? \[y\/N\] skein: nothing was removed/.test(declined.err)],
    [1, true],
  );
  assert.match(
    declined.out,
    new RegExp(`kept work that never landed \\(1\\):\\n +[0-9a-f]{10} +${run}/t\\.1\\.1 `),
  );
  const removed = JSON.parse((await place.skein("remove", run, "--yes", "--json")).out);
  assert.deepEqual([removed.run, removed.stays, removed.undelivered], [run, [], []]);
  assert.equal(removed.unlanded[0].what.startsWith(`${run}/t.1.1 `), true);
  assert.ok(removed.removed.includes(`refs/skein/salvage/${run}/t.1.1`));
  assert.deepEqual([await refsOf(place), await runsIn(place)], [[], []]);
});

test("a branch that is checked out is never removed, and then nothing else is", async () => {
  await using place = await makePlace();
  const run = await done(place);
  await place.repository.git("checkout", "-q", `skein/${run}/target`);
  const before = await refsOf(place);
  const refused = await place.skein("remove", run, "--yes", "--undelivered");
  assert.equal(refused.code, 1);
  assert.match(
    refused.err,
    new RegExp(
      `^skein: skein/${run}/target is checked out in .*: nothing was removed\\ntry: check out another`,
    ),
  );
  assert.deepEqual([await refsOf(place), await runsIn(place)], [before, [run]]);
});

test("a removal that was killed half way is finished by another", async () => {
  await using place = await makePlace();
  const run = await done(place);
  // State after a kill in the middle of removing refs: some of them are gone.
  await place.repository.git("update-ref", "-d", `refs/heads/skein/${run}/target`);
  const refused = await place.skein("remove", run, "--yes");
  assert.match(refused.err, /landed, and on no branch or tag of yours \(2\)/, "also without the target");
  assert.equal((await place.skein("remove", run, "--yes", "--undelivered")).code, 0);
  assert.deepEqual(await runsIn(place), []);
  // State after a kill in the middle of removing the run's folder: half of it is put aside, and no command lists it as
  // a run.
  const [repository = ""] = await readdir(place.state);
  const aside = path.join(place.state, repository, "runs", `.removed-${run}`);
  await mkdir(path.join(aside, "workspaces"), { recursive: true });
  await writeFile(path.join(aside, "events.db"), "");
  assert.match((await place.skein("status")).out, /There are no runs in this repository yet/);
  const again = await place.skein("remove", run);
  assert.deepEqual([again.code, again.out, existsSync(aside)], [0, `run ${run} is removed\n`, false]);
});

test("a run that never began is removed without being cancelled", async () => {
  await using place = await makePlace();
  const run = await done(place);
  const [repository = ""] = await readdir(place.state);
  const home = path.join(place.state, repository, "runs", run);
  // Some of these files do not exist.
  for (const name of ["events.db", "events.db-wal", "events.db-shm", "jobs"])
    await rename(path.join(home, name), path.join(place.folder, name)).catch(() => {});
  await createLogFile(path.join(home, "events.db"));
  const cancelled = await place.skein("cancel", run);
  assert.deepEqual(
    [cancelled.code, /has not begun: there is nothing to cancel\ntry: skein remove/.test(cancelled.err)],
    [1, true],
    cancelled.err,
  );
  assert.equal((await place.skein("remove", run, "--yes")).code, 0);
  assert.deepEqual(await runsIn(place), []);
});

test("a run that another process removes meanwhile is gone, or is said to be in its hands", async () => {
  await using place = await makePlace();
  const run = await done(place);
  const other = await typed(place, run, run, async () => {
    const first = await place.skein("remove", run, "--yes", "--undelivered");
    assert.equal(first.code, 0, first.err);
  });
  assert.deepEqual(
    [other.code, other.out.split("\n").at(-2)],
    [0, `another process has removed run ${run} meanwhile`],
    other.err,
  );
  const held = await done(place);
  const [repository = ""] = await readdir(place.state);
  const lock = await lockRun(held, path.join(place.state, repository, "runs", held));
  assert.ok(!hasFailed(lock));
  const second = await place.skein("remove", held, "--yes", "--undelivered");
  await lock.release();
  assert.equal(second.code, 1);
  assert.match(second.err, /is closed, and process \d+ is removing or ending it\ntry: wait until/);
});
