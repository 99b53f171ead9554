/** Tests the waves of a plan's tasks. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { OrderedDag } from "../graph/dag.ts";
import { randomFrom } from "../simulation/random.ts";
import { type Waited, wavesOf } from "./waves.ts";

const task = (id: string, ...blockedBy: readonly string[]): Waited => ({ id, blockedBy });

describe("waves", () => {
  test("are one more than those of the latest that a task waits for", () => {
    const waves = wavesOf([task("d", "b", "c"), task("a"), task("b", "a"), task("c"), task("e", "d", "a")]);
    assert.ok(waves.is === "waves");
    assert.deepEqual(Object.fromEntries(waves.byId), { a: 0, c: 0, b: 1, d: 2, e: 3 });
    assert.equal(waves.count, 4);
  });

  test("count what nobody knows as done, and a repeated id once", () => {
    const waves = wavesOf([task("a", "nobody", "b", "b"), task("b"), task("b", "a")]);
    assert.ok(waves.is === "waves");
    assert.deepEqual(
      [...waves.byId],
      [
        ["b", 0],
        ["a", 1],
      ],
    );
    assert.deepEqual(wavesOf([]), { is: "waves", byId: new Map(), count: 0 });
  });

  test("name those who wait for each other, each before the one that it waits for", () => {
    const waves = wavesOf([task("x", "c"), task("a", "c"), task("b", "a"), task("c", "b"), task("free")]);
    assert.ok(waves.is === "cycle");
    assert.deepEqual(waves.ids.toSorted(), ["a", "b", "c"]);
    const [first, second] = waves.ids;
    assert.ok(["ac", "cb", "ba"].includes(`${first}${second}`), `${waves.ids}`);
    assert.deepEqual(wavesOf([task("a", "a")]), { is: "cycle", ids: ["a"] });
  });

  test("agree with the graph of a run about order and circles", () => {
    const random = randomFrom(3);
    for (let i = 0; i < 2_000; i += 1) {
      const ids = Array.from({ length: random.between(1, 8) }, (_, n) => `t${n}`);
      const tasks = ids.map((id) => task(id, ...ids.filter(() => random.chance(0.15))));
      const dag = new OrderedDag();
      for (const { id, blockedBy } of tasks) dag.add(id, { after: blockedBy });
      const waves = wavesOf(tasks);
      assert.equal(waves.is === "cycle", dag.cycle() !== undefined);
      if (waves.is === "cycle")
        for (const [n, id] of waves.ids.entries())
          assert.ok(
            tasks.find((one) => one.id === id)!.blockedBy.includes(waves.ids[(n + 1) % waves.ids.length]!),
          );
      else {
        const place = new Map([...waves.byId.keys()].map((id, n) => [id, n]));
        for (const { id, blockedBy } of tasks)
          for (const before of blockedBy) assert.ok(place.get(before)! < place.get(id)!);
      }
    }
  });

  test("take time in proportion, also of a chain", () => {
    const chain = Array.from({ length: 100_000 }, (_, i) => task(`${i}`, ...(i > 0 ? [`${i - 1}`] : [])));
    const waves = wavesOf(chain.toReversed());
    assert.ok(waves.is === "waves" && waves.count === 100_000);
  });
});
