/** Tests that the JSON of a plan is found in an agent's answer. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cpuMs } from "../../../test/support/cpu.ts";
import { answerJson } from "./answer-json.ts";

const found = (text: string): unknown => {
  const json = answerJson(text);
  assert.ok(json.is === "json", JSON.stringify(json));
  return JSON.parse(json.text);
};
const reason = (text: string): string => {
  const json = answerJson(text);
  return json.is === "none" ? json.reason : json.text;
};

const PLAN = { goal: "g", tasks: [{ id: "a", description: "do a" }] };
const TEXT = JSON.stringify(PLAN);

describe("the plan in an agent's words", () => {
  it("is found alone, in prose, in fences, wrapped, and as a bare list", () => {
    for (const text of [
      TEXT,
      `I looked at [3] files.\n\n\`\`\`json\n${TEXT}\n\`\`\`\nThat is all {really}.`,
      `{"plan": ${TEXT}}`,
    ])
      assert.deepEqual(found(text), PLAN);
    assert.deepEqual(found(`Tasks: ${JSON.stringify(PLAN.tasks)}`), PLAN.tasks);
  });

  it("is the last of several; one without tasks counts only alone", () => {
    const other = '{"goal": "h", "tasks": [{"description": "do b"}]}';
    assert.deepEqual(found(`${TEXT} then ${other}`), JSON.parse(other));
    assert.deepEqual(found(`${TEXT} then {"tasks": []}`), PLAN);
    assert.deepEqual(found('{"tasks": []}'), { tasks: [] });
  });

  it("keeps keys like __proto__ as they are", () => {
    assert.match(reason('{"__proto__": {"x": 1}, "tasks": []}'), /"__proto__":\{"x":1\}/);
  });

  it("loses what a person cannot see", () => {
    const hidden = "rm\u001b[2K \u202Etxt\u202C\u{E0041}\u0000x\r\n\ty\uD800";
    const text = JSON.stringify({ tasks: [{ description: hidden }] });
    assert.deepEqual(found(text), { tasks: [{ description: "rm[2K txtx\n\ty\uFFFD" }] });
  });

  it("is missed in words", () => {
    assert.match(reason(""), /^the answer is empty; answer with/);
    assert.match(reason("no"), /^there is no JSON object with "tasks"/);
    assert.match(reason('{"status": "done"}'), /^there is no JSON object with "tasks"/);
    assert.match(reason(TEXT.slice(0, -4)), /^the plan is not JSON at line 1, column \d+: the text ends/);
    assert.match(
      reason('{"tasks": [1], oops}'),
      /^the plan is not JSON at line 1, column 16: expected a key/,
    );
  });

  it("is looked for in time in proportion to the text", () => {
    const ms = (text: string) => {
      const begun = cpuMs();
      answerJson(text);
      return cpuMs() - begun;
    };
    for (const piece of ['{"tasks": [1], x', "[[[[{", '{"tasks": [', '"\\u0000{']) {
      assert.ok(ms(piece.repeat(50_000)) < 2_000, piece); // Measured: at most 0.1 s.
    }
  });
});
