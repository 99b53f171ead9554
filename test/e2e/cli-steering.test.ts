/** Tests commands that steer a live run: steer, pause, resume, cancel, approve and stop. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { makeBarrier, makePlace, type Place, type Started } from "./cli-place.ts";
import { appears, isAlive } from "./odd-place.ts";

const GATE = ["--gate", "test -f README.md"];

type Slow = {
  readonly live: Started;
  readonly run: string;
  /** Lets the workers continue. */
  readonly open: () => Promise<void>;
  /** The messages of people that the planner was given, turn by turn. */
  readonly steers: () => Promise<string>;
  readonly workerPid: () => Promise<number>;
};

/** Starts a run whose first worker has begun its file, and waits until the test lets it continue. */
async function startSlow(place: Place, ...more: readonly string[]): Promise<Slow> {
  const barrier = await makeBarrier(place.folder);
  const at = (name: string) => path.join(place.folder, name);
  const write = (name: string, text: string) => writeFile(at(name), `#!/bin/sh\n${text}`, { mode: 0o755 });
  await write(
    "slow.sh",
    `echo half > "$SKEIN_TASK.txt"; echo $$ > '${at("pid~")}'; mv '${at("pid~")}' '${at("pid")}'\n${barrier.wait}\nexec '${place.agent}'\n`,
  );
  await write(
    "planner.sh",
    `brief=$(cat)\nprintf '%s' "$brief" | grep -o '"steers":\\[[^]]*\\]' >> '${at("steers")}'\nprintf '%s' "$brief" | '${place.agent}'\n`,
  );
  const agents = ["--agent", at("slow.sh"), "--planner", at("planner.sh")];
  const live = place.start("run", "write two files", ...agents, ...GATE, ...more);
  await live.says("Worker started on one");
  await appears(at("pid"));
  const { runs } = JSON.parse((await place.skein("status", "--json")).out);
  return {
    live,
    run: runs[0].run,
    open: barrier.open,
    steers: () => readFile(at("steers"), "utf8"),
    workerPid: async () => Number(await readFile(at("pid"), "utf8")),
  };
}

const stateOf = async (place: Place, run: string): Promise<string> =>
  JSON.parse((await place.skein("status", run, "--json")).out).state;
const errorOf = (err: string) => JSON.parse(err).error as { kind: string; message: string };
test("a pause lets what is at work land and starts nothing new, until the run is resumed", async () => {
  await using place = await makePlace();
  const { live, run, open } = await startSlow(place);
  const paused = await place.skein("pause");
  assert.equal(paused.code, 0, paused.err);
  assert.match(paused.out, new RegExp(`^run ${run} is paused: .*To end the pause: skein resume ${run}\n$`));
  assert.equal(await stateOf(place, run), "paused");
  const status = await place.skein("status", run);
  assert.match(status.out, new RegExp(`^run +${run}, paused, in process ${live.pid}$`, "m"));
  assert.match(status.out, /^next: skein resume .* \(ends the pause\)$/m);
  assert.match((await place.skein("status")).out, new RegExp(`^${run} +paused \\(${live.pid}\\)`, "m"));
  await open();
  await live.says("one landed as");
  assert.deepEqual(JSON.parse((await place.skein("pause", run, "--json")).out), {
    run,
    command: "pause",
    heard: true,
  });
  const resumed = await place.skein("resume");
  assert.deepEqual([resumed.code, resumed.out], [0, `run ${run} continues\n`]);
  const { code, out } = await live.ended;
  assert.equal(code, 0, out);
  assert.match(out, /Paused: no new work.*one landed.*Resumed after a pause.*Worker started on two/s);
});

test("what is said to a run is heard by its planner, at once", async () => {
  await using place = await makePlace();
  const { live, run, open, steers } = await startSlow(place);
  const said = await place.skein("steer", "Leave the old API");
  assert.deepEqual([said.code, said.out.startsWith(`run ${run} has your message`)], [0, true], said.err);
  await live.says("Message to the planner: Leave the old API");
  await live.says("Planning (turn 2)");
  const empty = {
    code: 2,
    out: "",
    err: /^skein: the message is empty\ntry: say what the planner should know/,
  };
  for (const args of [
    ["steer", ""],
    ["steer", " \n", "--run", run],
    ["approve", run, "--decline", ""],
  ]) {
    const { code, out, err } = await place.skein(...args);
    assert.deepEqual([code, out, empty.err.test(err)], [empty.code, empty.out, true], err);
  }
  const answer = await place.skein("steer", "--run", run, "and the tests", "--json");
  assert.deepEqual(JSON.parse(answer.out), { run, command: "steer", heard: true });
  const named = await place.skein("steer", run, "and the docs", "--json");
  assert.deepEqual(JSON.parse(named.out), { run, command: "steer", heard: true });
  const forgotten = await place.skein("steer", run);
  assert.deepEqual([forgotten.code, forgotten.out], [2, ""]);
  assert.match(
    forgotten.err,
    new RegExp(`^skein: there is no message for run ${run}\ntry: skein steer ${run} "<`),
  );
  assert.equal((await place.skein("steer", "nope", "x")).code, 2);
  assert.match((await place.skein("steer", run, "x", "--run", run)).err, /^skein: the run is named twice\n/);
  await open();
  assert.equal((await live.ended).code, 0);
  const heard = await steers();
  assert.match(heard, /"Leave the old API"/);
  assert.match(heard, /"and the tests"/);
  assert.match(heard, /"and the docs"/);
});

test("a task that is cancelled ends its worker, keeps its work, and skips what waits for it", async () => {
  await using place = await makePlace();
  const { live, run, workerPid } = await startSlow(place);
  const unknown = await place.skein("cancel", run, "nobody");
  assert.deepEqual(
    [unknown.code, unknown.err],
    [2, `skein: there is no task "nobody"\ntry: skein show ${run} lists them\n`],
  );
  const cancelled = await place.skein("cancel", run, "one", "--reason", "not wanted");
  assert.equal(cancelled.code, 0, cancelled.err);
  assert.match(cancelled.out, new RegExp(`^one of run ${run} is being cancelled; the landing in`));
  const { code, out } = await live.ended;
  assert.equal(code, 1);
  assert.match(out, /one cancelled: not wanted/);
  assert.match(out, /two skipped: one did not land/);
  assert.equal(isAlive(await workerPid()), false);
  assert.match((await place.skein("salvage")).out, new RegExp(`^${run}/t\\.1\\.1 `, "m"));
});

test("a run that is cancelled closes as cancelled, and hears nothing any more", async () => {
  await using place = await makePlace();
  const { live, run, workerPid } = await startSlow(place);
  const cancelled = await place.skein("cancel", run, "--reason", "wrong goal", "--json");
  assert.deepEqual(JSON.parse(cancelled.out), { run, command: "cancel", heard: true });
  const { code, out } = await live.ended;
  assert.equal(code, 1);
  assert.match(out, new RegExp(`^Run ${run} was cancelled: 0 of 2 tasks done`, "m"));
  assert.equal(isAlive(await workerPid()), false);
  assert.equal(await stateOf(place, run), "cancelled");
  for (const args of [
    ["pause", run],
    ["steer", "x", "--run", run],
    ["cancel", run],
    ["cancel", run, "one"],
  ]) {
    const late = await place.skein(...args);
    assert.equal(late.code, 1);
    assert.match(late.err, /is closed \(cancelled\): it accepts no commands\ntry: /);
    assert.equal(errorOf((await place.skein(...args, "--json")).err).kind, "closed");
  }
  const none = await place.skein("pause");
  assert.deepEqual([none.code, /there is no open run/.test(none.err)], [2, true]);
  assert.equal((await place.skein("cancel", "nope")).code, 2);
});

test("what is said to a run that nobody drives waits for whoever does next", async () => {
  await using place = await makePlace();
  const { live, run, open, steers } = await startSlow(place);
  live.kill("SIGKILL");
  await live.ended;
  const paused = await place.skein("pause", run);
  assert.deepEqual(
    [paused.code, paused.out],
    [0, `run ${run} is stopped: there is nothing to pause. To continue: skein resume ${run}\n`],
  );
  const said = await place.skein("steer", "Leave the old API");
  assert.equal(said.code, 0, said.err);
  assert.match(said.out, /is stopped; this applies when you resume it: skein resume/);
  const shown = await place.skein("show", run);
  assert.match(shown.out, new RegExp(`^run ${run}, stopped: 0 of 2 tasks done\nNo agent is working\\.`));
  assert.match(shown.out, /^ {2}one {2}t\.1 +interrupted +write one$/m);
  assert.match((await place.skein("show", run, "one")).out, /^one {2}t\.1 {2}interrupted$/m);
  await open();
  const resumed = await place.skein("resume");
  assert.equal(resumed.code, 0, resumed.out + resumed.err);
  assert.match(resumed.out, /Message to the planner: Leave the old API/);
  assert.match(await steers(), /"Leave the old API"/);
});

test("a run that nobody drives is cancelled at once: nothing is started, its work is kept, and its end is said", async () => {
  await using place = await makePlace();
  const { live, run, workerPid } = await startSlow(place);
  live.kill("SIGKILL");
  await live.ended;
  const before = (await place.skein("logs", run, "--json")).out.split("\n").length;
  const asked = await place.skein("cancel", run, "--reason", "wrong goal");
  assert.equal(asked.code, 0, asked.err);
  assert.match(
    asked.out,
    new RegExp(`^\nRun ${run} was cancelled: 0 of 2 tasks done.*cancelled: wrong goal`, "s"),
  );
  assert.equal(isAlive(await workerPid()), false);
  assert.equal(await stateOf(place, run), "cancelled");
  const events = (await place.skein("logs", run, "--json")).out.split("\n").slice(before - 1);
  assert.doesNotMatch(events.join("\n"), /"job\.started"/);
  assert.match((await place.skein("salvage")).out, new RegExp(`^${run}/t\\.1\\.1 `, "m"));
  assert.equal(await place.repository.git("for-each-ref", "refs/skein/held"), "", "nothing is held any more");
  const again = await place.skein("resume", run, "--json");
  assert.deepEqual([again.code, JSON.parse(again.out).closed], [1, "cancelled"]);
});

test("a run that was stopped is cancelled at once, also for who reads JSON", async () => {
  await using place = await makePlace();
  const { live, run } = await startSlow(place);
  assert.equal((await place.skein("stop", run)).code, 0);
  await live.ended;
  const asked = await place.skein("cancel", run, "--json");
  assert.deepEqual(JSON.parse(asked.out), { run, command: "cancel", heard: true, closed: "cancelled" });
  assert.equal(await stateOf(place, run), "cancelled");
});

test("a task of a run that nobody drives is cancelled as soon as somebody does", async () => {
  await using place = await makePlace();
  const { live, run, open } = await startSlow(place);
  live.kill("SIGKILL");
  await live.ended;
  const asked = await place.skein("cancel", run, "two", "--json");
  assert.deepEqual(JSON.parse(asked.out), { run, command: "cancel", heard: false });
  await open();
  const resumed = await place.skein("resume", run);
  assert.match(resumed.out, /two cancelled/, resumed.err);
});

test("a plan that needs approval is shown, declined with a reason, approved, and only then worked on", async () => {
  await using place = await makePlace();
  const steers = path.join(place.folder, "steers");
  const planner = path.join(place.folder, "planner.sh");
  const tasks = `{"scratchpad":"","tasks":[{"id":"one","description":"write it","acceptance":"it is there","scope":["t.1.txt","t.3.txt"]},{"id":"two","description":"look at it","acceptance":"it is read\\\\nby two","scope":["t.4.txt"],"after":["one"]}]}`;
  await writeFile(
    planner,
    `#!/bin/sh
brief=$(cat)
printf '%s' "$brief" | grep -o '"steers":\\[[^]]*\\]' >> '${steers}'
case "$brief" in
*'"first":true'* | *declined*) echo '${tasks}' ;;
*) echo '{"scratchpad":"","tasks":[]}' ;;
esac
`,
    { mode: 0o755 },
  );
  const live = place.start(
    ...["run", "write two files", "--approve", "--agent", place.agent, "--planner", planner],
    ...GATE,
  );
  await live.says("The plan needs your approval");
  const { runs } = JSON.parse((await place.skein("status", "--json")).out);
  const { run } = runs[0];
  assert.equal(await stateOf(place, run), "proposed");
  assert.match(
    (await place.skein("status", run)).out,
    new RegExp(`^next: skein show ${run}, then skein approve`, "m"),
  );
  const shown = (await place.skein("show", run)).out;
  assert.match(shown, new RegExp(`^Its plan needs your approval: skein approve ${run}, or --decline`, "m"));
  assert.match(
    shown,
    /^ {2}one {2}t\.1 .*\n {6}may change: t\.1\.txt, t\.3\.txt\n {6}acceptance: it is there\n {2}two {2}t\.2 .*\n {6}depends on: one\n {6}may change: t\.4\.txt\n {6}acceptance: it is read\n {8}by two$/m,
  );
  const json = JSON.parse((await place.skein("show", run, "--json")).out);
  assert.deepEqual(json.proposed, ["t.1", "t.2"]);
  const { scope, after, acceptance } = json.tasks[2];
  assert.deepEqual([scope, after, acceptance], [["t.4.txt"], ["one"], "it is read\nby two"]);
  const declined = await place.skein("approve", "--decline", "first the tests");
  assert.deepEqual([declined.code, declined.err], [0, ""]);
  await live.says("Plan declined: first the tests");
  await live.says("The plan needs your approval", 2);
  assert.match(await readFile(steers, "utf8"), /Your plan was declined: first the tests/);
  assert.doesNotMatch((await place.skein("logs", run)).out, /a worker starts/);
  const approved = await place.skein("approve", run);
  assert.equal(approved.code, 0, approved.err);
  const { code, out } = await live.ended;
  assert.equal(code, 0, out);
  assert.match(out, /Plan approved.*Worker started on one/s);
  const again = await place.skein("approve", run);
  assert.notEqual(again.code, 0);
});
