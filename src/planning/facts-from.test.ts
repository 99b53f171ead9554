/** What a repository's paths and manifests say. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cpuMs } from "../../test/support/cpu.ts";
import { factsFrom } from "./facts.ts";

const factsOf = (files: readonly string[], texts: Readonly<Record<string, string>> = {}) =>
  factsFrom(
    [...files, ...Object.keys(texts)].map((path) => ({ path })),
    new Map(Object.entries(texts)),
  );

describe("facts", () => {
  it("name the languages by their number of files, without what others wrote", () => {
    const files = ["a.ts", "b.tsx", "c.py", "ts", "LICENSE", "node_modules/x/y.js", "vendor/z.go", ".ts"];
    assert.deepEqual(factsOf(files).languages, ["TypeScript", "Python"]);
    assert.deepEqual(factsOf(["a.constructor", "b.__proto__"]).languages, []);
  });

  it("list files in order, with the sizes that are known", () => {
    const { files, bytes, filesLeftOut } = factsFrom([{ path: "b" }, { path: "a", bytes: 3 }], new Map(), 7);
    assert.deepEqual([files, [...bytes], filesLeftOut], [["a", "b"], [["a", 3]], 7]);
  });

  it("name the topmost folders of tests, and files only where there are none", () => {
    const both = ["src/a.test.ts", "test/e2e/b.ts", "pkg/one/__tests__/c.ts", "node_modules/x/test/y.js"];
    assert.deepEqual(factsOf(both).tests, ["pkg/one/__tests__/", "test/"]);
    const files = ["src/a.test.ts", "pkg/b_test.go", "test_c.py", "DTest.java", "contest.ts", "latest.js"];
    assert.deepEqual(factsOf(files).tests, ["DTest.java", "pkg/b_test.go", "src/a.test.ts", "test_c.py"]);
  });

  it("list manifests, also of packages below", () => {
    assert.deepEqual(factsOf(["go.mod", "web/package.json", "node_modules/x/package.json"]).manifests, [
      "go.mod",
      "web/package.json",
    ]);
  });
});

describe("the command that runs the tests", () => {
  const script = JSON.stringify({ scripts: { test: "x" } });
  const cases: readonly (readonly [string | undefined, readonly string[], Record<string, string>?])[] = [
    ["npm test", [], { "package.json": script }],
    ["pnpm test", ["pnpm-lock.yaml"], { "package.json": script }],
    ["yarn test", ["yarn.lock"], { "package.json": script }],
    ["bun run test", ["bun.lock"], { "package.json": script }],
    [
      undefined,
      [],
      { "package.json": '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' },
    ],
    [undefined, [], { "package.json": "{" }],
    [undefined, [], { "package.json": "null" }],
    ["cargo test", ["Cargo.toml"], { "package.json": "[]" }],
    ["go test ./...", ["go.mod"]],
    [undefined, ["deep/go.mod"]],
    ["python3 -m pytest -q", [], { "pyproject.toml": "[project]\n[tool.pytest.ini_options]\n" }],
    [undefined, [], { "pyproject.toml": "[project]\n" }],
    ["python3 -m pytest -q", ["conftest.py"]],
    ["mvn test", ["pom.xml"]],
    ["./gradlew test", ["build.gradle.kts", "gradlew"]],
    ["gradle test", ["build.gradle"]],
    ["bundle exec rspec", [], { Gemfile: 'source "x"\ngem "rspec-rails"\n' }],
    [undefined, [], { Gemfile: "# no rspec\n" }],
    ["composer test", [], { "composer.json": '{"scripts":{"test":["@lint","phpunit"]}}' }],
    ["deno task test", [], { "deno.json": '{"tasks":{"test":"deno test"}}' }],
    ["make test", [], { Makefile: "all:\n\ntest: all\n\tx\n" }],
    ["make check", [], { Makefile: "check :\n" }],
    [undefined, [], { Makefile: "test := x\n" }],
    [undefined, ["README.md"]],
  ];
  for (const [command, files, texts = {}] of cases)
    it(`is ${command ?? "not known"} for ${[...files, ...Object.values(texts)].join(" ").slice(0, 60)}`, () =>
      assert.equal(factsOf(files, texts).testCommand, command));

  it("is found in time in manifests made to be in the way", () => {
    const texts = {
      Gemfile: "a\n".repeat(130_000),
      Makefile: "test \t".repeat(40_000),
      "setup.cfg": "[".repeat(250_000),
    };
    const start = cpuMs();
    assert.equal(factsOf([], texts).testCommand, undefined);
    assert.ok(cpuMs() - start < 1_000);
  });
});
