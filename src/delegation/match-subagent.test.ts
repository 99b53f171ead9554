/** Tests which subagent is chosen for a description by name, mapping and heuristics. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DelegationEngine } from "./delegation-engine.ts";
import { HEURISTICS } from "./heuristics.ts";

const match = (description: string, engine = new DelegationEngine()) => engine.matchSubagent({ description });

const EXPECTED: [string, string][] = [
  ["Debug the login form", "debugger"],
  ["Debugging session for the cache", "debugger"],
  ["Fixes the broken build", "debugger"],
  ["Review the pull request", "code-reviewer"],
  ["Keep reviewing until it is good", "code-reviewer"],
  ["Run the tests", "test-runner"],
  ["Add testing for the parser", "test-runner"],
  ["Write a unit test", "test-runner"],
  ["Document the public API", "documentation-expert"],
  ["Improve the documentation", "documentation-expert"],
  ["Update docs", "documentation-expert"],
  ["Update README.md", "documentation-expert"],
  ["Refactor the scheduler", "code-cleanup-optimizer"],
  ["Deploy to staging", "devops-experience-architect"],
  ["Upgrade all dependencies", "dependency-manager"],
  ["Upgrade dependencies", "dependency-manager"],
  ["Explore how sessions are stored", "codebase-context-analyzer"],
  ["Research message queues", "tech-lead-architect"],
  ["Add a prefix to ids", "main"],
  ["Restyle the inspector", "main"],
  ["Open the contest page", "main"],
  ["Dockerise the service", "main"],
  ["Show a preview of the image", "main"],
  ["Implement the login as the spec says", "main"],
  ["Build the login form", "main"],
  ["", "main"],
];

for (const [description, subagent] of EXPECTED)
  test(`"${description}" goes to ${subagent}`, () => assert.equal(match(description), subagent));

test("of several specialists, the one whose keyword comes first wins", () => {
  assert.equal(match("Debug the failing test"), "debugger");
  assert.equal(match("Test the debug output"), "test-runner");
  assert.equal(match("Document how to review and test"), "documentation-expert");
});

test("at the same place, table order decides", () => {
  const heuristics = [
    { subagent: "first", keywords: ["ship"] },
    { subagent: "second", keywords: ["ship it"] },
  ];
  assert.equal(match("Ship it", new DelegationEngine({ heuristics })), "first");
  assert.equal(match("Ship it", new DelegationEngine({ heuristics: heuristics.toReversed() })), "second");
});

test("the published table names each specialist once and finds it by each of its own words", () => {
  assert.equal(new Set(HEURISTICS.map(({ subagent }) => subagent)).size, HEURISTICS.length);
  for (const { subagent, keywords } of HEURISTICS)
    for (const keyword of keywords.filter((it) => typeof it === "string"))
      assert.equal(match(keyword), subagent, keyword);
});

test("whom the task names comes before everything", () => {
  const engine = new DelegationEngine();
  engine.addMapping({ taskType: "debug", subagent: "mapped", priority: 1000 });
  assert.equal(engine.matchSubagent({ description: "Debug it", delegateTo: "named" }), "named");
  assert.equal(engine.matchSubagent({ description: "Debug it", delegateTo: "  " }), "mapped");
});

test("a mapping comes before the heuristics, by priority and then by insertion", () => {
  const engine = new DelegationEngine();
  engine.addMapping({ taskType: "debug", subagent: "negative", priority: -1 });
  assert.equal(match("Debug it", engine), "negative");
  engine.addMapping({ taskType: "debug", subagent: "first" });
  engine.addMapping({ taskType: "debug", subagent: "second", priority: 0 });
  assert.equal(match("Debug it", engine), "first");
  engine.addMapping({ taskType: /^debug/i, subagent: "high", priority: 10 });
  engine.addMapping({ taskType: "it", subagent: "middle", priority: 5 });
  assert.equal(match("Debug it", engine), "high");
  assert.equal(match("Leave it", engine), "middle");
});

test("a mapping's keyword follows the same rules of words", () => {
  const engine = new DelegationEngine();
  engine.addMapping({ taskType: "Migration", subagent: "database" });
  assert.equal(match("Write the migrations", engine), "database");
  assert.equal(match("Immigrations", engine), "main");
});

test("a mapping with a stateful pattern matches every time", () => {
  const engine = new DelegationEngine();
  engine.addMapping({ taskType: /deploy/gi, subagent: "release" });
  for (let i = 0; i < 4; i += 1) assert.equal(match("Deploy", engine), "release");
});

test("a mapping that makes no sense is refused", () => {
  const engine = new DelegationEngine();
  assert.throws(() => engine.addMapping({ taskType: " ", subagent: "a" }), /task type must be a word/);
  assert.throws(() => engine.addMapping({ taskType: "x", subagent: "" }), /mapping of x needs the name/);
  assert.throws(
    () => engine.addMapping({ taskType: "x", subagent: "a", priority: Number.NaN }),
    /must be a number; got NaN/,
  );
  assert.equal(match("x", engine), "main");
});

test("what is no text is refused in words, not with a crash", () => {
  const engine = new DelegationEngine();
  for (const description of [
    5,
    null,
    undefined,
    {},
    Object.create(null),
    Symbol("s"),
  ] as unknown as string[]) {
    assert.throws(
      () => engine.matchSubagent({ description }),
      /^TypeError: a task's description must be text; got /,
    );
  }
  for (const delegateTo of [5, {}, ["main"], Symbol("s")] as unknown as string[]) {
    assert.throws(
      () => engine.matchSubagent({ description: "Debug it", delegateTo }),
      /^TypeError: a task's delegateTo must be the name of a subagent; got /,
    );
  }
});

test("options of the wrong kind are refused by name", () => {
  for (const maxContextChars of ["500", null, Number.NaN, Object.create(null)] as unknown as number[]) {
    assert.throws(
      () => new DelegationEngine({ maxContextChars }),
      /^RangeError: maxContextChars must be a number from 200; got /,
    );
  }
  assert.throws(
    () => new DelegationEngine({ heuristics: "none" as never }),
    /^TypeError: heuristics must be a list/,
  );
});
