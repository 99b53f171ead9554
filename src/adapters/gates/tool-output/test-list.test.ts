/** Tests that the names of the tests that ran are read from the output of each runner, if they are complete. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { testCount } from "./test-count.ts";
import { testList } from "./test-list.ts";

const listOf = (text: string) => {
  const lines = text.split("\n");
  const count = testCount(lines);
  assert.ok(count, "a runner is recognised");
  return testList(lines, count);
};

describe("the list of tests in a green command's output", () => {
  it("is read from node --test, where suites are not counted", () => {
    const text = `✔ adds 1 (0.6ms)
▶ suite
  ✔ x (0.1ms)
  ﹣ y (0.05ms) # SKIP
✔ suite (14.6ms)
ℹ tests 3
ℹ suites 1
ℹ pass 2`;
    assert.deepEqual(listOf(text), { names: ["adds 1", "suite > x", "suite > y"] });
  });

  it("is read from node --test where tests have tests, which counts both", () => {
    const text = "▶ parent\n  ✔ kid (0.1ms)\n✔ parent (1.2ms)\nℹ tests 2\nℹ pass 2";
    assert.deepEqual(listOf(text), { names: ["parent > kid", "parent"] });
  });

  it("is read from node --test in TAP", () => {
    const text = `TAP version 13
# Subtest: suite
    # Subtest: x
    ok 1 - x
      ---
      type: 'test'
      ...
    # Subtest: y
    ok 2 - y # SKIP
    1..2
ok 1 - suite
1..1
# tests 2
# suites 1
# pass 1`;
    assert.deepEqual(listOf(text), { names: ["suite > x", "suite > y"] });
  });

  it("is read from cargo, pytest -v, vitest, mocha and go test -v", () => {
    const cargo =
      "test a::b ... ok\ntest src/lib.rs - f (line 3) ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored;";
    assert.deepEqual(listOf(cargo), { names: ["a::b", "src/lib.rs - f (line)"] });
    const pytest = `t.py::test_a[1-2] PASSED      [ 50%]
t.py::test_b SKIPPED (no)     [100%]
=== 1 passed, 1 skipped in 0.02s ===`;
    assert.deepEqual(listOf(pytest), { names: ["t.py::test_a[1-2]", "t.py::test_b"] });
    const apart =
      "[gw0] [ 50%] PASSED t.py::test_a \n[gw1] [100%] PASSED t.py::test_b \n== 2 passed in 1.02s ==";
    assert.deepEqual(listOf(apart), { names: ["t.py::test_a", "t.py::test_b"] });
    const vitest = " ✓ a.test.ts > sums > adds 3ms\n ✓ a.test.ts > sums > more\n      Tests  2 passed (2)";
    assert.deepEqual(listOf(vitest), { names: ["a.test.ts > sums > adds", "a.test.ts > sums > more"] });
    const mocha = "  sums\n    ✔ adds\n    ✔ adds more (12ms)\n\n  2 passing (3ms)";
    assert.deepEqual(listOf(mocha), { names: ["adds", "adds more"] });
    const go =
      "=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/x (0.00s)\nok  \texample.com/a\t0.1s";
    assert.deepEqual(listOf(go), { tests: 2, names: ["TestA", "TestA/x"] });
  });

  it("is not believed where the runner counted another number, nor the number of packages taken for one of tests", () => {
    assert.deepEqual(listOf("✔ a (1ms)\nℹ tests 2\nℹ pass 2"), {});
    assert.deepEqual(listOf("Tests:       12 passed, 12 total"), {});
    assert.deepEqual(listOf("ok  \texample.com/a\t0.1s\nok  \texample.com/b\t0.1s"), { isOfPackages: true });
  });

  it("is left out where it is long", () => {
    const text = (count: number) =>
      `${Array.from({ length: count }, (_, i) => `✔ case ${i} (1ms)`).join("\n")}\nℹ tests ${count}\nℹ pass ${count}`;
    assert.equal(listOf(text(500)).names?.length, 500);
    assert.deepEqual(listOf(text(501)), {});
  });
});
