/** Tests which facts about a repository follow from its paths and manifests. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { factsFrom } from "./facts.ts";

const factsOf = (files: readonly string[]) => factsFrom(files.map((path) => ({ path })));

describe("facts", () => {
  it("name the languages by their number of files, without what others wrote", () => {
    const files = ["a.ts", "b.tsx", "c.py", "ts", "LICENSE", "node_modules/x/y.js", "vendor/z.go", ".ts"];
    assert.deepEqual(factsOf(files).languages, ["TypeScript", "Python"]);
    assert.deepEqual(factsOf(["a.constructor", "b.__proto__"]).languages, []);
  });

  it("list files in order, with the sizes that are known", () => {
    const { files, bytes, filesLeftOut } = factsFrom([{ path: "b" }, { path: "a", bytes: 3 }], undefined, 7);
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
