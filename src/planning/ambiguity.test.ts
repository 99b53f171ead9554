/** Is what cannot be planned asked, and what can be planned not? */
import assert from "node:assert/strict";
import { test } from "node:test";
import { around, factsOf } from "../../test/plans/parts.ts";
import { planByRules } from "./by-rules.ts";
import { isReady } from "./plan.ts";

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

test("an answer with a verb of its own stands alone, also for an empty request", () => {
  const answers = new Map([["what", "add a login page"]]);
  assert.equal(plan("make it better", { answers }).tasks[0]!.subject, "Add a login page");
  assert.equal(plan("", { answers }).tasks[0]!.subject, "Add a login page");
});

test("a name that several files have is a question with a default, which is also said", () => {
  const facts = factsOf(["lib/util.ts", "src/util.ts"]);
  const first = plan("fix the crash in util.ts", { facts });
  assert.equal(isReady(first), true);
  assert.deepEqual(
    first.questions.map(({ id, default: one }) => [id, one]),
    [["file:util.ts", "lib/util.ts"]],
  );
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
  assert.deepEqual(
    plan("add unit tests for the parser", { facts }).questions.map(({ default: one }) => one),
    ["pytest"],
  );
  assert.deepEqual(plan("add jest tests for the parser", { facts }).questions, []);
});
