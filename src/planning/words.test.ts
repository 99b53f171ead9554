/** Are word lists read as they are published, and wrong ones refused with their place? */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { DATA } from "../../test/plans/parts.ts";
import { readWords } from "./words.ts";

const { words: WORDS } = DATA;
const published = (): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL("../../planning/words.json", import.meta.url), "utf8"));

const problems = (value: unknown) => {
  const read = readWords(value);
  return "problems" in read ? read.problems : [];
};

test("the published words are read, with what other tools of this kind split by", () => {
  assert.deepEqual(WORDS.families.get("crud"), ["create", "read", "update", "delete"]);
  assert.deepEqual(WORDS.families.get("basic operations"), ["add", "subtract", "multiply", "divide"]);
  assert.deepEqual(WORDS.families.get("auth"), ["login", "logout", "register"]);
});

test("no published list has a word twice, and no verb is in two lists", () => {
  const verbs = Object.values(WORDS.verbs).flat();
  for (const list of [verbs, WORDS.polite, WORDS.limits.starts, ...Object.values(WORDS.order)])
    assert.equal(new Set(list).size, list.length);
});

test("each problem is said with its place", () => {
  const broken = {
    ...published(),
    version: 1,
    polite: ["please", 7, " "],
    finite: "is",
    vague: { verbs: [], words: [], clear: [], weather: [] },
    families: { crud: "all" },
    own: [],
  };
  assert.deepEqual(problems(broken), [
    "polite[1]: must be a string",
    "polite[2]: an empty string",
    "finite: must be a list of words",
    "families.crud: must be a list of words",
    "vague.weather: is not known here",
    "version: must be 2, the version of this format",
    "own: is not known here",
  ]);
});

test("what is no object at all, and what is missing, is said", () => {
  for (const value of [undefined, null, 3, "words", []])
    assert.equal(problems(value)[0], "the word lists must be an object");
  const { order: _, ...rest } = published();
  assert.ok(problems(rest).includes("order: must be an object"));
});

test("a file full of mistakes says the first of them", () => {
  assert.equal(problems({ ...published(), polite: Array.from({ length: 1_000 }, () => 1) }).length, 50);
  assert.deepEqual(problems({ ...published(), polite: Array.from({ length: 6_000 }, () => "a") }), [
    "polite: has more than 5000 words",
  ]);
});
