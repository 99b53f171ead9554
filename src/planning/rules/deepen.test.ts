/** Is what is not simple understood first, tested and verified, and what is simple left alone? */
import assert from "node:assert/strict";
import { test } from "node:test";
import { clauseOf, draftOf, factsOf, surroundings } from "../../../test/plans/parts.ts";
import { deepened } from "./deepen.ts";
import type { Draft } from "./draft.ts";
import { verified } from "./verification.ts";

const facts = { ...factsOf(["src/a.test.ts", "src/a.ts"]), testCommand: "npm test" };
const clauses = [
  clauseOf({ text: "fix the parser", verb: "fix" }),
  clauseOf({ text: "fix the page", verb: "fix" }),
];
const at = (minDepth: number, given: Parameters<typeof surroundings>[1] = {}) =>
  surroundings(facts, { minDepth, clauses, request: "Fix both.", ...given });
const parts = [draftOf({ key: "1", clause: 0 }), draftOf({ key: "2", clause: 1 })];
const brief = (drafts: readonly Draft[]) => drafts.map(({ key, kind, after }) => `${key} ${kind} <${after}>`);

test("a task of the first tier is left as it is", () => assert.equal(deepened(parts, at(1)), parts));

test("in the second tier one looks into it first, for all", () => {
  const drafts = deepened(parts, at(2));
  assert.deepEqual(brief(drafts), ["0.1 understand <>", "1 part <0.1>", "2 part <0.1>"]);
  assert.match(drafts[0]!.subject, /the parser and the page/);
  assert.ok(drafts.every(({ depth }) => depth === 2));
});

test("in the third tier three look into it, each change has tests, and all is verified", () => {
  const drafts = verified(deepened([parts[0]!], at(3)), at(3));
  assert.deepEqual(brief(drafts), [
    ...[
      "0.1 understand <>",
      "0.2 understand <>",
      "0.3 understand <>",
      "1 part <0.1,0.2,0.3>",
      "1.t tests <1>",
    ],
    "end verify <1,1.t>",
  ]);
  assert.equal(drafts.at(-1)!.criterion, "npm test");
  assert.ok(drafts.every(({ depth }) => depth === 3));
});

test("what is deep enough already is left as it is", () => {
  const items = [draftOf({ key: "1.1", depth: 2 })];
  assert.equal(deepened(items, at(2)), items);
});

test("what the request has looked into itself needs nobody else to do so", () => {
  const looking = [
    clauseOf({ text: "find the cause", verb: "find" }),
    clauseOf({ text: "fix it", verb: "fix", after: [0] }),
  ];
  const drafts = [
    draftOf({ key: "1", clause: 0, work: "report", delivers: "report" }),
    draftOf({ key: "2", clause: 1 }),
  ];
  assert.deepEqual(brief(deepened(drafts, at(2, { clauses: looking }))), ["1 part <>", "2 part <>"]);
});

test("where there is nothing to look at, one thing is designed first, several are begun at once", () => {
  const empty = surroundings(undefined, {
    minDepth: 2,
    clauses: [clauseOf({ text: "add a page", verb: "add" })],
  });
  const built = { ...parts[0]!, work: "build" as const };
  assert.deepEqual(brief(deepened([built], empty)), ["0.1 understand <>", "1 part <0.1>"]);
  assert.match(deepened([built], empty)[0]!.subject, /^Design the page/);
  assert.deepEqual(brief(deepened(parts, empty)), ["1 part <>", "2 part <>"]);
});

test("what is found out first is called after the kind of change, and only what is new is designed", () => {
  const first = (text: string, given: Partial<Draft> = {}, around = at(2)) => {
    const [verb = "", ...rest] = text.split(" ");
    const one = clauseOf({ text, verb, object: rest.join(" ") });
    return deepened([draftOf({ key: "1", ...given })], { ...around, clauses: [one] })[0]!.subject;
  };
  assert.equal(first("fix the login bug"), "Find the cause of the login bug");
  assert.equal(first("fix the login"), "Find out what is wrong with the login");
  assert.equal(first("remove the old API"), "Explore what uses the old API");
  assert.equal(first("add a page", { work: "build" }), "Find the place for the page");
  assert.equal(first("refactor the parser"), "Explore the code behind the parser");
  assert.equal(
    first("fix the login bug", {}, surroundings(undefined, { minDepth: 2 })),
    "Find the cause of the login bug",
  );
});

test("who renames, reads, runs or tests something needs nobody before", () => {
  const alone = (verb: string, given: Partial<Draft> = {}) =>
    brief(
      deepened(
        [draftOf({ key: "1", ...given })],
        at(2, { clauses: [clauseOf({ text: `${verb} the parser`, verb })] }),
      ),
    );
  assert.deepEqual(alone("rename"), ["1 part <>"]);
  assert.deepEqual(alone("run", { work: "operate", delivers: "report" }), ["1 part <>"]);
  assert.deepEqual(alone("review", { work: "report", delivers: "report" }), ["1 part <>"]);
  assert.deepEqual(alone("write", { work: "tests" }), ["1 part <>"]);
  assert.deepEqual(alone("document", { work: "docs" }), ["0.1 understand <>", "1 part <0.1>"]);
});

test("parts that were split further wait for the design of the whole", () => {
  const deep = draftOf({ key: "1.2", work: "build", depth: 3 });
  const drafts = deepened(
    [draftOf({ key: "1.1", work: "build", depth: 2 }), deep],
    surroundings(undefined, { minDepth: 3, clauses }),
  );
  assert.deepEqual(drafts.find(({ key }) => key === "1.2")!.after, ["0.1"]);
});

test("tests that the request asks for are not written twice", () => {
  const drafts = [draftOf({ key: "1" }), draftOf({ key: "2", work: "tests", clause: 1 })];
  assert.ok(!deepened(drafts, at(3)).some(({ kind }) => kind === "tests"));
});

test("a verification that was asked for waits for every change before it, and runs the tests", () => {
  const check = draftOf({ key: "3", kind: "verify", work: "verify", delivers: "report" });
  const drafts = verified([...parts, check], at(1));
  assert.deepEqual(brief(drafts).at(-1), "3 verify <1,2>");
  assert.equal(drafts.at(-1)!.criterion, "npm test");
});

test("nobody verifies what is small and was not asked for", () =>
  assert.equal(verified(parts, at(2)), parts));

test("what is deployed at the end was verified before", () => {
  const deploy = draftOf({ key: "3", work: "operate", delivers: "report" });
  assert.deepEqual(brief(verified([...parts, deploy], at(3))), [
    "1 part <>",
    "2 part <>",
    "end verify <1,2>",
    "3 part <end>",
  ]);
});
