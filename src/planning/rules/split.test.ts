/** Does a clause come apart where a person would take it apart, and nowhere else? */
import assert from "node:assert/strict";
import { test } from "node:test";
import { clauseOf, publishedData } from "../../../test/plans/parts.ts";
import type { Clause } from "../reading.ts";
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
    "Implement add() for the calculator",
    "Implement subtract() for the calculator",
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
    "Implement the create operation for products",
    "Implement the read operation for products",
    "Implement the update operation for products",
    "Implement the delete operation for products",
  ]);
  assert.deepEqual(split(clause("implement", "CRUD operations"))[3], "Implement the delete operation");
  assert.deepEqual(
    split(clause("add", "a CRUD API for users"))[0],
    "Implement the create endpoint for users",
  );
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

test("words that stand for operations do so among other parts as well", () => {
  const parts = partsOf(
    having("build", "a shop", ["auth", "a REST API with CRUD endpoints", "a cart"]),
    "build",
    words,
  );
  assert.deepEqual(
    parts.map(({ says, depth = 2 }) => `${depth} ${says}`),
    [
      "3 Implement login for the shop",
      "3 Implement logout for the shop",
      "3 Implement register for the shop",
      "3 Implement the create endpoint of the REST API",
      "3 Implement the read endpoint of the REST API",
      "3 Implement the update endpoint of the REST API",
      "3 Implement the delete endpoint of the REST API",
      "2 Implement a cart for the shop",
    ],
  );
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
  assert.deepEqual(
    each("Add the search and the total on the page", ["the search", "the total on the page"]),
    ["Add the search", "Add the total on the page"],
  );
  assert.deepEqual(
    split(
      clause("add", "models", {
        text: "add models for a and b, each with tests",
        items: ["a", "b"],
        itemsAre: "each",
      }),
    ),
    ["Add models for a with tests", "Add models for b with tests"],
  );
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

test("each thing that is set up is a task, tests as well: nothing is written that they wait for", () => {
  const parts = partsOf(having("set up", "CI", ["lint", "unit tests"]), "build", words);
  assert.deepEqual(
    parts.map(({ says, after }) => [says, after]),
    [
      ["Set up lint for CI", []],
      ["Set up unit tests for CI", []],
    ],
  );
});

test("only what is built or grows is split at its with", () => {
  assert.deepEqual(split(having("configure", "the cache", ["limits", "a timeout"])), []);
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

test("a sentence is no object: what is wrong is said as it is", () => {
  assert.deepEqual(
    split(clause("fix", "the cart", { items: ["the total is wrong", "a typo"], itemsAre: "each" })),
    ["Fix: the total is wrong", "Fix a typo"],
  );
});
