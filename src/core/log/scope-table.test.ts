/** Tests `ScopeTable`: holds, claims and their order, against comparing all pairs. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { EVERYTHING, overlaps, type Scope } from "../scope.ts";
import { ScopeTable } from "./scope-table.ts";

describe("ScopeTable", () => {
  test("a file that nobody holds is free", () => {
    const table = new ScopeTable();
    table.hold("a", ["src/a.ts"], 1);
    assert.equal(table.blocker(["src/b.ts"], 2), undefined);
    assert.equal(table.blocker(["src/a.tsx"], 2), undefined);
    assert.equal(table.blocker([], 2), undefined);
  });

  test("a holder blocks everyone, also those who come earlier", () => {
    const table = new ScopeTable();
    table.hold("a", ["src/a.ts"], 5);
    assert.equal(table.blocker(["src/a.ts"], 9), "a");
    assert.equal(table.blocker(["src/a.ts"], 1), "a");
  });

  test("a claim blocks only those who come later", () => {
    const table = new ScopeTable();
    table.claim("a", ["src/a.ts"], 5);
    assert.equal(table.blocker(["src/a.ts"], 9), "a");
    assert.equal(table.blocker(["src/a.ts"], 5), undefined);
    assert.equal(table.blocker(["src/a.ts"], 1), undefined);
  });

  for (const [one, other] of [
    ["src/", "src/core/a.ts"],
    ["src", "src/core/a.ts"],
    ["src", "src/"],
    ["src/core/", "src/core"],
    [EVERYTHING, "a"],
    [EVERYTHING, "src/core/"],
    [EVERYTHING, EVERYTHING],
  ] as const) {
    test(`${one} and ${other} meet, in either order`, () => {
      for (const [held, wanted] of [
        [one, other],
        [other, one],
      ] as const) {
        const table = new ScopeTable();
        table.hold("a", [held], 1);
        assert.equal(table.blocker([wanted], 2), "a");
      }
    });
  }

  test("those who wait for one file form a chain", () => {
    const table = new ScopeTable();
    table.hold("a", ["f"], 1);
    const waitsFor = ["b", "c", "d"].map((id, i) => {
      const blocker = table.blocker(["f"], i + 2);
      table.claim(id, ["f"], i + 2);
      return blocker;
    });
    assert.deepEqual(waitsFor, ["a", "b", "c"]);
    table.drop("a");
    assert.equal(table.blocker(["f"], 2, "b"), undefined);
  });

  test("nobody blocks itself, and it hides nobody either", () => {
    const table = new ScopeTable();
    table.claim("a", ["f"], 1);
    table.claim("b", ["f", "folder/"], 2);
    assert.equal(table.blocker(["f"], 3, "b"), "a");
    table.hold("b", ["f"], 2);
    assert.equal(table.blocker(["f"], 2, "b"), "a");
    assert.equal(table.blocker(["folder/x"], 9), undefined);
  });

  test("a claim that became a hold counts once, and is gone when dropped", () => {
    const table = new ScopeTable();
    table.claim("a", ["f", "g/"], 1);
    table.hold("a", ["f", "g/"], 1);
    assert.equal(table.size, 1);
    table.drop("a");
    table.drop("nobody");
    assert.equal(table.size, 0);
    assert.equal(table.blocker([EVERYTHING], 9), undefined);
  });

  test("refuses an order that is not a number", () => {
    assert.throws(() => new ScopeTable().claim("a", ["f"], Number.NaN), /order of a/);
  });

  test("answers as comparing all pairs would, whatever is done to it", () => {
    fc.assert(
      fc.property(fc.array(operation, { size: "large" }), (operations) => {
        const table = new ScopeTable();
        const model = new Map<string, Known>();
        for (const { act, id, scope, order } of operations) {
          assert.equal(table.blocker(scope, order, id), blockerByPairs(model, scope, order, id));
          assert.equal(table.blocker(scope, order), blockerByPairs(model, scope, order));
          table[act](id, scope, order);
          if (act === "drop") model.delete(id);
          else model.set(id, { id, holds: act === "hold", scope, order });
          assert.equal(table.size, model.size);
        }
      }),
      { numRuns: 150 },
    );
  });

  test("keeps the order of thousands in one folder, in whatever order they come and go", () => {
    const ids = fc.uniqueArray(fc.nat(5_000), { minLength: 1_500, maxLength: 1_500 });
    fc.assert(
      fc.property(ids, ids, (arrivals, departures) => {
        const table = new ScopeTable();
        for (const n of arrivals) table.claim(`${n}`, [`src/${n}`], n);
        for (const n of departures) table.drop(`${n}`);
        const gone = new Set(departures);
        const left = arrivals.filter((n) => !gone.has(n)).sort((a, b) => a - b);
        assert.equal(table.size, left.length);
        for (const [i, n] of left.entries()) {
          const before = i === 0 ? undefined : `${left[i - 1]}`;
          assert.equal(table.blocker(["src/"], n, `${n}`), before);
          assert.equal(table.blocker(["src/"], n + 1, `${n}`), before);
        }
      }),
      { numRuns: 10 },
    );
  });
});

type Known = {
  readonly id: string;
  readonly holds: boolean;
  readonly scope: Scope;
  readonly order: number;
};

function blockerByPairs(model: ReadonlyMap<string, Known>, scope: Scope, order: number, self?: string) {
  return [...model.values()]
    .filter((known) => known.id !== self && overlaps(known.scope, scope))
    .filter((known) => known.holds || known.order < order)
    .sort((a, b) => a.order - b.order || (a.id < b.id ? -1 : 1))
    .at(-1)?.id;
}

const path = fc.oneof(
  { weight: 1, arbitrary: fc.constant(EVERYTHING) },
  {
    weight: 15,
    arbitrary: fc
      .tuple(fc.array(fc.constantFrom("a", "b", "ab"), { minLength: 1, maxLength: 4 }), fc.boolean())
      .map(([parts, folder]) => parts.join("/") + (folder ? "/" : "")),
  },
);

const operation = fc.record({
  act: fc.constantFrom("claim", "claim", "hold", "drop"),
  id: fc.constantFrom(..."abcdefghij"),
  scope: fc.array(path, { maxLength: 3 }),
  order: fc.integer({ min: 0, max: 8 }),
});
