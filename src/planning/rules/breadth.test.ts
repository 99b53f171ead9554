/** Is the same work on many items handed out to agents, every item to just one? */
import assert from "node:assert/strict";
import { test } from "node:test";
import { clauseOf, factsOf, publishedData } from "../../../test/plans/parts.ts";
import { randomFrom } from "../../simulation/random.ts";
import type { RepositoryFacts } from "../facts.ts";
import { NO_FACTS } from "../facts.ts";
import type { Clause } from "../reading.ts";
import { breadthOf, inGroups } from "./breadth.ts";
import { treeOf } from "./paths.ts";
import { workOf } from "./work.ts";

const { limits } = publishedData();
const ask = (clause: Clause, facts: RepositoryFacts = NO_FACTS, agents = 8) =>
  breadthOf({ clause, work: workOf(clause), facts, tree: treeOf(facts), limits, agents });
const sizes = (clause: Clause, facts?: RepositoryFacts, agents?: number) =>
  ask(clause, facts, agents)?.groups.map((group) => group.length);
const names = (clause: Clause, facts?: RepositoryFacts) =>
  ask(clause, facts)
    ?.groups.flat()
    .map(({ name }) => name);

const numbered = (count: number, folder = "agents", ending = "md") =>
  Array.from({ length: count }, (_, i) => `${folder}/${String(i).padStart(4, "0")}.${ending}`);
const review16 = clauseOf({
  text: "Review 16 agent files",
  verb: "review",
  object: "16 agent files",
  count: 16,
});

test("16 files and 8 agents make 8 tasks of 2, in order", () => {
  const facts = factsOf([...numbered(16), "README.md", "src/a.ts"]);
  assert.deepEqual(sizes(review16, facts), Array(8).fill(2));
  assert.deepEqual(names(review16, facts), numbered(16));
});

test("groups are contiguous, nearly equal, and together are all", () => {
  for (let items = 1; items <= 40; items += 1) {
    for (let count = 1; count <= 12; count += 1) {
      const all = Array.from({ length: items }, (_, i) => i);
      const groups = inGroups(all, count);
      const lengths = groups.map((group) => group.length);
      assert.equal(groups.length, Math.min(count, items));
      assert.ok(Math.max(...lengths) - Math.min(...lengths) <= 1);
      assert.deepEqual(groups.flat(), all);
    }
  }
});

test("files to read come at most 5 to a task, however few agents there are", () => {
  const clause = clauseOf({
    text: "Review all files",
    verb: "review",
    object: "all files",
    isUnbounded: true,
  });
  const facts = factsOf(numbered(42, "src", "ts"));
  assert.equal(sizes(clause, facts, 8)!.length, 9);
  assert.ok(sizes(clause, facts, 2)!.every((size) => size <= 5));
});

test("10,000 lines are one task's input", () => {
  const clause = clauseOf({
    text: "Review all files",
    verb: "review",
    object: "all files",
    isUnbounded: true,
  });
  assert.equal(sizes(clause, factsOf(numbered(10, "src", "ts"), 400_000), 2)!.length, 10);
});

test("files to change come at most 3 to a task", () => {
  const clause = clauseOf({
    text: "Add a licence to all source files",
    verb: "add",
    object: "a licence to all source files",
    isUnbounded: true,
  });
  assert.ok(sizes(clause, factsOf(numbered(20, "src", "ts")), 2)!.every((size) => size <= 3));
});

test("a count that nothing fits gives numbers, and says so", () => {
  const found = ask(review16, factsOf(["src/a.ts"]))!;
  assert.deepEqual(
    found.groups[0]!.map(({ name }) => name),
    ["file 1 of 16", "file 2 of 16"],
  );
  assert.equal(found.groups.flat().length, 16);
  assert.match(found.assumptions[0]!, /None of the 16/);
});

test("a count that is off is said, and what is there is taken", () => {
  const found = ask(review16, factsOf(numbered(14)))!;
  assert.equal(found.groups.flat().length, 14);
  assert.match(found.assumptions[0]!, /speaks of 16; 14/);
});

test("of several folders that fit, the one with the count is meant", () => {
  const facts = factsOf([...numbered(5, "docs/agents"), ...numbered(16, "agents")]);
  assert.deepEqual(names(review16, facts), numbered(16));
});

test("3 retries or 2 seconds are not pieces of work", () => {
  assert.equal(
    ask(clauseOf({ text: "Add 3 retries", verb: "add", object: "3 retries", count: 3 })),
    undefined,
  );
});

test("kinds of files are told by their endings and folders", () => {
  const facts = factsOf([
    "a.py",
    "docs/x.md",
    "src/a.test.ts",
    "src/a.ts",
    "src/b.ts",
    "src/logo.png",
    "package-lock.json",
  ]);
  const all = (what: string) =>
    names(clauseOf({ text: `Review ${what}`, verb: "review", object: what, isUnbounded: true }), facts);
  assert.deepEqual(all("all TypeScript files"), ["src/a.test.ts", "src/a.ts", "src/b.ts"]);
  assert.deepEqual(all("all source files"), ["a.py", "src/a.ts", "src/b.ts"]);
  assert.deepEqual(all("all files"), ["a.py", "docs/x.md", "src/a.test.ts", "src/a.ts", "src/b.ts"]);
});

test("a folder narrows what is meant", () => {
  const clause = clauseOf({
    text: "Review all files in src/core",
    verb: "review",
    object: "all files in src/core",
    isUnbounded: true,
    files: ["src/core"],
  });
  assert.deepEqual(names(clause, factsOf(["src/core/a.ts", "src/core/b.ts", "src/z.ts"])), [
    "src/core/a.ts",
    "src/core/b.ts",
  ]);
});

test("a folder is one without its slash, too", () => {
  const facts = factsOf(["README.md", "src/a.ts", "src/b.ts", "test/a.ts"]);
  const all = (object: string) =>
    names(clauseOf({ text: `Review ${object}`, verb: "review", object, isUnbounded: true }), facts);
  assert.deepEqual(all("all files in src for leaks"), ["src/a.ts", "src/b.ts"]);
  assert.deepEqual(all("all files in use"), ["README.md", "src/a.ts", "src/b.ts", "test/a.ts"]);
});

test("each module is a folder", () => {
  const clause = clauseOf({
    text: "Add logging to every module",
    verb: "add",
    object: "logging to every module",
    isUnbounded: true,
  });
  const facts = factsOf(["src/auth/a.ts", "src/cart/b.ts", "src/cart/c.ts", "src/main.ts", "docs/x.md"]);
  assert.deepEqual(names(clause, facts), ["src/auth/", "src/cart/"]);
});

test("a folder that is too large to read is handed out by its files", () => {
  const clause = clauseOf({
    text: "Review src/core",
    verb: "review",
    object: "src/core",
    files: ["src/core"],
  });
  assert.equal(ask(clause, factsOf(numbered(5, "src/core"))), undefined);
  assert.deepEqual(sizes(clause, factsOf(numbered(6, "src/core"))), [1, 1, 1, 1, 1, 1]);
});

test("thousands of files go by folder, each file in one, and the cost is said", () => {
  const files = ["a", "b", "c"].flatMap((folder) => [
    ...numbered(900, `src/${folder}`, "ts"),
    `src/${folder}/deep/x.ts`,
  ]);
  const clause = clauseOf({
    text: "Review all files",
    verb: "review",
    object: "all files",
    isUnbounded: true,
  });
  const found = ask(clause, factsOf([...files, "top.ts"]))!;
  assert.ok(found.groups.length <= limits.maxBreadthTasks);
  assert.equal(found.risks.length, 1);
  const paths = found.groups.flat().flatMap((item) => item.paths);
  for (const file of [...files, "top.ts"])
    assert.equal(
      paths.filter((one) => file === one || (one.endsWith("/") && file.startsWith(one))).length,
      1,
      file,
    );
});

test("files that are compared belong together", () => {
  const files = ["a.ts", "b.ts"];
  const both = (verb: string) =>
    clauseOf({ text: `${verb} a.ts and b.ts`, verb, object: "", items: files, itemsAre: "each", files });
  assert.deepEqual(sizes(both("review"), factsOf(files)), [1, 1]);
  assert.equal(ask(both("compare"), factsOf(files)), undefined);
  assert.equal(ask(both("rename"), factsOf(files)), undefined);
});

test("what is only to be found somewhere stays one task", () => {
  const facts = factsOf(numbered(20, "src", "ts"));
  const all = (verb: string, object: string) =>
    ask(clauseOf({ text: `${verb} ${object}`, verb, object, isUnbounded: true }), facts);
  assert.equal(all("rename", "getUser in all files"), undefined);
  assert.equal(all("add", "logging everywhere"), undefined);
  assert.equal(all("add", "types to all failing files"), undefined);
});

test("items are shared out so that each is named once, in its order, in groups that differ by one at most", () => {
  const random = randomFrom(5);
  for (let i = 0; i < 50_000; i += 1) {
    const items = Array.from({ length: random.spread(1, 40) }, (_, n) => n);
    const agents = random.between(1, 16);
    const groups = inGroups(items, agents);
    assert.equal(groups.length, Math.min(agents, items.length));
    assert.equal(groups.flat().join(), items.join());
    const sizes = groups.map(({ length }) => length);
    assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1, `${sizes}`);
  }
});

test("a folder that holds more files itself than tasks can read is shared out, and it is said that it is too much", () => {
  const files = numbered(900, "src", "ts");
  const all = {
    text: "Review all files in src",
    verb: "review",
    object: "all files in src",
    isUnbounded: true,
  };
  const one = { text: "Review src/", verb: "review", object: "src/", files: ["src/"] };
  for (const clause of [clauseOf(all), clauseOf(one)]) {
    const found = ask(clause, factsOf([...files, "docs/a.md", "docs/b.md"]))!;
    assert.deepEqual(
      found.groups.flatMap((group) => group.flatMap(({ paths }) => paths)),
      files,
    );
    assert.equal(found.groups.length, limits.maxBreadthTasks);
    assert.match(
      found.risks.join(),
      /^900 files are more than 100 tasks can read closely: each has many of them\.$/,
    );
  }
});
