import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { WORDS } from "../../test/support/reading.ts";
import { readWords } from "./words.ts";

const published = (): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL("../../planning/words.json", import.meta.url), "utf8"));

const problems = (value: unknown) => {
  const read = readWords(value);
  return "problems" in read ? read.problems : [];
};

test("the published words are read, with what other tools of this kind split by", () => {
  assert.ok(WORDS.actionVerbs.length >= 150);
  assert.deepEqual(WORDS.families.get("crud"), ["create", "read", "update", "delete"]);
  assert.deepEqual(WORDS.families.get("basic operations"), ["add", "subtract", "multiply", "divide"]);
  assert.deepEqual(WORDS.families.get("auth"), ["login", "logout", "register"]);
});

test("every published noun that is also a verb is among the verbs, and no list has a word twice", () => {
  const verbs = new Set(WORDS.actionVerbs);
  assert.deepEqual(
    WORDS.alsoNouns.filter((word) => !verbs.has(word)),
    [],
  );
  for (const list of [WORDS.actionVerbs, WORDS.polite, WORDS.connectors, ...Object.values(WORDS.lists)])
    assert.equal(new Set(list).size, list.length);
});

test("each problem is said with its place", () => {
  const broken = {
    ...published(),
    version: 2,
    actionVerbs: ["add", 7, " "],
    connectors: "and",
    domain: { architecture: [], security: [], integration: [], weather: [] },
    phrasal: { "set up": 1 },
    families: { crud: "all" },
    own: [],
  };
  assert.deepEqual(problems(broken), [
    "actionVerbs[1]: must be a string",
    "actionVerbs[2]: an empty string",
    "phrasal.set up: must be a string",
    "connectors: must be a list of words",
    "domain.weather: is not known here",
    "families.crud: must be a list of words",
    "version: must be 1, the version of this format",
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
  const many = { ...published(), actionVerbs: Array.from({ length: 1_000 }, () => 1) };
  assert.equal(problems(many).length, 50);
  assert.deepEqual(problems({ ...published(), actionVerbs: Array.from({ length: 6_000 }, () => "a") }), [
    "actionVerbs: has more than 5000 words",
  ]);
});
