/** Tests how times, commits and texts are formatted for people, terminals and shells. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ago,
  asJson,
  duration,
  firstLine,
  harmless,
  harmlessLines,
  precise,
  quoted,
  sentence,
  short,
  steerless,
} from "./words.ts";

test("says times in two units at most", () => {
  const said = [400, 4_000, 59_600, 65_000, 3_600_000, 90_061_000].map(duration);
  assert.deepEqual(said, ["0 s", "4 s", "1 min 00 s", "1 min 05 s", "1 h 00 min", "1 d 1 h"]);
  assert.equal(duration(-5), "0 s");
  assert.equal(precise(1_250), "1.3 s");
  assert.deepEqual([ago(3_000), ago(65_000), ago(7_500_000)], ["just now", "1 min ago", "2 h ago"]);
});

test("ends a text as a sentence, once", () => {
  assert.deepEqual(["it failed", "it failed.", "why?"].map(sentence), ["it failed.", "it failed.", "why?"]);
});

test("shortens what is a commit, and nothing else", () => {
  assert.equal(short("a".repeat(40)), "aaaaaaaaaa");
  assert.equal(short("b".repeat(64)), "bbbbbbbbbb");
  assert.equal(short("c0"), "c0");
});

test("what others wrote cannot steer a terminal, and is cut", () => {
  assert.equal(harmless("a\u001b[2Jb\u202ec"), "a [2Jb c");
  assert.equal(harmless("x".repeat(600)).length, 500);
  assert.deepEqual(harmlessLines("one\n\u001b[31mtwo\nthree", 2), ["one", " [31mtwo", "… 1 more lines"]);
  assert.equal(firstLine("\n# A goal\n\nmore"), "A goal");
});

test("no character breaks a line, turns the order of letters or is an order to a terminal, in text and in JSON", () => {
  const unsafe = [0x7f, 0x85, 0x9b, 0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069];
  for (const code of unsafe) {
    const text = `a${String.fromCharCode(code)}b`;
    const name = code.toString(16);
    assert.equal(harmless(text), "a b", name);
    assert.deepEqual(harmlessLines(text), ["a b"], name);
    assert.equal(steerless(text), "a b", name);
    assert.match(asJson({ text }), /^[ -~]*$/, name);
    assert.deepEqual(JSON.parse(asJson({ text }, 2)), { text }, name);
  }
  for (let code = 0; code < 0x20; code += 1) assert.equal(harmless(`a${String.fromCharCode(code)}b`), "a b");
  assert.equal(steerless("\u001b[32m✔ grün 日本 🎉\u001b[0m\n"), "\u001b[32m✔ grün 日本 🎉\u001b[0m\n");
});

test("quotes what a shell would take apart", () => {
  assert.deepEqual(["a/b.sh", "my proj", "it's"].map(quoted), ["a/b.sh", "'my proj'", "'it'\\''s'"]);
});
