/** Does a title say what it is about to who reads nothing else, in plain English? */
import assert from "node:assert/strict";
import { test } from "node:test";
import { WORDS } from "../../../test/support/reading.ts";
import { readRequest } from "../reading/read-request.ts";
import { saidAlone } from "./said.ts";

const said = (request: string) => {
  const { clauses } = readRequest(request, WORDS);
  return clauses.map((_, index) => saidAlone(clauses, index, WORDS));
};

const EXAMPLES: readonly (readonly [request: string, last: string])[] = [
  ["Build a React frontend, then deploy it with docker", "Deploy the React frontend with docker"],
  ["Add gift cards and write tests for them", "Write tests for gift cards"],
  ["It crashes when uploading a 2 GB file. Fix it.", "Fix the crash when uploading a 2 GB file"],
  ["Users cannot log in on Safari. Please fix it.", "Fix that users cannot log in on Safari"],
  ["Search is slow, please fix it", "Fix that search is slow"],
  ["Users get logged out. Find out why.", "Find out why users get logged out"],
  ["Investigate why the queue stalls, then fix it", "Fix that the queue stalls"],
  ["Fix the login bug and add a regression test", "Add a regression test for the login bug"],
  ["Fix the login bug and update the changelog", "Update the changelog"],
  ["Fix the parser. Add a page. Write docs.", "Write docs"],
  ["Fix the parser and this page", "Fix the parser and this page"],
  ["Verify that it works", "Verify that it works"],
  ["fix it", "Fix it"],
  ["The README is outdated. Update it.", "Update the README"],
  ["We've had complaints from users that search is slow. Fix it.", "Fix that search is slow"],
  ["Hi team, hope you are well! Search is slow. Fix it.", "Fix that search is slow"],
  ["Set up eslint and prettier, add a hook and run both in CI", "Run eslint and prettier in CI"],
  ["The cache should be cleared on logout", "Clear the cache on logout"],
  ["Why is the build slow?", "Answer: Why is the build slow?"],
  ["When I click save, the app crashes.", "Fix: when I click save, the app crashes"],
];

for (const [request, last] of EXAMPLES)
  test(`of ${JSON.stringify(request)} the last is ${JSON.stringify(last)}`, () =>
    assert.equal(said(request).at(-1), last));
