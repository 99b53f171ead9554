/** Tests which candidates may land by their gate's report, on green and on red targets. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  blockingIn,
  failuresOf,
  type GateReport,
  isGreen,
  isOwn,
  isUnjudged,
  judgeGate,
  unjudgeable,
} from "./gate.ts";

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
    assert.deepEqual(judgeGate(base, noWorse(base)), {
      ...{ ok: true, proof: "red-to-red" },
      compared: ["build: passes", "test: no new failure beside 2 failures"],
    });
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

  test("nothing can be judged, not even what heals some of it", () => {
    for (const [i, base] of bases.entries())
      assert.deepEqual(judgeGate(base, noWorse(base)), {
        ok: false,
        failures: [`${["build", "test"][i]}: cannot be judged: what fails on the target has no name`],
      });
    const healed = report(red("build"), green("test"));
    assert.ok(!judgeGate(healed, noWorse(bases[0]!, "test: adds")).ok);
    assert.deepEqual(
      bases.map((base) => unjudgeable(base)),
      [["build: what fails has no name"], ["test: what fails has no name"]],
    );
  });

  test("a command that passes now is no reason against a change: the others are compared", () => {
    const healed = report(green("build"), red("test", "adds"));
    assert.ok(judgeGate(healed, noWorse(bases[0]!)).ok);
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
    assert.deepEqual(verdict, {
      ...{ ok: true, proof: "red-to-red" },
      compared: ["test: what failed before is gone, and had hidden 2 failures"],
    });
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

  test("cannot be compared by name: only a repair that leaves fewer of them lands, and says so", () => {
    const before = report(many(100, "a", "b"));
    assert.deepEqual(judgeGate(report(many(99, "b", "c")), noWorse(before)), {
      ok: false,
      failures: ["test: cannot be judged: of 102 failures on the target only 2 have a name"],
    });
    assert.ok(!judgeGate(report(red("test", "a", "b")), noWorse(before)).ok);
    assert.deepEqual(judgeGate(report(many(99, "b", "c")), noWorse(before, "test: a")), {
      ...{ ok: true, proof: "red-to-red" },
      compared: ["test: by number only: 102 failures before, 101 now"],
    });
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

describe("a target on which a command did not run", () => {
  const broken = (...failures: string[]): Command => ({
    ...red("test", ...failures),
    ...{ classes: ["build"], hiding: failures.length, blocked: "no test ran" },
  });
  const ran = (tests: number, ...failures: string[]): Command => ({
    ...red("test", ...failures),
    ...{ classes: ["tests"], tests },
  });
  const base = report(broken("a.go: does not build"));

  test("has no new failures to compare: the same failure before and after says nothing", () => {
    const failures = ["test: cannot be judged: no test ran"];
    assert.deepEqual(judgeGate(base, noWorse(base)), { ok: false, failures });
    assert.deepEqual(unjudgeable(base), ["test: no test ran"]);
    assert.deepEqual(blockingIn(base), ["test: a.go: does not build"]);
    assert.deepEqual([failures.some(isOwn), failures.every(isUnjudged)], [false, true]);
  });

  test("holds for a fix as well: it must remove all that keeps the tests from running", () => {
    const two = report(broken("a.go: does not build", "b.go: does not build"));
    const fix = noWorse(two, "test: a.go: does not build");
    assert.ok(!judgeGate(report(broken("b.go: does not build")), fix).ok);
    assert.deepEqual(judgeGate(report(ran(40, "adds")), fix), {
      ...{ ok: true, proof: "red-to-red" },
      compared: ["test: what failed before is gone, and had hidden 1 failure"],
    });
  });

  test("names a failure that is new, also one that may have been hidden: the tests still do not run", () => {
    assert.deepEqual(judgeGate(report(broken("c.go: does not build")), noWorse(base)), {
      ok: false,
      failures: ["test: c.go: does not build"],
    });
    const worse = report(broken("a.go: does not build", "c.go: does not build"));
    assert.deepEqual(judgeGate(worse, noWorse(base)), {
      ok: false,
      failures: ["test: c.go: does not build"],
    });
  });

  test("is told from one on which tests ran: a candidate on which none does cannot be judged", () => {
    const before = report(ran(40, "adds"));
    assert.deepEqual(judgeGate(report(ran(39, "adds")), noWorse(before)), {
      ...{ ok: true, proof: "red-to-red" },
      compared: ["test: no new failure beside 1 failure, 39 tests ran"],
    });
    assert.ok(!judgeGate(report(red("test", "adds")), noWorse(before)).ok);
    assert.ok(!judgeGate(report({ ...ran(3, "adds"), blocked: "it stopped" }), noWorse(before)).ok);
  });

  test("says what some failures hide where the others ran", () => {
    const partly = report({ ...ran(12, "b.test.ts", "adds"), hiding: 1 });
    const verdict = judgeGate(partly, noWorse(partly));
    assert.ok(verdict.ok);
    assert.deepEqual(verdict.compared, [
      "test: no new failure beside 2 failures, 12 tests ran; what 1 of them hides was not looked at",
    ]);
  });
});
