/** Tests which words and phrases count as mentions of a keyword. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { mentionOf, read, type TaskType } from "./keywords.ts";

const mentions = (text: string, ...types: TaskType[]) => mentionOf(types)(read(text)) !== -1;

const FORMS: Record<string, string> = {
  debug: "debug debugs debugged debugging",
  fix: "fix fixes fixed fixing",
  test: "test tests tested testing",
  review: "review reviews reviewed reviewing",
  document: "document documents documented documenting",
  plan: "plan plans planned planning",
  crash: "crash crashes crashed crashing",
  optimise: "optimise optimises optimised optimising",
  verify: "verify verifies verified verifying",
  deploy: "deploy deploys deployed deploying",
  dependency: "dependency dependencies",
  tie: "tie ties tied tying",
  repo: "repo repos",
  veto: "veto vetoes vetoed vetoing",
  label: "label labels labeled labelled labeling labelling",
  doc: "doc docs",
  ci: "ci",
};

for (const [base, forms] of Object.entries(FORMS))
  test(`${base} is meant by: ${forms}`, () => {
    for (const form of forms.split(" ")) {
      assert.ok(mentions(`${form} it`, base), form);
      assert.ok(mentions(`Please, ${form.toUpperCase()}!`, base), form);
    }
  });

const NOT: [string, string][] = [
  ["Add a prefix to every id", "fix"],
  ["Suffixes and fixtures", "fix"],
  ["Redesign the inspector", "spec"],
  ["A special species", "spec"],
  ["Open the contest to the latest testament", "test"],
  ["Dockerise the service", "doc"],
  ["Show a preview", "review"],
  ["A planer for planes", "plan"],
  ["The builder pattern", "build"],
  ["run_test and testLogin stay", "test"],
  ["Überdoc und docü", "doc"],
];

for (const [text, keyword] of NOT)
  test(`"${text}" does not speak of ${keyword}`, () => assert.equal(mentions(text, keyword), false));

test("names of files, paths, addresses and members say nothing of the work", () => {
  for (const text of [
    "Delete debug.log",
    "Rename (src/debug/form.ts).",
    "Move ./debug there",
    "Look into debug/ and /debug",
    "Open https://example.org/debug now",
    "Call console.debug() twice",
    "Move src\\debug here",
    "Ask @debug",
  ])
    assert.equal(mentions(text, "debug"), false, text);
});

test("punctuation around a word, and a slash or hyphen between two, leave them words", () => {
  for (const text of [
    "(debug)",
    "debug.",
    "debug...",
    "`debug`",
    "fix/debug it",
    "log-debug",
    "**Debug**",
    "debug: x",
  ])
    assert.equal(mentions(text, "debug"), true, text);
});

test("a phrase matches in its inflections, over any blanks and hyphens", () => {
  for (const text of ["clean up", "Cleaning-up", "cleans \n up"]) assert.ok(mentions(text, "clean up"), text);
  assert.ok(mentions("Updates all of", "update of"));
  assert.ok(mentions("Update all the dependencies", "update dependency"));
  assert.ok(mentions("test all allowed forms", "test all"));
  assert.equal(mentions("Update theories", "update ories"), false);
  assert.equal(mentions("up clean", "clean up"), false);
  assert.equal(mentions("cleanup", "clean up"), false);
});

test("a keyword with signs in it is matched as it is spelled, also within names", () => {
  assert.ok(mentions("Port it to C++, please", "c++"));
  assert.ok(mentions("Edit src/package.json", "package.json"));
  assert.equal(mentions("Edit packagexjson", "package.json"), false);
  assert.equal(mentions("node.jsx", "node.js"), false);
});

test("an empty keyword is refused rather than matching everything", () => {
  for (const keyword of ["", "  "]) assert.throws(() => mentionOf([keyword]), /must be a word/);
});

test("a pattern with the flag g or y answers the same every time, and is left as it was", () => {
  for (const flags of ["g", "y", "gy"]) {
    const pattern = new RegExp("ship", flags);
    const mention = mentionOf([pattern]);
    for (let i = 0; i < 3; i += 1) assert.equal(mention(read("ship it")), 0);
    assert.equal(pattern.lastIndex, 0);
    pattern.lastIndex = 99;
    assert.equal(mention(read("ship it")), 0);
  }
});

test("a sticky pattern stays anchored to the start", () => {
  assert.equal(mentions("please ship", /ship/y), false);
});

test("the position is that of the earliest of all types", () => {
  assert.equal(mentionOf(["b", /a/, "c++"])(read("x c++ a b")), 2);
  assert.equal(mentionOf([])(read("anything")), -1);
});

test("accents written in either way are the same word", () => {
  assert.ok(mentions("Cafe\u0301 bauen", "caf\u00e9"));
});

test("no word matches inside a longer one, whatever surrounds it", () => {
  const letters = fc.stringMatching(/^[a-z]{1,4}$/);
  fc.assert(
    fc.property(letters, letters, (before, after) => {
      const word = `${before}test${after}`;
      assert.equal(mentions(`a ${word} b`, "test"), FORMS["test"]!.split(" ").includes(word));
    }),
  );
});
