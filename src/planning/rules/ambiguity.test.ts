/** Is what cannot be planned asked, and what can be planned not? */
import assert from "node:assert/strict";
import { test } from "node:test";
import { around, factsOf } from "../../../test/plans/parts.ts";
import { planByRules } from "../by-rules.ts";
import { isReady } from "../plan.ts";

const plan = (request: string, given: Parameters<typeof around>[0] = {}) =>
  planByRules(request, around(given));

for (const request of [
  "fix it",
  "make it better",
  "update the thing",
  "Refactor",
  "improve the code",
  "fix the bugs!",
  "Please fix this.",
])
  test(`${JSON.stringify(request)} is asked about, and planned by its default`, () => {
    const { questions, tasks } = plan(request);
    assert.equal(questions[0]?.id, "what");
    assert.equal(questions[0]?.blocking, true);
    assert.ok(questions[0]!.question.endsWith(`(Default: ${questions[0]!.default})`));
    assert.ok(tasks.length > 0);
  });

for (const request of [
  "fix the login bug",
  "make the parser faster",
  "deploy",
  "fix `parse`",
  "dark mode",
  "improve error messages",
  "update src/a.ts",
  "It crashes when uploading a file. Fix it.",
  "Search is really slow, please fix it",
  "Fix this:\nTypeError: x is undefined",
])
  test(`${JSON.stringify(request)} says enough`, () => assert.equal(isReady(plan(request)), true));

test("an empty request is asked about and has no tasks", () => {
  for (const request of ["", " \n\t", "...", "!?"]) {
    const { questions, tasks } = plan(request);
    assert.deepEqual(
      [questions.length, questions[0]!.blocking, tasks.length],
      [1, true, 0],
      JSON.stringify(request),
    );
  }
});

test("an answer is used, said, and asked for no more", () => {
  const answers = new Map([["what", "the crash in src/login.ts"]]);
  const { questions, tasks, assumptions, goal } = plan("fix it", { answers });
  assert.deepEqual(questions, []);
  assert.equal(tasks[0]!.subject, "Fix the crash in src/login.ts");
  assert.deepEqual(tasks[0]!.scope, ["src/login.ts"]);
  assert.match(assumptions[0]!, /the crash in src\/login\.ts/);
  assert.match(goal, /crash/);
});

test("an answer takes the place of what was vague, whatever the form of its verb", () => {
  const { tasks } = plan("After fixing the bug, add a test and update the changelog", {
    answers: new Map([["what", "the crash in src/login.ts"]]),
  });
  assert.deepEqual(
    tasks.map(({ subject }) => subject),
    ["Fix the crash in src/login.ts", "Add a test for the crash", "Update the changelog"],
  );
});

test("an answer with a verb of its own stands alone, also for an empty request", () => {
  const answers = new Map([["what", "add a login page"]]);
  assert.equal(plan("make it better", { answers }).tasks[0]!.subject, "Add a login page");
  assert.equal(plan("", { answers }).tasks[0]!.subject, "Add a login page");
});

test("an answer that is only a thing keeps the wish; one that is a sentence says what is wrong", () => {
  const subject = (request: string, what: string) =>
    plan(request, { answers: new Map([["what", what]]) }).tasks[0]!.subject;
  assert.equal(subject("Make it better", "the cart"), "Improve the cart");
  assert.equal(subject("make it work", "the login page"), "Make the login page work");
  assert.equal(subject("Fix it", "the total is wrong in the cart"), "Fix: the total is wrong in the cart");
  assert.equal(subject("Fix it", "what is broken in the cart"), "Fix what is broken in the cart");
});

test("a name that several files have is decided by a default that is said, and asked of nobody", () => {
  const facts = factsOf(["lib/util.ts", "src/util.ts"]);
  const first = plan("fix the crash in util.ts", { facts });
  assert.equal(isReady(first), true);
  assert.deepEqual(first.questions, []);
  assert.deepEqual(first.tasks[0]!.scope, ["lib/util.ts"]);
  assert.match(first.assumptions[0]!, /lib\/util\.ts/);
  const second = plan("fix the crash in util.ts", {
    facts,
    answers: new Map([["file:util.ts", "src/util.ts"]]),
  });
  assert.deepEqual([second.tasks[0]!.scope, second.questions], [["src/util.ts"], []]);
});

test("tests where there are none need a framework", () => {
  const facts = factsOf(["src/main.py"]);
  const taken = (request: string) => plan(request, { facts }).assumptions;
  assert.deepEqual(taken("add unit tests for the parser"), [
    "Which test framework should be used? Taken: pytest.",
  ]);
  assert.deepEqual(taken("add jest tests for the parser"), []);
  assert.deepEqual(taken("fix the flaky login test"), []);
});
