/** Tests the command line's main way: runs, their exit codes, output, logs and errors. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import type { Event } from "../../src/core/log/event.ts";
import { makeRepository } from "../support/repositories.ts";
import { makeBarrier, makePlace, type Place } from "./cli-place.ts";

const runOf = (out: string): string => /^run {5}(\S+)$/m.exec(out)![1]!;
const eventsIn = (out: string) =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Event);
const errorIn = (err: string) => JSON.parse(err).error as { kind: string; message: string; exitCode: number };
const GATE = ["--gate", "test -f README.md"];

async function runs(place: Place) {
  const { out } = await place.skein("status", "--json");
  return JSON.parse(out).runs as { run: string; state: string; pid?: number; done: number; total: number }[];
}

test("a goal goes from run to status, show, logs and deliver, and the checkout is not touched before", async () => {
  await using place = await makePlace();
  const { repository, skein } = place;
  const before = await repository.git("rev-parse", "HEAD");
  await repository.write({ "dirty.txt": "mine\n" });

  const ran = await skein("run", "write two files", "--agent", place.agent, ...GATE);
  assert.equal(ran.code, 0, ran.out + ran.err);
  const run = runOf(ran.out);
  assert.match(ran.out, /^notice: the checkout has 1 change that is not committed/m);
  assert.match(ran.out, /^goal {4}write two files$/m);
  assert.match(ran.out, /^gate {4}configured: test -f README.md$/m);
  assert.match(ran.out, new RegExp(`^Run ${run} is done: 2 of 2 tasks done`, "m"));
  assert.match(ran.out, /^ {2}[0-9a-f]{10} {2}one {2}gate passed$/m);
  assert.ok(!ran.out.includes("\u001b"), "no escape sequences where there is no terminal");
  assert.equal(await repository.git("rev-parse", "HEAD"), before);
  assert.equal(await repository.git("status", "--porcelain"), "?? dirty.txt");

  const table = await skein("status");
  assert.match(table.out, new RegExp(`^${run} +done +2/2 +(?:just now|\\d+ s ago) +write two files$`, "m"));
  assert.match((await skein("status", run)).out, /^tasks {3}2 of 2 done$/m);
  assert.match((await skein("show", run)).out, /^ {2}one {2}t\.1 +done +write one$/m);
  const shown = await skein("show", run, "two");
  assert.match(shown.out, /Changed 1 file, \+1 −0\n {2}t\.2\.txt/);
  assert.match(shown.out, /^Landed as\n {2}[0-9a-f]{10}$/m);
  assert.match(shown.out, /transcripts\/work_t\.2_1/);
  const logs = await skein("logs", run, "--task", "one");
  assert.match(logs.out, /one landed as [0-9a-f]{10}/);
  assert.doesNotMatch(logs.out, /two/);

  const refused = await skein("deliver", run);
  assert.equal(refused.code, 1);
  assert.match(
    refused.err,
    /main is checked out in .*: nothing was changed\ntry: skein deliver .* --into-checkout/,
  );
  assert.equal(await repository.git("rev-parse", "HEAD"), before);
  await repository.write({ "README.md": "edited\n" });
  assert.match((await skein("deliver", run, "--into-checkout")).err, /changes that are not committed/);
  await repository.git("checkout", "README.md");
  const delivered = await skein("deliver", run, "--into-checkout");
  assert.equal(delivered.code, 0, delivered.err);
  assert.match(delivered.out, /^delivered: main went from/);
  assert.ok(existsSync(path.join(repository.folder, "t.1.txt")));
  assert.match((await skein("deliver")).out, /main has everything of run/);
});

test("every --json output is JSON, and of a run nothing but its events", async () => {
  await using place = await makePlace();
  const { skein } = place;
  await writeFile(path.join(place.repository.folder, "GOAL.md"), "# Write two files\n\nEach with a line.\n");
  const ran = await skein("run", "GOAL.md", "--agent", JSON.stringify([place.agent]), ...GATE, "--json");
  assert.equal(ran.code, 0, ran.err);
  const events = eventsIn(ran.out);
  const [first] = events;
  assert.ok(first?.type === "run.opened" && first.request.goal.includes("Each with a line."));
  assert.equal(events.at(-1)?.type, "run.closed");
  const { run } = first.request;
  assert.deepEqual(eventsIn((await skein("logs", run, "-f", "--json")).out), events);
  assert.deepEqual(
    await runs(place).then((all) => all.map(({ state, done, total }) => [state, done, total])),
    [["done", 2, 2]],
  );
  const status = JSON.parse((await skein("status", run, "--json")).out);
  assert.deepEqual([status.is, status.landings.length, status.left], ["done", 2, []]);
  const tree = JSON.parse((await skein("show", run, "--json")).out);
  assert.deepEqual(
    tree.tasks.map((row: { word: string }) => row.word),
    ["done", "done", "done"],
  );
  assert.equal(JSON.parse((await skein("show", run, "t.1", "--json")).out).spec.key, "one");
  assert.deepEqual(JSON.parse((await skein("salvage", "--json")).out), { entries: [] });
  assert.deepEqual(JSON.parse((await skein("stop", run, "--json")).out), { run, stopped: false });
  assert.deepEqual(JSON.parse((await skein("resume", run, "--json")).out), { run, closed: "done", left: [] });
  assert.equal(errorIn((await skein("deliver", run, "--json")).err).exitCode, 1);
  assert.match(errorIn((await skein("show", "nope", "--json")).err).message, /there is no run "nope"/);
});

test("after kill -9 resume goes on with what was durable, and ends what was left running", async () => {
  await using place = await makePlace({ work: "" });
  const barrier = await makeBarrier(place.folder);
  const agent = path.join(place.folder, "slow.sh");
  await writeFile(agent, `#!/bin/sh\n[ "$SKEIN_TASK" != t.2 ] || ${barrier.wait}\nexec '${place.agent}'\n`, {
    mode: 0o755,
  });
  const live = place.start("run", "write two files", "--agent", agent, ...GATE);
  await live.says("Worker started on two");
  live.kill("SIGKILL");
  await live.ended;
  const [stopped] = await runs(place);
  assert.deepEqual([stopped?.state, stopped?.done], ["stopped", 1]);
  assert.match((await place.skein("deliver", stopped!.run)).err, /is not closed, so only a part/);
  await barrier.open();
  const resumed = await place.skein("resume", "--workers", "1");
  assert.equal(resumed.code, 0, resumed.out + resumed.err);
  assert.match(resumed.out, /^resuming run \S+, 1 of 2 tasks done/m);
  assert.doesNotMatch(resumed.out, /Worker started on one/);
  assert.deepEqual(await runs(place).then(([run]) => [run?.state, run?.done]), ["done", 2]);
});

test("a run that goes on is refused to a second writer, shown as running, and stopped from elsewhere", async () => {
  await using place = await makePlace();
  const barrier = await makeBarrier(place.folder);
  const agent = path.join(place.folder, "slow.sh");
  await writeFile(agent, `#!/bin/sh\n${barrier.wait}\nexec '${place.agent}'\n`, { mode: 0o755 });
  const live = place.start("run", "write two files", "--agent", agent, "--planner", place.agent, ...GATE);
  await live.says("Worker started on one");
  const [going] = await runs(place);
  assert.equal(going?.pid, live.pid);
  const second = await place.skein("resume", going.run);
  assert.equal(second.code, 1);
  assert.match(second.err, new RegExp(`is running in process ${live.pid}; nothing was changed`));
  assert.match((await place.skein("deliver", going.run)).err, /is running in process/);

  const followed = place.start("logs", going.run, "-f");
  await followed.says("Worker started on one");
  followed.kill("SIGINT");
  assert.equal((await followed.ended).code, 0);

  const stopped = await place.skein("stop");
  assert.equal(stopped.code, 0, stopped.err);
  assert.match(
    stopped.out,
    new RegExp(`run ${going.run} has stopped. To continue: skein resume ${going.run}`),
  );
  const ended = await live.ended;
  assert.equal(ended.code, 130);
  assert.match(ended.out, /^stopping: finishing what is landing \(up to 10 s\)/m);
  assert.match(ended.out, new RegExp(`To continue: skein resume ${going.run}\n$`));
  assert.match((await place.skein("stop", going.run)).out, /is not running: there is nothing to stop/);
});

test("Ctrl-C twice stops a run at once, also in the middle of a landing", async () => {
  await using place = await makePlace();
  const barrier = await makeBarrier(place.folder);
  const gate = `test ! -f t.1.txt || ${barrier.wait}`;
  const outside = ["--set", "gateSandbox=off"]; // The gate's sandbox hides the barrier.
  const live = place.start("run", "write two files", "--agent", place.agent, "--gate", gate, ...outside);
  await live.says("Running the gate: one");
  live.kill("SIGINT");
  await live.says("Ctrl-C again to stop now");
  live.kill("SIGTERM");
  const ended = await live.ended;
  assert.equal(ended.code, 130);
  assert.match(ended.out, /^stopping now$/m);
  assert.match(ended.out, /To continue: skein resume/);
});

test("a run goes on when nobody reads its output any more", async () => {
  await using place = await makePlace();
  const live = place.start("run", "write two files", "--agent", place.agent, ...GATE);
  await live.says("Planning (turn");
  live.hangUp();
  assert.equal((await live.ended).code, 0);
  assert.deepEqual(await runs(place).then(([run]) => run?.state), "done");
});

test("a goal that cannot be reached ends with 1 and says what is left; what was made is kept", async () => {
  await using place = await makePlace({ work: 'echo half > "$SKEIN_TASK.txt"; exit 9' });
  const one = ["--set", "retry.maxFailed=1", "--set", "retry.first=1ms"];
  const ran = await place.skein("run", "write two files", "--agent", place.agent, "--gate", "none", ...one);
  assert.equal(ran.code, 1);
  assert.match(ran.out, /^gate {4}switched off: landings will not be gated$/m);
  assert.match(ran.out, /one failed: .*exit code 9/);
  assert.match(ran.out, /two was skipped: one did not land/);
  assert.doesNotMatch(ran.out, /^Unfinished$/m);
  const run = runOf(ran.out);
  const listed = await place.skein("salvage");
  assert.match(listed.out, new RegExp(`^${run}/t\\.1\\.1 `, "m"));
  const restored = await place.skein("salvage", "restore", `${run}/t.1.1`, "--branch", "again");
  assert.equal(restored.code, 0, restored.err);
  assert.equal(await place.repository.git("show", "again:t.1.txt"), "half");
  assert.equal((await place.skein("salvage", "drop", `${run}/t.1.1`)).code, 0);
  assert.match((await place.skein("salvage")).out, /There is no salvaged work\. `skein show/s);
  assert.equal((await place.skein("resume", run)).code, 1);
  assert.match((await place.skein("deliver", run)).err, /nothing has landed/);
});

test("a wrong configuration is refused with line and key, and nothing is changed", async () => {
  await using place = await makePlace();
  await place.repository.write({ "skein.yaml": "# ours\nworkers: many\n" });
  const refused = await place.skein("run", "x", "--agent", place.agent);
  assert.equal(refused.code, 3);
  assert.match(refused.err, /skein\.yaml:2:\d+: workers /);
  assert.match(JSON.stringify(errorIn((await place.skein("run", "x", "--json")).err)), /skein\.yaml:2/);
  assert.match(
    (await place.skein("run", "x", "--set", "wokers=3")).err,
    /--set: wokers is not a key.*workers/,
  );
  await place.repository.write({ "skein.yaml": "workers: 2\n", "skein.yml": "workers: 2\n" });
  const both = await place.skein("run", "x", "--agent", place.agent);
  assert.deepEqual([both.code, /there are both skein.yaml and skein.yml/.test(both.err)], [3, true]);
  assert.equal(existsSync(path.join(place.folder, "state")), false);
  assert.equal(await place.repository.git("for-each-ref", "refs/skein", "refs/heads/skein"), "");
});

test("what is missing is said with its own exit code", async () => {
  await using place = await makePlace();
  const { skein } = place;
  const answers = await Promise.all([
    skein("run", "x"),
    skein("run", "x", "--agent", "./no-such-agent"),
    skein("run", "x", "--script", "missing.json"),
    skein("run", "x", "--config", "none.yaml"),
    skein("run", "  ", "--agent", place.agent),
    skein("run", "missing.md", "--agent", place.agent),
    skein("run", "x", "--agent", place.agent, "--base", "nowhere"),
    skein("status", "nope"),
    skein("resume"),
    skein("salvage", "restore", "nope/t.1.1"),
    skein("salvage", "restor", "nope/t.1.1"),
  ]);
  const expected = [
    [4, /no agent is configured/],
    [4, /no-such-agent/],
    [3, /there is no script .*missing\.json\ntry: name an existing file/],
    [3, /^skein: there is no file none\.yaml\ntry: name an existing file, or leave out --config\n$/],
    [2, /the goal is empty/],
    [2, /there is no file missing\.md/],
    [3, /there is no commit "nowhere"/],
    [2, /there is no run "nope"/],
    [2, /there is no run to resume/],
    [2, /nothing is kept as nope/],
    [2, /skein salvage has no command 'restor' \(did you mean restore\?\)\ntry: skein salvage --help/],
  ] as const;
  for (const [i, [code, words]] of expected.entries()) {
    assert.equal(answers[i]!.code, code, answers[i]!.err);
    assert.match(answers[i]!.err, words);
    assert.equal(answers[i]!.out, "");
  }
});

test("a folder without a repository, and a repository without a commit, are refused", async () => {
  await using place = await makePlace();
  await using empty = await makeRepository();
  const outside = await mkdtemp(path.join(tmpdir(), "skein-none-"));
  await mkdir(path.join(outside, "folder"));
  const none = await place.skein("run", "x", "--agent", place.agent, "--repo", path.join(outside, "folder"));
  const bare = await place.skein("run", "x", "--agent", place.agent, "--repo", empty.folder);
  await rm(outside, { recursive: true });
  assert.deepEqual([none.code, bare.code], [3, 3]);
  assert.match(none.err, /is not in a git repository\ntry: /);
  assert.match(bare.err, /has no commit\ntry: /);
  assert.equal(existsSync(path.join(place.folder, "state")), false);
});
