import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failuresOf, type GateReport, isGreen, judgeGate } from "./gate.ts";

type Command = GateReport["commands"][number];
const report = (...commands: Command[]): GateReport => ({ commands });
const green = (name: string): Command => ({ name, green: true, failures: [] });
const red = (name: string, ...failures: string[]): Command => ({ name, green: false, failures });
const noWorse = (baseline: GateReport, ...mustHeal: string[]) =>
  ({ is: "no-worse", baseline, mustHeal }) as const;

describe("on a green target", () => {
  test("a candidate lands if every command is green", () => {
    const verdict = judgeGate(report(green("build"), green("test")), { is: "green" });
    assert.deepEqual(verdict, { ok: true, proof: "green" });
  });

  test("one red command is enough to stop it, also one that names no failure", () => {
    assert.deepEqual(judgeGate(report(green("build"), red("test", "adds")), { is: "green" }), {
      ok: false,
      failures: ["test: adds"],
    });
    assert.deepEqual(judgeGate(report(red("build")), { is: "green" }), { ok: false, failures: ["build"] });
  });

  test("a gate without commands is not a failed one", () => {
    assert.ok(isGreen(report()));
    assert.ok(judgeGate(report(), { is: "green" }).ok);
  });
});

describe("on a red target", () => {
  const base = report(green("build"), red("test", "adds", "subtracts"));

  test("a candidate lands that leaves everything as it was", () => {
    assert.deepEqual(judgeGate(base, noWorse(base)), { ok: true, proof: "red-to-red" });
  });

  test("a new failure stops it, even where it heals another", () => {
    const verdict = judgeGate(report(green("build"), red("test", "multiplies")), noWorse(base));
    assert.deepEqual(verdict, { ok: false, failures: ["test: multiplies"] });
  });

  test("a command that was green must stay green", () => {
    const verdict = judgeGate(report(red("build"), red("test", "adds")), noWorse(base));
    assert.deepEqual(verdict, { ok: false, failures: ["build"] });
  });

  test("one that heals everything is proof of green", () => {
    assert.deepEqual(judgeGate(report(green("build"), green("test")), noWorse(base, "test: adds")), {
      ok: true,
      proof: "green",
    });
  });

  test("a fix must heal at least one of the failures it is for", () => {
    const fix = noWorse(base, "test: adds", "test: subtracts");
    assert.equal(judgeGate(base, fix).ok, false);
    assert.equal(judgeGate(report(green("build"), red("test", "adds")), fix).ok, true);
    const other = judgeGate(report(green("build"), red("test", "adds")), noWorse(base, "test: adds"));
    assert.equal(other.ok, false, "healing another's does not count");
  });

  test("a fix for what is healed already has nothing to heal", () => {
    assert.ok(judgeGate(base, noWorse(base, "test: gone")).ok);
    assert.ok(!judgeGate(base, noWorse(base, "test: gone", "test: adds")).ok, "but this one has");
  });
});

describe("on a target that is red without a name for it", () => {
  const bases = [
    report(red("build"), red("test", "adds")),
    report({ ...red("test", "no end within 900 s"), unnamed: true }, green("build")),
  ];

  test("nothing lands as no worse, not even what heals some of it", () => {
    for (const base of bases) {
      const verdict = judgeGate(base, noWorse(base));
      assert.deepEqual(verdict, { ok: false, failures: failuresOf(base) });
    }
    const healed = report(red("build"), green("test"));
    assert.ok(!judgeGate(healed, noWorse(bases[0]!, "test: adds")).ok);
  });

  test("a change that turns the whole gate green always lands", () => {
    const all = report(green("build"), green("test"));
    for (const base of bases)
      assert.deepEqual(judgeGate(all, noWorse(base, ...failuresOf(base))), { ok: true, proof: "green" });
  });
});

test("failures keep their names from run to run, apart for each command", () => {
  assert.deepEqual(failuresOf(report(red("unit", "a"), red("e2e", "a"), red("build"), green("lint"))), [
    "unit: a",
    "e2e: a",
    "build",
  ]);
});

describe("a command that stops at its first failing step", () => {
  const types = { ...red("test", "a.ts: no such name"), classes: ["types"] } as const;
  const tests = { ...red("test", "adds", "subtracts"), classes: ["tests"] } as const;

  test("may fail later steps once the earlier is mended: they were hidden, not broken by the fix", () => {
    const verdict = judgeGate(report(tests), noWorse(report(types), "test: a.ts: no such name"));
    assert.deepEqual(verdict, { ok: true, proof: "red-to-red" });
  });

  test("may not fail an earlier step than before, nor a later one while the earlier still fails", () => {
    assert.ok(!judgeGate(report(types), noWorse(report(tests))).ok);
    const both = { ...red("test", "a.ts: no such name", "adds"), classes: ["types", "tests"] } as const;
    assert.deepEqual(judgeGate(report(both), noWorse(report(types))), {
      ok: false,
      failures: ["test: adds"],
    });
  });

  test("is not believed where another command was green", () => {
    const before = report(types, green("slow"));
    const slow = { ...red("slow", "adds"), classes: ["tests"] } as const;
    assert.deepEqual(judgeGate(report(green("test"), slow), noWorse(before)), {
      ok: false,
      failures: ["slow: adds"],
    });
  });
});

describe("more failures than are named", () => {
  const many = (more: number, ...failures: string[]) => ({ ...red("test", ...failures), more });

  test("are compared by their number: another few of them in the list are not new", () => {
    const before = report(many(100, "a", "b"));
    assert.ok(judgeGate(report(many(100, "b", "c")), noWorse(before)).ok);
    assert.ok(!judgeGate(report(many(101, "a", "b")), noWorse(before)).ok);
    assert.ok(judgeGate(report(red("test", "c", "d")), noWorse(before)).ok);
  });

  test("than before are a failure of their own, beside those that are new by name", () => {
    const verdict = judgeGate(report(many(101, "a", "c")), noWorse(report(many(100, "a", "b"))));
    assert.deepEqual(verdict, { ok: false, failures: ["test: more failures than before", "test: c"] });
  });

  test("are fewer after a fix, or it has mended nothing that anyone could see", () => {
    const before = report(many(100, "a", "b"));
    assert.ok(!judgeGate(report(many(100, "b", "c")), noWorse(before, "test: a")).ok);
    assert.ok(judgeGate(report(many(99, "b", "c")), noWorse(before, "test: a")).ok);
  });
});
