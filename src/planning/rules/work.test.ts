/** Is the kind of work told from what is asked for? */
import assert from "node:assert/strict";
import { test } from "node:test";
import { clauseOf } from "../../../test/plans/parts.ts";
import { deliveredBy, type Work, workOf } from "./work.ts";

const WORK: Readonly<Record<Work, readonly string[]>> = {
  build: [
    "create a parser",
    "add a login page",
    "build an image viewer",
    "write a script that sorts",
    "design a landing page",
    "set up CI",
  ],
  change: ["fix the parser", "rename x to y", "update the imports", "make the search faster"],
  report: [
    ...[
      "review the parser",
      "investigate why it fails",
      "check the logs",
      "write a report",
      "design an interface",
    ],
    "print the contents of x",
  ],
  verify: ["verify the build", "ensure that it works", "test that it works", "check whether it works"],
  tests: [
    "add unit tests for x",
    "write a regression test",
    "test the parser",
    "improve the test coverage",
    "cover the parser",
  ],
  docs: [
    "document the parser",
    "write a README",
    "update the changelog",
    "add docstrings to x",
    "fix the docs",
  ],
  operate: ["deploy the app", "run the tests", "publish version 2", "build the docker image"],
};

for (const [work, sentences] of Object.entries(WORK) as [Work, readonly string[]][])
  test(`${work} is what is asked for by ${sentences.length} sentences`, () => {
    for (const text of sentences) {
      const space = text.startsWith("set up") ? 6 : text.indexOf(" ");
      const clause = clauseOf({ text, verb: text.slice(0, space), object: text.slice(space + 1) });
      assert.equal(workOf(clause), work, text);
    }
  });

test("what a thing should do is a change of it, what we should do is done by us", () => {
  const work = (text: string, verb: string, object: string) => workOf({ text, verb, object, files: [] });
  assert.equal(work("It should list the last 10", "list", "the last 10"), "change");
  assert.equal(work("The job must run nightly", "run", "nightly"), "change");
  assert.equal(work("We should list the last 10", "list", "the last 10"), "report");
  assert.equal(work("The tests should be run", "run", "The tests"), "operate");
});

test("a file of prose is written, unless it only says what to build", () => {
  const files = ["docs/x.md"];
  const ask = (text: string, verb: string) => workOf(clauseOf({ text, verb, files }));
  assert.equal(ask("add a section to docs/x.md", "add"), "docs");
  assert.equal(ask("implement it as described in docs/x.md", "implement"), "build");
});

test("only what changes files delivers a change", () => {
  const works = Object.keys(WORK) as Work[];
  assert.deepEqual(
    works.filter((work) => deliveredBy(work) === "change"),
    ["build", "change", "tests", "docs"],
  );
});

test("what has no verb is something to build", () =>
  assert.equal(workOf(clauseOf({ text: "dark mode" })), "build"));

test("without a verb, a question is answered, what is wrong is mended, and all else is made", () => {
  const work = (text: string) => workOf({ object: text, files: [], text });
  assert.equal(work("why is it slow"), "report");
  assert.equal(work("login broken on safari"), "change");
  assert.equal(work("dark mode"), "build");
});

test("to run something in CI, or to stop doing something, changes what is written", () => {
  const work = (verb: string, object: string) =>
    workOf({ verb, object, files: [], text: `${verb} ${object}` });
  assert.equal(work("run", "the linter in CI"), "change");
  assert.equal(work("run", "the linter"), "operate");
  assert.equal(work("stop", "logging passwords"), "change");
  assert.equal(work("stop", "the server"), "operate");
});
