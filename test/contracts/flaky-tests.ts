/** The contract suite of the record of flaky tests, which each adapter passes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hasFailed } from "../../src/core/result.ts";
import type { FlakyTests } from "../../src/ports/flaky-tests.ts";

/** `make` gives a function that opens the same record anew at each call. */
export function flakyTestsContract(name: string, make: () => () => FlakyTests): void {
  describe(`flaky tests ${name}`, () => {
    it("are none at first", async () => {
      assert.deepEqual(await make()().list(), { tests: [] });
    });

    it("are listed by how often they were seen, with when and in which run last", async () => {
      const open = make();
      await noted(open(), "r1", { "test: a": 1, "test: b": 2 }, 10);
      await noted(open(), "r2", { "test: c": 1, "test: b": 1 }, 20);
      assert.deepEqual((await open().list()).tests, [
        { name: "test: b", times: 3, firstAt: 10, lastAt: 20, lastRun: "r2" },
        { name: "test: c", times: 1, firstAt: 20, lastAt: 20, lastRun: "r2" },
        { name: "test: a", times: 1, firstAt: 10, lastAt: 10, lastRun: "r1" },
      ]);
    });

    it("count once what a run says again, and what it has seen since", async () => {
      const open = make();
      for (const [counts, at] of [
        [{ a: 1 }, 1],
        [{ a: 1 }, 2],
        [{ a: 3, b: 1 }, 3],
      ] as const) {
        await noted(open(), "r1", counts, at);
        await noted(open(), "r2", counts, at);
      }
      const { tests } = await open().list();
      assert.deepEqual(
        tests.map(({ name, times, lastAt }) => [name, times, lastAt]),
        [
          ["a", 6, 3],
          ["b", 2, 3],
        ],
      );
    });

    it("lose nothing when two runs speak at once in one process, and names may be any", async () => {
      const open = make();
      const one = open();
      const names = ["__proto__", "constructor", "tést: \n x", ""];
      await Promise.all(names.map((test, i) => noted(one, `${i}`, { [test]: i + 1 }, i)));
      const { tests } = await open().list();
      assert.deepEqual(
        tests.map(({ name: test, times }) => [test, times]),
        names.map((test, i) => [test, i + 1] as const).toReversed(),
      );
    });
  });
}

export async function noted(
  flaky: FlakyTests,
  run: string,
  counts: Readonly<Record<string, number>>,
  at = 1,
): Promise<void> {
  const answer = await flaky.note({ run, counts: new Map(Object.entries(counts)), at });
  assert.ok(!hasFailed(answer), JSON.stringify(answer));
}
