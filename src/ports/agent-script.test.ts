/** Tests reading scripts of scripted agents, and that all mistakes are reported with their place. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readScript } from "./agent-script.ts";

const problemsOf = (value: unknown) => {
  const read = readScript(JSON.stringify(value));
  return read.is === "broken" ? read.problems.join("\n") : "";
};
const withStep = (step: unknown) => problemsOf({ work: { a: [{ steps: [step], end: "silent" }] } });

describe("readScript", () => {
  it("reads a script", () => {
    const script = {
      plans: { t: [{ answer: { tasks: [] }, delayMs: 5 }, { text: "hm" }, { end: "outage" }] },
      work: {
        a: [
          {
            steps: [
              { do: "write", path: "a/b.js", text: "" },
              { do: "replace", path: "a/b.js", find: "x", with: "" },
              { do: "insert", path: "a/b.js", after: "x", text: "y" },
              { do: "rename", path: "a/b.js", to: "c.js" },
              { do: "run", command: ["true"] },
              { do: "wait", ms: 1 },
              { do: "commit", message: "m" },
              { do: "output", text: "# Result" },
            ],
            end: { handoff: { status: "complete" } },
          },
          { end: { exit: 3 } },
          { end: { answer: "DONE|$OUTPUT" } },
          { end: "done" },
        ],
      },
    };
    assert.equal(problemsOf(script), "");
  });

  it("takes missing plans and missing work for none", () => {
    assert.equal(JSON.stringify(readScript("{}")), '{"is":"script","script":{"plans":{},"work":{}}}');
  });

  it("takes a task that is called like something of the language's own", () => {
    const read = readScript('{"work": {"constructor": [{"end": "crash"}]}}');
    assert.deepEqual(read.is === "script" && Object.keys(read.script.work), ["constructor"]);
  });

  const wrong: [string, string, RegExp][] = [
    ["text that is no JSON", "{", /^it is not JSON/],
    ["a list", "[]", /must be an object/],
    ["a key that means nothing", '{"plan": {}}', /has unknown keys: plan/],
    ["a task without a list", '{"work": {"a": {}}}', /^work\.a must be a list/],
    ["an empty list", '{"work": {"a": []}}', /^work\.a must be a list with at least one/],
    ["an entry that is no object", '{"plans": {"t": ["hm"]}}', /^plans\.t\[1\] must have one of/],
    [
      "an answer without tasks",
      '{"plans": {"t": [{"answer": {}}]}}',
      /^plans\.t\[1\] must have one of "answer" \(an object with a list "tasks"\)/,
    ],
    ["two ends at once", '{"plans": {"t": [{"text": "", "end": "hang"}]}}', /must have one of/],
    [
      "a wait that is no number",
      '{"plans": {"t": [{"text": "", "delayMs": "1"}]}}',
      /^plans\.t\[1\] must have .* "delayMs" \(ms\)/,
    ],
    ["an unknown end", '{"work": {"a": [{"end": "boom"}]}}', /^work\.a\[1\]\.end must be/],
    ["a missing end", '{"work": {"a": [{}]}}', /^work\.a\[1\]\.end must be/],
    ["an exit code that is none", '{"work": {"a": [{"end": {"exit": 256}}]}}', /end\.exit must be from 0/],
    ["an answer that is no text", '{"work": {"a": [{"end": {"answer": 1}}]}}', /^work\.a\[1\]\.end must be/],
    ["an end of work in a plan", '{"plans": {"t": [{"end": "done"}]}}', /"end" \("crash", "hang"/],
    [
      "a handoff that is no object",
      '{"work": {"a": [{"end": {"handoff": 1}}]}}',
      /^work\.a\[1\]\.end must be .*"handoff"/,
    ],
    [
      "a call that is no object",
      '{"work": {"a": [{"end": {"spawn": 1}}]}}',
      /^work\.a\[1\]\.end must be .*"spawn"/,
    ],
    [
      "a mistake in how it goes on",
      '{"work": {"a": [{"end": {"ask": {}}, "goesOn": [{"end": "boom"}]}]}}',
      /^work\.a\[1\]\.goesOn\[1\]\.end must be/,
    ],
    [
      "a turn that has turns of its own",
      '{"work": {"a": [{"end": "done", "goesOn": [{"end": "done", "goesOn": []}]}]}}',
      /goesOn\[1\] has unknown keys: goesOn/,
    ],
  ];
  for (const [what, text, why] of wrong)
    it(`says where it found ${what}`, () => {
      const read = readScript(text);
      assert.match(read.is === "broken" ? read.problems.join("\n") : "accepted", why);
    });

  it("says which step is wrong, and how", () => {
    assert.match(withStep({ do: "fly" }), /^work\.a\[1\]\.steps\[1\]\.do must be one of write, append/);
    assert.match(withStep({ do: "write", path: "a" }), /steps\[1\]\.text must be text/);
    assert.match(
      withStep({ do: "replace", path: "a", find: "", with: "" }),
      /find must be text that is not empty/,
    );
    assert.match(withStep({ do: "run", command: "ls" }), /command must be a list/);
    assert.match(withStep({ do: "wait", ms: -1 }), /ms must be a number/);
    const awaiting = { do: "await", task: "b", until: "landed", ms: 1 };
    assert.match(withStep({ ...awaiting, until: "done" }), /until must be "ready" or "landed"/);
    assert.match(withStep({ ...awaiting, task: "" }), /task must be text that is not empty/);
    assert.match(withStep({ ...awaiting, attempt: 0 }), /attempt must be the number of an attempt/);
    assert.match(withStep({ ...awaiting, ms: undefined }), /ms must be a number/);
    assert.match(withStep({ do: "delete", path: "a", force: true }), /has unknown keys: force/);
  });

  it("says everything at once", () => {
    assert.equal(problemsOf({ work: { a: [{ end: 1 }, { end: 2 }], b: 3 } }).split("\n").length, 3);
  });

  for (const path of [
    "/etc/passwd",
    "../a",
    "a/../../b",
    "a//b",
    ".git/config",
    "a/.GIT/x",
    "",
    "./a",
    "a\\b",
    "a\0b",
  ])
    it(`refuses the path ${JSON.stringify(path)}`, () => {
      assert.match(withStep({ do: "write", path, text: "" }), /must be a path inside the workspace/);
      assert.match(withStep({ do: "rename", path: "a", to: path }), /to must be a path inside/);
    });
});
