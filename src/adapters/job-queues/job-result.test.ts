/** Tests that a worker's result is read completely or refused: missing, extra, harmful and oversized parts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnsweredTask } from "../../core/answers/plan-answer.ts";
import { failure } from "../../core/failure.ts";
import { type Handoff, NO_METRICS } from "../../core/handoff.ts";
import type { JobId, Outcome } from "../../core/job.ts";
import type { Evidence } from "../../core/rules/evidence.ts";
import { EVERYTHING } from "../../core/scope.ts";
import type { SubtaskOrder } from "../../core/subtask.ts";
import type { JobResult } from "../../ports/fleet-jobs.ts";
import { MAX_RESULT_CHARS, readResult } from "./job-result.ts";

const COMMIT = "a".repeat(40);
const WHY = { ...failure("quota", "slow down", "wait"), account: "a", until: 1.5, waitMs: 2, detail: "d" };
const EVIDENCE: Evidence = {
  commit: COMMIT,
  filesChanged: ["a.ts"],
  diff: "+1",
  linesAdded: 1,
  linesRemoved: 0,
  filesCreated: 1,
  filesModified: 0,
  deletedTests: [],
  disabledTests: [],
  forbiddenMarks: [],
  unmet: WHY,
  gateChanges: [{ of: "gate", file: "package.json", what: "the script test" }],
};
const HANDOFF: Handoff = {
  taskId: "t.1",
  status: "complete",
  summary: "s",
  diff: "",
  filesChanged: [],
  commit: COMMIT,
  concerns: ["c"],
  suggestions: [],
  metrics: NO_METRICS,
  flags: ["f"],
};
const TASK: AnsweredTask = {
  id: "a",
  isIdMade: true,
  description: "d",
  scope: ["src/", "a.ts", EVERYTHING],
  acceptance: "x",
  priority: 3,
  after: ["b"],
  delivers: "change",
  agent: "tester",
  needs: ["gpu"],
  size: "atomic",
  branch: "a-b",
};
const ORDER: SubtaskOrder = {
  type: "t",
  subtype: "s",
  template: "x",
  description: "d",
  instructions: "i",
  inputs: "{}",
  expectation: "e",
  maxDepth: 2,
  signature: "g",
  filePaths: ["a"],
  agent: "tester",
  context: {
    inherit_context: "full",
    accumulate_data: true,
    accumulation_format: "notes_only",
    fresh_context: "disabled",
  },
};
const CALLED = { is: "called", start: COMMIT, session: "work:t.1#1" as JobId, notes: ["n"] } as const;

const OUTCOMES: readonly Outcome[] = [
  {
    is: "planned",
    answer: {
      scratchpad: "",
      tasks: [TASK],
      deferred: [{ files: ["b/"], reason: "r" }],
      done: true,
      addressed: [{ concern: "c1", by: "a", because: "b" }],
      notes: ["n"],
    },
  },
  { is: "worked", handoff: HANDOFF, evidence: EVIDENCE },
  { ...CALLED, agent: "tester", call: { is: "subtask", order: ORDER } },
  { ...CALLED, call: { is: "question", question: { text: "q", default: "d", waitMs: 5 } } },
  {
    ...CALLED,
    call: {
      is: "refused",
      response: { name: "subtask", result: { status: "FAILED", content: "c", notes: { a: [1] } } },
    },
  },
  { is: "answered", question: "q", text: "a" },
  { is: "passed-on", question: "q" },
  { is: "failed", failure: WHY },
];
const SPENT = {
  tokens: 5,
  microdollars: 1.5,
  unaccounted: { calls: 1, tokens: 2, microdollars: 3 },
  turn: { model: "m", calls: 1, toolCalls: 2, inputTokens: 3, outputTokens: 4, stop: "stop" },
};
const REPORT = {
  commands: [
    { name: "test", green: false, failures: ["f"], more: 1, classes: ["tests"], unnamed: true },
    { name: "build", green: true, failures: [], nothingYet: true },
  ],
} as const;
const PROBLEM = { class: "tests", name: "n", files: ["f"], message: "m", cause: "c", advice: "a" } as const;

const RESULTS: readonly JobResult[] = [
  ...OUTCOMES.map((outcome) => ({ is: "answer" as const, answer: { outcome, spent: SPENT } })),
  {
    is: "answer",
    answer: { outcome: OUTCOMES[1]! },
    made: { commit: COMMIT, as: "branch", bundle: "turns/work-t.1-1.0.bundle" },
  },
  { is: "gated", gated: { report: REPORT, problems: [PROBLEM], tail: "\0", setup: WHY } },
  { is: "gated", gated: { failure: WHY } },
  { is: "probed", probed: { is: "proved" } },
  { is: "probed", probed: { is: "not-probed", why: "w" } },
  { is: "probed", probed: { is: "unproven", failure: WHY } },
  { is: "probed", probed: { failure: WHY } },
];

test("whatever a worker may say is read as it was said", () => {
  for (const result of RESULTS) assert.deepEqual(readResult(JSON.stringify(result)), result);
});

test("without any one of its parts, or with a part that is something else, it is no answer", () => {
  assert.equal(readResult(undefined), undefined);
  assert.equal(readResult("{"), undefined);
  for (const result of RESULTS)
    for (const broken of [...withOnePartAs(result, []), ...withOnePartAs(result, { is: "x" })])
      assert.equal(readResult(broken), undefined, broken);
  assert.equal(readResult('{"is":"answer"}'), undefined);
  assert.equal(readResult('{"is":"answer","answer":{"outcome":{"is":"planned"}}}'), undefined);
  assert.equal(readResult('{"is":"answer","answer":{"outcome":{"is":"landed","commit":"c"}}}'), undefined);
});

/** Replaces each text, number or flag in turn; the contents of a tool's notes are free. */
function* withOnePartAs(result: JobResult, other: unknown): Generator<string> {
  for (let at = 0, seen = 0; at <= seen; at += 1) {
    seen = -1;
    const text = JSON.stringify(result, (key, value: unknown) => {
      if (key === "notes" && !Array.isArray(value)) return {};
      if (typeof value === "object") return value;
      seen += 1;
      return seen === at ? other : value;
    });
    if (at <= seen) yield text;
  }
}

test("a plan names no commands, no place outside the repository, and no label that is none", () => {
  const planned = (task: object) =>
    readResult(
      JSON.stringify({
        is: "answer",
        answer: {
          outcome: {
            is: "planned",
            answer: { scratchpad: "", tasks: [{ ...TASK, ...task }], deferred: [], addressed: [], notes: [] },
          },
        },
      }),
    );
  const read = planned({ terms: { criterion: "rm -rf /" } });
  assert.ok(read && !JSON.stringify(read).includes("rm -rf"));
  assert.equal(planned({ scope: ["../x"] }), undefined);
  assert.equal(planned({ needs: ["a/b"] }), undefined);
});

test("an answer that costs less than nothing, or is endless, is none", () => {
  const answer = { outcome: OUTCOMES[7], spent: { tokens: -1 } };
  assert.equal(readResult(JSON.stringify({ is: "answer", answer })), undefined);
  const tail = "x".repeat(MAX_RESULT_CHARS);
  const gated = { report: { commands: [] }, problems: [], tail };
  assert.equal(readResult(JSON.stringify({ is: "gated", gated })), undefined);
});

test("an answer that would exhaust the coordinator is none", () => {
  const commands = (list: string) =>
    `{"is":"gated","gated":{"report":{"commands":${list}},"problems":[],"tail":""}}`;
  assert.ok(readResult(commands("[]")));
  assert.equal(readResult(commands(`[${"1,".repeat(1_000_000)}1]`)), undefined);
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const response = `{"name":"answer","result":{"status":"FAILED","content":"","notes":{"x":${deep}}}}`;
  const call = `{"is":"refused","response":${response}}`;
  const outcome = `{"is":"called","call":${call},"start":"${COMMIT}","session":"work:t.1#1"}`;
  assert.equal(readResult(`{"is":"answer","answer":{"outcome":${outcome}}}`), undefined);
});
