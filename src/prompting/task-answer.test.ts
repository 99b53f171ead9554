/** Tests how an agent's answer for a task is read. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readTaskAnswer } from "./task-message.ts";

const read = (value: unknown) => readTaskAnswer(JSON.stringify(value));

describe("what an agent answers for a task", () => {
  it("is the last object of that form, whatever stands around it", () => {
    const request = { type: "x", description: "y", inputs: {} };
    const text = `First {"status":"FAILED","content":"no"}, then:\n\`\`\`json\n${JSON.stringify({
      status: "continuation",
      notes: { subtask_request: request },
    })}\n\`\`\``;
    assert.deepEqual(readTaskAnswer(text), {
      content: "",
      status: "CONTINUATION",
      notes: { subtask_request: request },
    });
  });

  it("is the content of a complete result where there is no such object", () => {
    for (const text of [
      "just words",
      '{"status":"failed","tests":3}',
      '{"status":"DONE","content":"x"}',
      '{"status":',
    ])
      assert.deepEqual(readTaskAnswer(` ${text}\n`), { content: text, status: "COMPLETE", notes: {} });
  });

  it("says nothing of what is ours to say, and its unknown fields are named", () => {
    const { notes, status } = read({
      ...{ status: "COMPLETE", content: "x", mood: 1, ["__proto__"]: 2 },
      notes: { success: true, usage: { tokens: 0 }, error: "e", task_id: "t.9", context: 1, artefact: "a" },
    });
    assert.deepEqual([status, notes], ["COMPLETE", { success: true, unknown_fields: ["mood", "__proto__"] }]);
  });

  it("fails with its own words", () => {
    const why = (value: object) => read({ status: "FAILED", ...value }).notes.error?.message;
    assert.equal(why({ content: "no disk" }), "no disk");
    assert.equal(why({ notes: { error: { message: "no key" } } }), "no key");
    assert.equal(why({ notes: 3 }), "the agent reports a failure without a reason");
  });

  it("is cut to its limits, and says so", () => {
    const long = readTaskAnswer("x".repeat(2_000_010));
    assert.deepEqual([long.content.length, long.notes], [2_000_000, { cut_chars: 10 }]);
    const { notes } = read({ status: "COMPLETE", content: "x", notes: { a: "y".repeat(300_000) } });
    assert.deepEqual(notes, { notes_left_out: "notes have more than 200000 characters" });
    assert.equal(read({ status: "COMPLETE", content: { a: [1] } }).content, '{"a":[1]}');
  });

  it("keeps an evaluator's verdict where the notes are too long for all of them", () => {
    const { notes } = read({
      status: "COMPLETE",
      content: "",
      notes: { success: true, log: "x".repeat(300_000) },
    });
    assert.equal(notes.success, true);
    assert.match(String(notes.notes_left_out), /more than 200000 characters/);
  });

  it("keeps what it asks for where the notes are too long for all of them", () => {
    const log = "x".repeat(300_000);
    const subtask_request = { type: "check", description: "Check it", inputs: { text: log } };
    const question = { default: "yes" };
    const asking = (status: string, more: object) => {
      const { notes_left_out, ...kept } = read({ status, content: "", notes: { ...more, log } }).notes;
      assert.match(String(notes_left_out), /more than 200000 characters/);
      return kept;
    };
    assert.deepEqual(asking("CONTINUATION", { subtask_request }), { subtask_request });
    assert.deepEqual(asking("NEEDS_INPUT", { question }), { question });
  });
});
