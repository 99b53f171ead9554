/** Tests how wide texts are on a terminal, and how they are cut, aligned and wrapped. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fit, onPage, table, width, wrapped } from "./columns.ts";

test("knows how many columns a text takes, and cuts it to them", () => {
  assert.deepEqual(["abc", "日本", "e\u0301", "🎉"].map(width), [3, 4, 1, 2]);
  assert.equal(fit("abcdef", 4), "abc…");
  assert.equal(fit("日本語", 5), "日本…");
  assert.equal(fit("abc", 3), "abc");
});

test("sets rows in columns", () => {
  assert.deepEqual(
    table([
      ["a", "bb", "c"],
      ["日本", "b", "cc"],
    ]),
    ["a     bb  c", "日本  b   cc"],
  );
});

test("wraps a paragraph at blanks", () => {
  assert.equal(wrapped("one two three four", 9), "one two\nthree\nfour");
  assert.equal(wrapped("one two three", 9, "  "), "one two\n  three");
  assert.equal(wrapped("  one two three", 9, "    "), "  one two\n    three");
  assert.equal(onPage({}, "one two", ""), "one two");
  assert.equal(onPage({ size: () => ({ columns: 6 }) }, "one two", ""), "one\ntwo");
  assert.equal(wrapped("extraordinarily long", 5), "extraordinarily\nlong");
});
