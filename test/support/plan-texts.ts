/** A valid task, its text and its parsed form, from which tests of a planner's answer start. */
import assert from "node:assert/strict";
import { type PlanAnswer, readPlanAnswer } from "../../src/core/answers/plan-answer.ts";

export const TASK = {
  id: "parser",
  description: "Write the parser",
  scope: ["src/parser.ts"],
  acceptance: "It parses the samples",
};
export const taskWith = (fields: object) => ({ ...TASK, ...fields });
export const textOf = (...tasks: unknown[]) => JSON.stringify({ scratchpad: "thoughts", tasks });

export function answered(text: string): PlanAnswer {
  const read = readPlanAnswer(text);
  assert.ok(read.is === "answer", `${read.is}: ${read.is === "answer" ? "" : read.reasons.join("; ")}`);
  return read.answer;
}

export function refusal(text: string, is: "invalid" | "unreadable", why: RegExp): readonly string[] {
  const read = readPlanAnswer(text);
  assert.ok(read.is !== "answer", `it was read as ${JSON.stringify(read)}`);
  assert.equal(read.is, is);
  assert.ok(
    read.reasons.some((reason) => why.test(reason)),
    read.reasons.join("; "),
  );
  return read.reasons;
}
