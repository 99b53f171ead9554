/** Tests `skein show`: why the gate refused a task, why attempts failed, and a base that is red. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { test } from "node:test";
import { makePlace } from "./cli-place.ts";

type GateRunShown = {
  readonly job: string;
  readonly green?: boolean;
  readonly text: { readonly is: string };
};

const QUICK = ["--set", "retry.first=1ms", "--set", "retry.max=1ms"];

test("of a task that the gate refused, show gives the reason, the gate's transcripts and how the gate ended", async () => {
  await using place = await makePlace();
  const gate = "test ! -f t.1.txt || { seq 100 130; echo the sum is wrong; exit 1; }";
  const args = ["--gate", gate, "--set", "retry.maxRefused=1", "--set", "retry.maxFailed=2", ...QUICK];
  const ran = await place.skein("run", "write two files", "--agent", place.agent, ...args);
  assert.equal(ran.code, 1, ran.err);
  const [, run = ""] = /^run {5}(\S+)$/m.exec(ran.out)!;
  const tree = (await place.skein("show", run)).out;
  assert.match(tree, new RegExp(`^run ${run}, failed: 0 of 2 tasks done\n`));
  assert.match(tree, /^the goal +failed .*\n {4}failed: because one failed$/m);
  assert.match(tree, /^ {2}one {2}t\.1 +failed, 2 attempts +write one\n {6}failed: breaks the gate/m);
  assert.match(tree, /^ {2}two {2}t\.2 +skipped +write two\n {6}skipped: one did not land$/m);
  const shown = (await place.skein("show", run, "one")).out;
  const [, gates = ""] = shown.split("\nGate output\n");
  assert.match(gates, /^ {2}\S+\/transcripts\/land_1-\S+\.log\n {2}\S+\/transcripts\/land_2-/);
  const [, end = ""] = shown.split("\nWhat failed in the gate of attempt 2\n");
  assert.match(end, /^ {2}130\n {2}the sum is wrong$/m);
  assert.doesNotMatch(end, /^ {2}105$/m, "only the end of it");
  assert.doesNotMatch(ran.out + tree + shown, /make the gate pass/, "said to the worker, not to people");

  const failing = (await place.skein("show", run, "one", "--gates")).out;
  assert.match(failing, / failed in [\d.]+ s: gate for one, land#1\n(?: .*\n)* {2}the sum is wrong\n/);
  assert.match(failing, / failed in [\d.]+ s: gate for one \(attempt 2\), land#3/);
  assert.doesNotMatch(failing, /^ {2}105$/m, "only what matters");
  const whole = (await place.skein("show", run, "one", "--gates", "--attempt", "2", "--whole")).out;
  assert.match(whole, /^ {2}100\n(?: {2}1\d\d\n)* {2}the sum is wrong\n {2}\[exit code 1\]\n/m);
  assert.doesNotMatch(whole, /land#1$/m);
  const all = JSON.parse((await place.skein("show", run, "--gates", "--json")).out);
  const seen = all.gateRuns.map((one: GateRunShown) => [one.job, one.green, one.text.is]);
  for (const job of ["land#1", "land#2"])
    assert.deepEqual(
      seen.find(([of]: readonly string[]) => of === job),
      [job, false, "kept"],
    );
  const diffs = (await place.skein("show", run, "one", "--diff")).out;
  assert.match(diffs, /^attempt 1: .*\n {2}refs\/\S+\/t\.1\.1\S*\n(?:.*\n)*?\+\+\+ b\/t\.1\.txt\n/m);
  assert.match(diffs, /^attempt 2: /m);
  const wrong = await place.skein("show", run, "--diff");
  assert.deepEqual([wrong.code, /about a task/.test(wrong.err)], [2, true]);
});

test("of a task that a gate refused once, show has how that gate ended, whatever came after it", async () => {
  await using place = await makePlace({ work: '[ "$SKEIN_ATTEMPT" = 1 ] || exit 9' });
  const gate = "test ! -f t.1.txt || { echo the sum is wrong; exit 1; }";
  const args = ["--gate", gate, "--set", "retry.maxRefused=1", "--set", "retry.maxFailed=1", ...QUICK];
  const ran = await place.skein("run", "write two files", "--agent", place.agent, ...args);
  assert.equal(ran.code, 1, ran.err);
  const [, run = ""] = /^run {5}(\S+)$/m.exec(ran.out)!;
  const [, end = ""] = (await place.skein("show", run, "one")).out.split(
    "\nWhat failed in the gate of attempt 1\n",
  );
  assert.match(end, /^ {2}the sum is wrong$/m);
});

test("of a task whose only attempt a gate refused, show has how that gate ended", async () => {
  await using place = await makePlace();
  const gate = "test ! -f t.1.txt || { echo the sum is wrong; exit 1; }";
  const args = ["--gate", gate, "--set", "retry.maxRefused=0", ...QUICK];
  const ran = await place.skein("run", "write two files", "--agent", place.agent, ...args);
  assert.equal(ran.code, 1, ran.err);
  const [, run = ""] = /^run {5}(\S+)$/m.exec(ran.out)!;
  const shown = (await place.skein("show", run, "one")).out;
  assert.match(shown, /\nWhat failed in the gate of attempt 1\n(?: .*\n)* {2}the sum is wrong\n/);
  const details = JSON.parse((await place.skein("show", run, "one", "--json")).out);
  assert.deepEqual(
    [details.refusedAttempt, details.gateOutput.slice(-2)],
    [1, ["the sum is wrong", "[exit code 1]"]],
  );
});

test("of a planner whose answer cannot be read, people are told what is wrong, and not what it is to send", async () => {
  await using place = await makePlace();
  await writeFile(place.agent, "#!/bin/sh\necho I would rather not\n", { mode: 0o755 });
  const ran = await place.skein("run", "write two files", "--agent", place.agent, "--gate", "none", ...QUICK);
  assert.equal(ran.code, 1, ran.err);
  const [, run = ""] = /^run {5}(\S+)$/m.exec(ran.out)!;
  const texts = [
    ran,
    await place.skein("show", run),
    await place.skein("status", run),
    await place.skein("report", run),
  ];
  for (const { out } of [...texts, await place.skein("show", run, "t")]) {
    assert.match(out, /no JSON object was found in the answer/);
    assert.doesNotMatch(out, /answer with|answer again|"scratchpad"/);
  }
});

test("of a task that needed several attempts, show says why, each reason once", async () => {
  await using place = await makePlace({ work: '[ "$SKEIN_ATTEMPT" = 3 ] || exit 9' });
  const args = ["--gate", "none", "--set", "retry.maxFailed=3", ...QUICK];
  const ran = await place.skein("run", "write two files", "--agent", place.agent, ...args);
  assert.equal(ran.code, 0, ran.err);
  const tree = (await place.skein("show", /^run {5}(\S+)$/m.exec(ran.out)![1]!)).out;
  assert.match(
    tree,
    /^ {2}one {2}t\.1 +done, 3 attempts +write one\n {6}attempt 1, 2: .*exit code 9.*\n {2}two/m,
  );
});

test("a base that is red is said at once, and fixes come first", async () => {
  const fix = 'if [ -n "$SKEIN_TASK" ]; then rm -f broken.txt; fi';
  await using place = await makePlace({ files: { "README.md": "x\n", "broken.txt": "x\n" }, work: fix });
  const gate = ["--gate", "test ! -f broken.txt", ...QUICK, "--set", "retry.maxFailed=1"];
  const ran = await place.skein("run", "write two files", "--agent", place.agent, ...gate);
  assert.match(
    ran.out,
    /Gate failed on the base; re-running in case it is flaky: .*\n(?:.*\n)*?.*Gate fails on the base: .*$/m,
  );
  assert.doesNotMatch(ran.out, /suspect/);
});
