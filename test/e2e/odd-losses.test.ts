/** Tests runs whose log, folder, target or repository is lost: what is said, what is left, what to try. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { type Ended, makeBarrier, makePlace, type Place, type Started } from "./cli-place.ts";
import { agentOf, checkoutOf } from "./odd-place.ts";

const LIMIT = { timeout: 90_000 };
const QUICK = ["--gate", "none", "--set", "retry.first=1ms", "--set", "retry.max=1ms"];

type Held = {
  readonly live: Started;
  readonly open: () => Promise<void>;
  readonly run: string;
  readonly home: string;
};

/** Starts a run in which `one` has landed, and the worker on `two` waits. */
async function heldRun(place: Place): Promise<Held> {
  const barrier = await makeBarrier(place.folder);
  const waits = `[ "$SKEIN_TASK" != t.2 ] || ${barrier.wait}`;
  const agent = await agentOf(place, "slow.sh", `${waits}\nexec '${place.agent}'`);
  const live = place.start("run", "write two files", "--agent", agent, ...QUICK);
  await live.says("Worker started on two");
  const [{ run }] = JSON.parse((await place.skein("status", "--json")).out).runs;
  const [home = ""] = execFileSync("sh", ["-c", `ls -d '${place.state}'/*/runs/${run}`], { encoding: "utf8" })
    .trim()
    .split("\n");
  return { live, open: barrier.open, run, home };
}

async function stoppedRun(place: Place): Promise<Held> {
  const held = await heldRun(place);
  held.live.kill("SIGKILL");
  await held.live.ended;
  await held.open();
  return held;
}

const isPlain = ({ out, err }: Ended) => assert.doesNotMatch(out + err, /node:internal|^ {4}at /m);

describe("what a run is kept in is lost:", { concurrency: 2 }, () => {
  it("the events of its log: every command says so, and what is still there", LIMIT, async () => {
    await using place = await makePlace();
    const { run, home } = await stoppedRun(place);
    const db = new DatabaseSync(path.join(home, "events.db"));
    db.exec("DELETE FROM event");
    db.close();
    const before = await place.repository.git("for-each-ref");
    for (const verb of ["resume", "status", "show", "deliver"]) {
      const refused = await place.skein(verb, run);
      assert.equal(refused.code, 3, verb + refused.out + refused.err);
      assert.match(refused.err, new RegExp(`the log of run ${run} is lost: .*events.db`));
      assert.match(refused.err, new RegExp(`try: restore .* --base skein/${run}/target`));
      assert.doesNotMatch(refused.err, /is there already/);
      isPlain(refused);
    }
    // Without any job on record, as if the log was emptied before the first job, the target shows that the log is lost.
    await rm(path.join(home, "jobs"), { recursive: true });
    const resumed = await place.skein("resume", run);
    assert.match(resumed.err, new RegExp(`the log of run ${run} is lost`));
    assert.equal(resumed.code, 3);
    const { git } = place.repository;
    assert.equal(await git("for-each-ref"), before);
    assert.equal(await git("show", `skein/${run}/target:t.1.txt`), "made by t.1");
  });

  it("its folder, while it goes on: it ends at once, and nothing that landed is gone", LIMIT, async () => {
    await using place = await makePlace();
    const { live, run, home } = await heldRun(place);
    const before = await checkoutOf(place);
    await rm(home, { recursive: true, force: true, maxRetries: 10 });
    const ended = await live.ended;
    assert.equal(ended.code, 1, ended.out + ended.err);
    assert.ok(
      ended.err.includes(`the folder of run ${run} was removed during the run, with its log: ${home}`),
    );
    assert.match(ended.err, new RegExp(`try: .*--base skein/${run}/target`));
    assert.doesNotMatch(ended.out, /is working|starts on two \(attempt 2\)/);
    isPlain(ended);
    assert.ok(!existsSync(path.join(home, "events.db")), "no second log is begun in its place");
    assert.equal(await place.repository.git("show", `skein/${run}/target:t.1.txt`), "made by t.1");
    assert.deepEqual(await checkoutOf(place), before);
  });

  it(
    "its target, while it goes on and when it is delivered: the tip is offered, and is kept",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const { live, open, run } = await heldRun(place);
      const { git } = place.repository;
      const target = `skein/${run}/target`;
      const tip = await git("rev-parse", target);
      await git("branch", "-q", "-D", target);
      await open();
      const ended = await live.ended;
      assert.equal(ended.code, 1, ended.out + ended.err);
      const offer = `git branch ${target} ${tip}`;
      assert.match(
        ended.out,
        new RegExp(`Landing failed; retrying: the branch ${target} is not there: .*${offer}`),
      );
      assert.match(ended.out, new RegExp(`try: put it back where it was: ${offer}`));
      await git("gc", "-q", "--prune=now");
      const refused = await place.skein("deliver", run, "--partial", "--into-checkout");
      assert.equal(refused.code, 1);
      assert.match(refused.err, new RegExp(`the branch ${target} is not there: .*\ntry: .*${offer}`));
      isPlain(refused);
      execFileSync("sh", ["-c", offer], { cwd: place.repository.folder });
      const delivered = await place.skein("deliver", run, "--partial", "--into-checkout");
      assert.equal(delivered.code, 0, delivered.err);
      assert.equal(await git("show", "main:t.1.txt"), "made by t.1");
    },
  );

  it(
    "its repository, which was moved: the old place is named, and the way out goes on with the run",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const { run } = await stoppedRun(place);
      const [old, now] = [place.repository.folder, `${place.repository.folder} moved`];
      await rename(old, now);
      const there = place.with({ folder: now });
      for (const args of [["status"], ["resume"], ["resume", run], ["show", run]]) {
        const refused = await there.skein(...args);
        assert.equal(refused.code, 3, `${args.join(" ")}: ${refused.out}${refused.err}`);
        assert.ok(refused.err.includes(`begun when it was in ${old}\n`), refused.err);
        isPlain(refused);
      }
      const { err } = await there.skein("resume", run);
      execFileSync("sh", ["-c", /bring them along: (.*)$/m.exec(err)![1]!]);
      const resumed = await there.skein("resume", run);
      assert.equal(resumed.code, 0, resumed.out + resumed.err);
      assert.match(resumed.out, /2 of 2 tasks done/);
      await rename(now, old);
    },
  );
});
