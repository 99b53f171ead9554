/** Tests comparing scopes, and normalising paths that a model wrote. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { containing, contains, EVERYTHING, modules, overlaps, readPath, weight } from "./scope.ts";

describe("contains", () => {
  for (const [outer, inner] of [
    ["src/", "src/a.ts"],
    ["src/", "src/core/"],
    ["src", "src/a.ts"],
    ["src", "src/"],
    ["src/", "src"],
    ["src/a.ts", "src/a.ts"],
    [EVERYTHING, "src/a.ts"],
    [EVERYTHING, EVERYTHING],
  ] as const) {
    test(`${outer} covers ${inner}`, () => assert.ok(contains([outer], inner)));
  }

  for (const [outer, inner] of [
    ["src/a.ts", "src/"],
    ["src/", "srcs/a.ts"],
    ["src/a.ts", "src/a.tsx"],
    ["src/a.ts", EVERYTHING],
    ["src/core/", "src/"],
  ] as const) {
    test(`${outer} does not cover ${inner}`, () => assert.equal(contains([outer], inner), false));
  }
});

test("two scopes overlap when a path of one covers a path of the other", () => {
  assert.ok(overlaps(["a.ts", "src/"], ["src/b.ts"]));
  assert.ok(overlaps(["src/b.ts"], ["a.ts", "src/"]));
  assert.equal(overlaps(["src/a.ts"], ["src/b.ts"]), false);
  assert.equal(overlaps([], [EVERYTHING]), false);
});

test("a folder weighs four files", () => {
  assert.equal(weight(["a.ts", "src/", "b.ts"]), 6);
  assert.equal(weight([]), 0);
});

test("files of one folder are one module", () => {
  assert.equal(modules(["src/core/a.ts", "src/core/b.ts"]), 1);
  assert.equal(modules(["src/core/a.ts", "src/graph/b.ts", "a.ts"]), 3);
});

test("an index of a scope agrees with the scope", () => {
  const path = fc
    .tuple(fc.array(fc.constantFrom("a", "b", "ab"), { minLength: 1, maxLength: 4 }), fc.boolean())
    .map(([parts, folder]) => parts.join("/") + (folder ? "/" : ""));
  const anyPath = fc.oneof(
    { weight: 19, arbitrary: path },
    { weight: 1, arbitrary: fc.constant(EVERYTHING) },
  );
  fc.assert(
    fc.property(fc.array(anyPath, { maxLength: 4 }), anyPath, (scope, asked) => {
      assert.equal(containing(scope)(asked), contains(scope, asked));
    }),
    { numRuns: 5_000 },
  );
});

describe("readPath", () => {
  for (const [written, path] of [
    ["src/a.ts", "src/a.ts"],
    ["./src/a.ts", "src/a.ts"],
    [" src//core/./a.ts ", "src/core/a.ts"],
    ["src/", "src/"],
    ["src/**", "src/"],
    ["src/*", "src/"],
    [".", EVERYTHING],
    ["./", EVERYTHING],
    ["app/[id]/page.tsx", "app/[id]/page.tsx"],
    [".github/workflows/ci.yml", ".github/workflows/ci.yml"],
    [".gitignore", ".gitignore"],
    ["a..b/c...d", "a..b/c...d"],
    ["docs/名前.md", "docs/名前.md"],
    ["a b.txt", "a b.txt"],
  ] as const) {
    test(`${JSON.stringify(written)} is ${path}`, () => assert.deepEqual(readPath(written), { path }));
  }

  for (const [written, why] of [
    ["", /is empty/],
    ["  ", /is empty/],
    ["././", /names nothing/],
    ["/etc/passwd", /not relative/],
    ["~/x", /not relative/],
    ["C:/x", /not relative/],
    ["./C:/x", /not relative/],
    ["./~/x", /not relative/],
    ["./ /etc/passwd", /starts or ends with a space/],
    ["\\\\host\\x", /not relative/],
    ["src\\a.ts", /write "\/"/],
    ["../x", /leaves the repository/],
    ["src/../../x", /leaves the repository/],
    ["src/..", /leaves the repository/],
    ["src/*.ts", /is a pattern/],
    ["**", /is a pattern/],
    [".git", /reaches into \.git/],
    [".git/config", /reaches into \.git/],
    ["sub/.GIT/hooks/pre-commit", /reaches into \.git/],
    [".git./config", /reaches into \.git/],
    [".git /config", /reaches into \.git/],
    ["git~1/config", /reaches into \.git/],
    [".git::$INDEX_ALLOCATION/config", /reaches into \.git/],
    [".g\u200cit/config", /invisible/],
    ["--upload-pack=evil", /starts with "-"/],
    ["./-x", /starts with "-"/],
    [":(exclude)src", /starts with ":"/],
    ["a\u0000b", /invisible/],
    ["a\nb", /invisible/],
    ["\u202egpj.exe", /invisible/],
    ["a\u206ab", /invisible/],
    ["a\ud800", /invisible/],
    ["x".repeat(100_000), /is longer than 1024/],
    ["a/".repeat(100), /is deeper than 64/],
  ] as const) {
    const name = JSON.stringify(written.length > 40 ? `${written.slice(0, 40)}…` : written);
    test(`${name} is refused: ${why.source}`, () => {
      const read = readPath(written);
      assert.ok("problem" in read);
      assert.match(read.problem, why);
      assert.ok(read.problem.length < 250);
    });
  }

  test("what passes reads the same the second time", () => {
    const unit = fc.constantFrom(
      "a",
      "b",
      "/",
      "./",
      "..",
      ".",
      " ",
      "-",
      ":",
      ".git",
      "*",
      "~",
      "\\",
      "é",
      "\u200b",
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 8 }), (written) => {
        const read = readPath(written);
        if ("path" in read) assert.deepEqual(readPath(read.path), read);
      }),
      { numRuns: 10_000 },
    );
  });
});
