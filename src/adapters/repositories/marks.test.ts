/** Tests which lines hold a mark that a worker must not leave, and which only look like one. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cpuMs } from "../../../test/support/cpu.ts";
import { conflictMarks, findMarks, keptMarks, mayHaveConflict, placeOfMark } from "./marks.ts";

const found = (path: string, ...lines: readonly string[]) =>
  findMarks([{ path, added: lines.map((text, i) => ({ line: i + 1, text })), removed: [] }]).map((mark) =>
    placeOfMark(mark).slice(path.length + 1),
  );

describe("a mark", () => {
  it("is a comment that switches the types off", () => {
    assert.deepEqual(found("a.ts", "// @ts-ignore"), ["1 @ts-ignore"]);
    assert.deepEqual(found("a.tsx", "  {/* @ts-expect-error because */}"), ["1 @ts-expect-error"]);
    assert.deepEqual(found("a.js", "/** @ts-nocheck */"), ["1 @ts-nocheck"]);
    assert.deepEqual(found("a.ts", 'refuse("@ts-ignore");', 'const word = "// @ts-ignore";'), []);
    assert.deepEqual(found("a.ts", "// It has no @ts-ignore in it."), []);
  });

  it("is the type any, and not the word", () => {
    const lines = [
      "f(x as any)",
      "const a: any = 1",
      "let b: any[]",
      "g(c?: any)",
      "Array<any>",
      "Map<string, any>",
    ];
    assert.equal(found("a.ts", ...lines).length, lines.length);
    assert.deepEqual(found("a.ts", "const a: any = 1"), ["1 : any"]);
    const words = [
      "if (any(x)) {}",
      "const any = 1",
      "// as any other",
      'say("as any")',
      "Promise.any(x)",
      "many: 3",
    ];
    assert.deepEqual(found("a.ts", ...words), []);
    assert.deepEqual(found("a.py", "x as any"), []);
  });

  it("is something unfinished, in a comment of the language", () => {
    assert.deepEqual(found("a.ts", "// TODO: later", "x(); // FIXME"), ["1 TODO", "2 FIXME"]);
    assert.deepEqual(found("a.py", "# TODO(me) later", "x = 1  # XXX: wrong"), ["1 TODO", "2 XXX"]);
    assert.deepEqual(found("a.css", "/* TODO colours */"), ["1 TODO"]);
    assert.deepEqual(found("a.ts", " * TODO more"), ["1 TODO"]);
    assert.deepEqual(found("a.html", "<!-- TODO: text -->"), ["1 TODO"]);
    assert.deepEqual(found("a.sql", "-- TODO: index"), ["1 TODO"]);
    assert.deepEqual(found("Makefile", "# TODO: clean"), ["1 TODO"]);
    assert.deepEqual(found("a.ts", "// todo: small letters"), ["1 todo"]);
    assert.deepEqual(found("a.ts", "// handle the rest. TODO"), ["1 TODO"]);
    assert.deepEqual(found("a.rs", "    todo!()", "    unimplemented!()"), ["1 todo!", "2 unimplemented!"]);
  });

  it("is a place that somebody else is to fill", () => {
    assert.deepEqual(found("a.ts", "// placeholder", "// Not implemented yet"), [
      "1 placeholder",
      "2 Not implemented",
    ]);
    assert.equal(found("a.ts", "// ... rest of the code", "// ... existing implementation").length, 2);
    assert.deepEqual(found("a.ts", "// The placeholder of an empty field", "// Stubs are made by hand"), []);
  });

  it("is not a word in a text, a name or a product", () => {
    const lines = [
      'title("TODO list app");',
      "const TODO = 1;",
      "// The TODO app's list",
      "// see TODO.md",
      "#todo = 1;",
    ];
    assert.deepEqual(found("a.ts", ...lines), []);
    assert.deepEqual(found("a.py", 'print("# TODO: x")', "TODO = 1"), []);
    assert.deepEqual(found("a.ts", "const url = 'http://x/TODO: y';"), []);
  });

  it("is not looked for in prose, lock files, fixtures, or what others and programs made", () => {
    const paths = [
      "a.md",
      "package-lock.json",
      "yarn.lock",
      "dist/a.js",
      "vendor/x/a.go",
      "a.min.js",
      "a.pb.go",
    ];
    for (const path of [...paths, "test/fixtures/a.ts", "src/generated/a.ts", "node_modules/a/a.js"]) {
      assert.deepEqual(found(path, "// TODO: x", "# TODO: x", "x as any"), [], path);
    }
  });

  it("of a conflict is one whose block is there as a whole and was not there before", () => {
    const patch = (path: string, line: number, text: string) => ({
      path,
      added: [{ line, text }],
      removed: [],
    });
    const ours = patch("a.ts", 3, "<<<<<<< HEAD");
    const theirs = patch("b.ts", 9, ">>>>>>> branch\r");
    assert.ok([ours, theirs].every(mayHaveConflict));
    assert.ok(!mayHaveConflict(patch("a.ts", 5, "=======")));
    const blocks = [
      { first: 3, middle: 5, last: 9 },
      { first: 13, middle: 15, last: 19 },
    ];
    const conflicts = ["a.ts", "b.ts", "c.ts"].map((file) => ({ file, blocks }));
    assert.deepEqual(conflictMarks([ours, theirs, patch("c.ts", 4, "x")], conflicts), [
      "a.ts:3 conflict markers",
      "b.ts:3 conflict markers",
    ]);
  });

  it("is no new one where its file has no more of them than before", () => {
    const patch = (added: readonly string[], removed: readonly string[]) => {
      const files = [{ path: "a.ts", added: added.map((text, i) => ({ line: i + 1, text })), removed }];
      return keptMarks(files, findMarks(files)).map(placeOfMark);
    };
    assert.deepEqual(patch(["// TODO: both"], ["// TODO: one", "// TODO: two"]), ["a.ts:1 TODO"]);
    assert.deepEqual(patch(["// TODO: one", "// TODO: two"], ["// TODO: both"]), []);
    assert.deepEqual(patch(["x as any;"], ["// TODO: later"]), []);
    assert.deepEqual(patch(["// placeholder"], ["// placeholder"]), []);
  });

  it("is found in a long line without taking long", () => {
    const start = cpuMs();
    found("a.ts", `${"'".repeat(200_001)}`, `"${"\\".repeat(200_000)}`, `// ${" TODO".repeat(50_000)}`);
    assert.ok(cpuMs() - start < 1_000);
  });
});
