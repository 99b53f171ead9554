/** Tests that every claim of the page on security names a test that exists. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { it } from "node:test";

const ROOT = path.resolve(import.meta.dirname, "../..");
const page = readFileSync(path.join(ROOT, "docs/security.md"), "utf8");
const [claims = "", list = ""] = page.split("## The tests");
const entries = [...list.matchAll(/^- \[(\d+)\] `([^`]+)`: (.+)$/gm)];

it("the page on security names tests that there are", () => {
  for (const [, number, file = "", name = ""] of entries) {
    const text = readFileSync(path.join(ROOT, file), "utf8");
    assert.ok(
      new RegExp(`^ *(?:it|test|sandboxed)\\(\\s*["\`]${RegExp.escape(name)}`, "m").test(text),
      `[${number}] ${file}: ${name}`,
    );
  }
});

it("each number on the page on security has its test, and each test its claim", () => {
  const cited = [...claims.matchAll(/\[([\d, ]+)\]/g)].flatMap(([, numbers = ""]) => numbers.split(", "));
  const listed = entries.map(([, number = ""]) => number);
  assert.deepEqual([...new Set(cited)].sort(), [...listed].sort());
});
