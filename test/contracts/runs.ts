/** The contract suite of stored runs, which each adapter passes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Event } from "../../src/core/log/event.ts";
import { hasFailed } from "../../src/core/result.ts";
import type { RunHome, RunLock, RunRecord, Runs } from "../../src/ports/runs.ts";

export const record = (run: string, createdAt = 1): RunRecord => ({
  run,
  goal: `the goal of ${run}`,
  base: "c".repeat(40),
  baseBranch: "main",
  createdAt,
  settings: { workers: 3 },
});

export function worked<T extends object>(result: T): Exclude<T, { readonly failure: unknown }> {
  assert.ok(!hasFailed(result), hasFailed(result) ? result.failure.message : "");
  return result as Exclude<T, { readonly failure: unknown }>;
}

export function refusal(result: object): { readonly message: string; readonly next: string } {
  assert.ok(hasFailed(result), "it should have failed");
  assert.equal(result.failure.kind, "repository");
  assert.ok(result.failure.next, "a failure says what to try");
  return { message: result.failure.message, next: result.failure.next };
}

const steered = (at: number): Event => ({ type: "run.steered", message: `event ${at}`, at });

/** `place` gives a function that opens the same runs anew at each call. */
export function runsContract(name: string, place: () => () => Runs): void {
  const made = async (run = "r1") => {
    const open = place();
    return { open, home: worked(await open().create(record(run))) };
  };
  const again = async (open: () => Runs, run = "r1"): Promise<RunHome> => worked(await open().open(run));

  describe(`the runs ${name}`, () => {
    it("are none at first", async () => assert.deepEqual(await place()().list(), []));

    it("are found again as they were made", async () => {
      const { open, home } = await made();
      assert.deepEqual((await again(open)).record, record("r1"));
      assert.equal((await again(open)).folder, home.folder);
    });

    it("are listed with the newest first", async () => {
      const runs = place()();
      for (const [run, at] of [
        ["a", 2],
        ["b", 3],
        ["c", 1],
      ] as const)
        worked(await runs.create(record(run, at)));
      assert.deepEqual(await runs.list(), [record("b", 3), record("a", 2), record("c", 1)]);
    });

    it("refuse a name that is taken, and keep what was there", async () => {
      const { open } = await made();
      assert.match(
        refusal(await open().create({ ...record("r1"), goal: "other" })).message,
        /run r1 already/,
      );
      assert.deepEqual((await again(open)).record, record("r1"));
    });

    it("let one of two win who make the same run at the same time", async () => {
      const open = place();
      const results = await Promise.all([open().create(record("r1")), open().create(record("r1"))]);
      assert.deepEqual(results.map(hasFailed).sort(), [false, true]);
      assert.match(refusal(results.find(hasFailed)!).message, /run r1 already/);
      assert.equal((await open().list()).length, 1);
    });

    for (const bad of ["", "-x", "A", "a/b", "..", "a.lock", "a".repeat(41), "ü", "a\n"])
      it(`refuse the name ${JSON.stringify(bad)}`, async () => {
        const runs = place()();
        assert.match(refusal(await runs.create(record(bad))).message, /cannot be the name of a run/);
        assert.match(refusal(await runs.open(bad)).message, /cannot be the name of a run/);
        assert.deepEqual(await runs.list(), []);
      });

    it("name close ones when there is no such run", async () => {
      const { open } = await made("1115-k7qd");
      assert.match(
        refusal(await open().open("1115-k7dq")).message,
        /no run "1115-k7dq"; did you mean 1115-k7qd/,
      );
      assert.doesNotMatch(refusal(await open().open("zzz")).message, /did you mean/);
    });

    it("keep one log each, which others see as it is written", async () => {
      const { open, home } = await made();
      worked(await open().create(record("r2")));
      assert.deepEqual(await home.log.append(0, [steered(1)]), { is: "done" });
      assert.deepEqual(await Array.fromAsync((await again(open)).log.read(0)), [steered(1)]);
      assert.deepEqual(await Array.fromAsync((await again(open, "r2")).log.read(0)), []);
    });

    it("can be followed while another home of the run is written, without loss or repetition", async () => {
      const { open, home } = await made();
      await home.log.append(0, [steered(1), steered(2)]);
      const stop = new AbortController();
      const seen: Event[] = [];
      for await (const event of (await again(open)).log.follow(1, stop.signal)) {
        seen.push(event);
        if (seen.length === 1) await home.log.append(2, [steered(3), steered(4)]);
        if (seen.length === 3) void home.log.append(4, [steered(5)]);
        if (seen.length === 4) stop.abort();
      }
      assert.deepEqual(seen, [2, 3, 4, 5].map(steered));
    });

    it("have no owner until they are locked, and none after", async () => {
      const { open, home } = await made();
      assert.equal(await home.owner(), undefined);
      const lock: RunLock = worked(await home.lock());
      const owner = await (await again(open)).owner();
      assert.equal(owner?.pid, process.pid);
      assert.ok(owner.since > 0);
      await lock.release();
      assert.equal(await home.owner(), undefined);
    });

    it("have one owner at a time, also within one process, and the next one right after", async () => {
      const { open, home } = await made();
      const lock = worked(await home.lock());
      const { message, next } = refusal(await (await again(open)).lock());
      assert.match(message, new RegExp(`run r1 is already under way: process ${process.pid}, since 20`));
      assert.match(next, /skein stop r1/);
      await lock.release();
      await lock.release();
      const second = worked(await (await again(open)).lock());
      refusal(await home.lock());
      await second.release();
    });

    it("are gone once their owner discards them, and their name is free again", async () => {
      const { open, home } = await made();
      const other = worked(await open().create(record("r2")));
      await worked(await home.lock()).discard();
      refusal(await open().open("r1"));
      assert.deepEqual(await open().list(), [record("r2")]);
      worked(await open().create(record("r1")));
      await worked(await other.lock()).release();
    });

    it("are locked one by one", async () => {
      const { open, home } = await made();
      const other = worked(await open().create(record("r2")));
      const locks = [worked(await home.lock()), worked(await other.lock())];
      for (const lock of locks) await lock.release();
    });
  });
}
