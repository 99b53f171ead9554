/** Tests that the published words and limits are read, and that mistakes in a team's own files are reported. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { DATA } from "../../test/plans/parts.ts";
import { readPlanningData } from "./data.ts";
import { readOwnData } from "./data-schema.ts";

const textOf = (name: string) => readFileSync(path.join(import.meta.dirname, "../../planning", name), "utf8");
const words = (): Record<string, unknown> => JSON.parse(textOf("words.json"));
const limits = (): Record<string, unknown> => JSON.parse(textOf("limits.json"));

const problems = (given: { readonly words?: unknown; readonly limits?: unknown }): readonly string[] => {
  const read = readOwnData({
    words: { file: "w", text: JSON.stringify("words" in given ? given.words : words()) },
    limits: { file: "l", text: JSON.stringify("limits" in given ? given.limits : limits()) },
  });
  return "problems" in read ? read.problems : [];
};

test("the published words are read, with what other tools of this kind split by", () => {
  const { families } = DATA.words;
  assert.deepEqual(families.get("crud"), ["create", "read", "update", "delete"]);
  assert.deepEqual(families.get("basic operations"), ["add", "subtract", "multiply", "divide"]);
  assert.deepEqual(families.get("auth"), ["login", "logout", "register"]);
});

test("the published files are read without the schemas as they are with them", async () => {
  const shipped = (name: string) => ({ file: name, text: textOf(name), isShipped: true }) as const;
  const read = await readPlanningData({ words: shipped("words.json"), limits: shipped("limits.json") });
  assert.deepEqual(read, DATA);
});

test("no published list has a word twice, and no verb is in two lists", () => {
  const { verbs, polite, limits: limiting, order } = DATA.words;
  for (const list of [Object.values(verbs).flat(), polite, limiting.starts, ...Object.values(order)])
    assert.equal(new Set(list).size, list.length);
});

test("the published limits are those that are promised", () => {
  const { maxFilesModified, maxFilesRead, maxLinesRead, tier2From, tier3Above, maxConcurrent } = DATA.limits;
  assert.deepEqual(
    [maxFilesModified, maxFilesRead, maxLinesRead, tier2From, tier3Above, maxConcurrent],
    [3, 5, 10_000, 5, 15, 8],
  );
  for (const [name, entry] of Object.entries(limits()))
    if (name !== "version") assert.match((entry as { why: string }).why, /\w+ \w+/, name);
});

test("each problem is said with its place", () => {
  const broken = {
    ...words(),
    version: 1,
    polite: ["please", 7, " "],
    finite: "is",
    vague: { verbs: [], words: [], clear: [], weather: [] },
    families: { crud: "all" },
    own: [],
  };
  assert.deepEqual([...problems({ words: broken })].sort(), [
    "w: families.crud: must be a list of words",
    "w: finite: must be a list of words",
    "w: own: is not known here",
    "w: polite[1]: must be a string",
    "w: polite[2]: an empty string",
    "w: vague.weather: is not known here",
    "w: version: must be 2, the version of this format",
  ]);
  const wrong = { maxFilesRead: { value: 0 }, maxWaves: { value: "6" }, maxTask: { value: 3 }, version: 2 };
  const { maxTasks: _, ...others } = limits();
  assert.deepEqual([...problems({ limits: { ...others, ...wrong } })].sort(), [
    "l: maxFilesRead.value: must be a whole number from 1 to 1000000000",
    "l: maxTask: is not known here",
    "l: maxTasks: is missing",
    "l: maxWaves.value: must be a whole number from 1 to 1000000000",
    "l: version: must be 1, the only one that is known",
  ]);
});

test("what is no object at all, what is missing and what is too much is said", () => {
  for (const value of [null, 3, "words", []])
    assert.deepEqual(problems({ words: value, limits: value }), [
      "w: must be an object",
      "l: must be an object",
    ]);
  const { order: _, ...rest } = words();
  assert.deepEqual(problems({ words: rest }), ["w: order: must be an object"]);
  const many = (length: number, one: unknown) => ({ ...words(), polite: Array(length).fill(one) });
  assert.equal(problems({ words: many(1_000, 1) }).length, 50);
  assert.deepEqual(problems({ words: many(6_000, "a") }), ["w: polite: has more than 5000 words"]);
});

test("a text that is no JSON is named with its file", () => {
  const broken = { file: "w.json", text: "{" };
  const read = readOwnData({ words: broken, limits: { ...broken, file: "l.json" } });
  assert.ok("problems" in read);
  assert.match(read.problems[0]!, /^w\.json: is not JSON/);
  assert.match(read.problems[1]!, /^l\.json: is not JSON/);
});
