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
  assert.deepEqual(split(clause("build", "an author page")), []);
});

test("several objects of one verb are one task each, with what they have in common", () => {
  const each = (object: string, items: readonly string[]) =>
    clause("add", object, { items, itemsAre: "each" });
  assert.deepEqual(split(each("to the list page", ["search", "filters"])), [
    "Add search to the list page",
    "Add filters to the list page",
  ]);
  assert.deepEqual(split(each("these features", ["search", "filters"])), ["Add search", "Add filters"]);
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
