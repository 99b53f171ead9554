/** Tests on recorded outputs which failing commands ran all their tests, and which did not. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { readOutput } from "./read-output.ts";

const FOLDER = path.join(import.meta.dirname, "..", "..", "..", "..", "test", "fixtures", "tool-output");
const recorded = (name: string) => readFileSync(path.join(FOLDER, `${name}.txt`), "utf8");
const read = (text: string, isForTests = true) => {
  const { tests, hiding, blocked, isNameless } = readOutput({ text, folder: "/workspace", isForTests });
  return { tests, hiding, blocked, isNameless };
};

describe("a failing command ran its tests", () => {
  for (const [name, tests, hiding] of [
    ["go-test", 3, 1],
    ["cargo-test", 7, undefined],
    ["jest-failures", 7, 2],
    ["mocha-failures", 6, undefined],
    ["node-spec", 7, undefined],
    ["node-tap", 7, undefined],
    ["node-unloaded-spec", 3, 3],
    ["pytest-failures", 7, undefined],
    ["vitest-failures", 6, 2],
    ["unittest-failures", 5, 1],
  ] as const)
    test(`${name}: ${tests} of them, and ${hiding ?? 0} failures hide others`, () => {
      const found = read(recorded(name));
      assert.deepEqual(found, { tests, hiding, blocked: undefined, isNameless: undefined });
    });
});

describe("a failing command did not run its tests", () => {
  for (const [name, why] of [
    ["go-build", /does not build or load, so no test ran/],
    ["go-syntax", /does not build or load, so no test ran/],
    ["cargo-build", /does not build or load, so no test ran/],
    ["gcc-errors", /does not build or load, so no test ran/],
    ["tsc-plain", /^no test ran$/],
    ["eslint-stylish", /^no test ran$/],
    ["pytest-collect", /could not be collected/],
    ["python-traceback", /crashed/],
    ["cargo-test-quiet", /--no-fail-fast/],
  ] as const)
    test(`${name}: ${why.source}`, () => assert.match(read(recorded(name)).blocked ?? "", why));

  test("a package that is not in the tool's library keeps everything behind it from being seen", () => {
    const text = [
      "cmd/main.go:4:2: package slices is not in GOROOT (/usr/lib/go/src/slices)",
      "FAIL\texample.com/shop [setup failed]",
      "FAIL",
    ];
    assert.match(read(text.join("\n")).blocked ?? "", /no test ran/);
  });

  test("pytest that stopped at a failure has not looked at the rest", () => {
    const text = [
      "FAILED tests/test_a.py::test_one - assert 1 == 2",
      "!!!!!!!!!!!!!!!!!!!!!!!!!! stopping after 1 failures !!!!!!!!!!!!!!!!!!!!!!!!!!!",
      "1 failed, 3 passed in 0.02s",
    ];
    assert.match(read(text.join("\n")).blocked ?? "", /without -x/);
  });
});

describe("a failing command that is not for tests", () => {
  for (const name of ["tsc-plain", "eslint-stylish", "biome-check"])
    test(`${name} has looked at everything`, () =>
      assert.equal(read(recorded(name), false).blocked, undefined));

  for (const name of ["tsc-syntax", "go-build", "gcc-link"])
    test(`${name} has not: a compiler goes no further`, () =>
      assert.match(read(recorded(name), false).blocked ?? "", /not everything was looked at/));

  test("go vet reads on, unless the package does not build", () => {
    const found = ["# example.com/shop", "# [example.com/shop]", "./main.go:5:15: fmt.Printf format %d"];
    assert.equal(read(found.join("\n"), false).blocked, undefined);
    const broken = ["# example.com/shop", "# [example.com/shop]", "vet: ./main.go:5:15: undefined: x"];
    assert.match(read(broken.join("\n"), false).blocked ?? "", /not everything/);
    const linted = ["main.go:5:15: Error return value is not checked (errcheck)"];
    assert.equal(read(linted.join("\n"), false).blocked, undefined);
  });
});

test("the name of a make target says no more than an exit code", () => {
  assert.equal(read(recorded("make-error")).isNameless, true);
});
