/** Is a file that a request names found, and told apart from one that is only read? */
import assert from "node:assert/strict";
import { test } from "node:test";
import { clauseOf, factsOf } from "../../../test/plans/parts.ts";
import { meantBy, pathsOf, testOf, treeOf } from "./paths.ts";
import { type Work, workOf } from "./work.ts";

const tree = treeOf(
  factsOf([
    "docs/spec.md",
    "src/a.ts",
    "src/b.ts",
    "src/a.test.ts",
    "lib/util.ts",
    "src/util.ts",
    "test/test_x.py",
    "x.py",
  ]),
);
const paths = (text: string, verb: string, files: readonly string[], work?: Work) => {
  const clause = clauseOf({ text, verb, files });
  return pathsOf({ clause, work: work ?? workOf(clause), tree, chosen: new Map(), maxScope: 3 });
};

test("a name means the one file that has it", () => {
  assert.deepEqual(meantBy("b.ts", tree), { is: "path", path: "src/b.ts", isThere: true });
  assert.deepEqual(meantBy("./src/b.ts", tree), { is: "path", path: "src/b.ts", isThere: true });
  assert.deepEqual(meantBy("src", tree), { is: "path", path: "src/", isThere: true });
  assert.deepEqual(meantBy("util.ts", tree), {
    is: "several",
    written: "util.ts",
    paths: ["lib/util.ts", "src/util.ts"],
  });
  assert.deepEqual(meantBy("new/c.ts", tree), { is: "path", path: "new/c.ts", isThere: false });
  assert.deepEqual(meantBy("c.ts", tree), { is: "unknown", written: "c.ts" });
});

for (const written of ["../../etc/passwd", "/etc/passwd", ".git/config", "~/x", "C:/x", "a\u0000b", "-rf/x"])
  test(`${JSON.stringify(written)} is outside of every plan`, () => {
    assert.equal(meantBy(written, tree).is, "outside");
    assert.deepEqual(paths(`fix ${written}`, "fix", [written]), { scope: [], reads: [] });
  });

test("who changes a source may change its test", () => {
  assert.deepEqual(paths("fix the crash in src/a.ts", "fix", ["src/a.ts"]), {
    scope: ["src/a.ts", "src/a.test.ts"],
    reads: [],
  });
  assert.equal(testOf("x.py", tree), "test/test_x.py");
  assert.equal(testOf("src/b.ts", tree), "src/b.test.ts");
  assert.equal(testOf("src/new.ts", tree), undefined);
  assert.equal(testOf("docs/spec.md", tree), undefined);
});

test("what something is made from is read", () => {
  assert.deepEqual(paths("generate src/b.ts from docs/spec.md", "generate", ["src/b.ts", "docs/spec.md"]), {
    scope: ["src/b.ts", "src/b.test.ts"],
    reads: ["docs/spec.md"],
  });
  assert.deepEqual(paths("implement it as described in docs/spec.md", "implement", ["docs/spec.md"]), {
    scope: [],
    reads: ["docs/spec.md"],
  });
  assert.deepEqual(paths("remove x from src/b.ts", "remove", ["src/b.ts"]), {
    scope: ["src/b.ts", "src/b.test.ts"],
    reads: [],
  });
});

test("a review changes nothing; tests change tests", () => {
  assert.deepEqual(paths("review src/b.ts", "review", ["src/b.ts"]), { scope: [], reads: ["src/b.ts"] });
  assert.deepEqual(paths("add tests for src/a.ts", "add", ["src/a.ts"], "tests"), {
    scope: ["src/a.test.ts"],
    reads: ["src/a.ts"],
  });
});

test("a new file may be at the top, one that should be there may be anywhere", () => {
  assert.deepEqual(paths("create c.ts", "create", ["c.ts"]).scope, ["c.ts"]);
  assert.deepEqual(paths("fix c.ts", "fix", ["c.ts"]).scope, []);
});

test("what is taken out of files leaves others behind that nobody knows", () => {
  const files = ["src/a.ts", "src/b.ts"];
  assert.deepEqual(paths("extract x from src/a.ts and src/b.ts", "extract", files), {
    scope: [],
    reads: files,
  });
});
