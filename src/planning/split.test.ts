/** Does a clause come apart where a person would take it apart, and nowhere else? */
import assert from "node:assert/strict";
import { test } from "node:test";
import { clauseOf, publishedData } from "../../test/plans/parts.ts";
import type { Clause } from "./reading.ts";
import { othersIn, partsOf } from "./split.ts";
import { workOf } from "./work.ts";

const { words } = publishedData();
const split = (clause: Clause) => partsOf(clause, workOf(clause), words).map(({ says }) => says);
const clause = (verb: string, object: string, given: Partial<Clause> = {}) =>
  clauseOf({ text: `${verb} ${object}`, verb, object, ...given });
const having = (verb: string, object: string, items: readonly string[]) =>
  clause(verb, object, { items, itemsAre: "with" });

test("what follows with is one task each", () => {
  assert.deepEqual(split(having("create", "calculator", ["add", "subtract"])), [
    "Implement add() for calculator",
    "Implement subtract() for calculator",
  ]);
  assert.deepEqual(split(having("build", "user auth", ["login", "logout"])), [
    "Implement login for user auth",
    "Implement logout for user auth",
  ]);
  assert.deepEqual(
    split(having("build", "a todo app", ["add", "list"]))[0],
    "Implement add for the todo app",
  );
  assert.deepEqual(split(having("build", "a todo app", ["a search bar", "tags"])), [
    "Implement a search bar for the todo app",
    "Implement tags for the todo app",
  ]);
});

test("words that stand for operations become these operations", () => {
  assert.deepEqual(split(clause("implement", "CRUD operations for products")), [
    "Implement create for products",
    "Implement read for products",
    "Implement update for products",
    "Implement delete for products",
  ]);
  assert.equal(split(clause("implement", "CRUD operations")).length, 4);
  assert.deepEqual(split(having("create", "a calculator", ["basic operations"])), [
    "Implement add() for the calculator",
    "Implement subtract() for the calculator",
    "Implement multiply() for the calculator",
    "Implement divide() for the calculator",
  ]);
  assert.deepEqual(split(clause("add", "user authentication")), [
    "Implement login for user authentication",
    "Implement logout for user authentication",
    "Implement register for user authentication",
  ]);
});

test("a family that is only spoken of is not built", () => {
  assert.deepEqual(split(clause("fix", "the auth bug")), []);
  assert.deepEqual(split(clause("add", "a test for the CRUD endpoints")), []);
  assert.deepEqual(split(clause("add", "auth middleware")), []);
  assert.deepEqual(split(clause("add", "a page for auth")), []);
  assert.deepEqual(split(clause("build", "an author page")), []);
});

test("several objects of one verb are one task each, with what they have in common", () => {
  const each = (text: string, items: readonly string[]) =>
    split(clauseOf({ text, verb: "add", object: "", items, itemsAre: "each" }));
  assert.deepEqual(each("Add search and filters to the list page", ["search", "filters"]), [
    "Add search to the list page",
    "Add filters to the list page",
  ]);
  assert.deepEqual(
    each("Add support for JSON and YAML to the loader", ["support for JSON", "YAML to the loader"]),
    ["Add support for JSON to the loader", "Add support for YAML to the loader"],
  );
  assert.deepEqual(each("Add dark mode and export to CSV", ["dark mode", "export to CSV"]), [
    "Add dark mode",
    "Add export to CSV",
  ]);
  assert.deepEqual(each("Add these", ["search", "filters"]), ["Add search", "Add filters"]);
});

test("things that are put together stay together", () => {
  for (const verb of ["merge", "compare", "extract"])
    assert.deepEqual(split(clause(verb, "", { items: ["a", "b"], itemsAre: "each" })), []);
});

test("the steps of a migration come in their order, other steps side by side", () => {
  const steps = (verb: string) =>
    partsOf(having(verb, "the store", ["convert the schema", "remove the old code"]), "change", words);
  assert.deepEqual(
    steps("migrate").map(({ says, after }) => [says, after]),
    [
      ["Convert the schema", []],
      ["Remove the old code", [0]],
    ],
  );
  assert.deepEqual(
    steps("improve").map(({ after }) => after),
    [[], []],
  );
});

test("tests and docs that come with something wait for it, and do not take its place", () => {
  const parts = partsOf(having("create", "a CSV tool", ["tests", "a man page"]), "build", words);
  assert.deepEqual(
    parts.map(({ says, after }) => [says, after]),
    [
      ["Create a CSV tool", []],
      ["Write tests for the CSV tool", [0]],
      ["Write a man page for the CSV tool", [0]],
    ],
  );
});

test("only what is built or grows is split at its with", () => {
  assert.deepEqual(split(having("set up", "CI", ["lint", "a docker build"])), []);
  assert.deepEqual(split(having("extend", "the API", ["sorting", "paging"])), [
    "Extend the API with sorting",
    "Extend the API with paging",
  ]);
});

test("a document with sections is one document", () => {
  assert.deepEqual(split(having("write", "a README", ["install", "usage"])), []);
  assert.deepEqual(split(having("review", "the API", ["errors", "names"])), []);
});

test("one item is nothing to split, and a repeated one counts once", () => {
  assert.deepEqual(split(having("build", "a page", ["search"])), []);
  assert.deepEqual(split(having("build", "a page", ["search", "search"])), []);
});

test("each part says what is left to the others", () => {
  const [first] = partsOf(having("create", "a calculator", ["add", "subtract", "divide"]), "build", words);
  assert.equal(othersIn(first!), "Leave to their own tasks: subtract and divide.");
});
