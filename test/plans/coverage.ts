/** Checks that every sentence of a request is in its plan, with a splitter of sentences that is not the planner's. */
import assert from "node:assert/strict";
import { MAX_REQUEST_CHARS } from "../../src/planning/description.ts";
import type { ExecutionPlan } from "../../src/planning/plan.ts";

/**
 * The whole request at the end of a partial task's description does not count: each sentence must be some task's work.
 */
export function checkCoverage(request: string, { tasks, assumptions }: ExecutionPlan): void {
  const own = tasks.map(({ description }) =>
    squeezed(description.split("The whole request, for what surrounds this part")[0]!),
  );
  if (tasks.length === 1 && request.length > MAX_REQUEST_CHARS) {
    const [begin = "", rest = ""] = tasks[0]!.description.split("\n\n[Cut here: ");
    const [, end = ""] = rest.split(" Its end:]\n\n");
    const left = assumptions.filter((one) => one.startsWith("Not read: ")).map((one) => one.slice(10));
    assert.equal(squeezed([begin, ...left, end].join("")), squeezed(request), "all of it, in order");
    return;
  }
  const held = [...own, ...assumptions.map(squeezed)];
  for (const sentence of sentencesIn(request))
    assert.ok(
      held.some((text) => text.includes(squeezed(sentence))),
      `lost: ${JSON.stringify(sentence)} of ${JSON.stringify(request)}`,
    );
}

/** Lines without list marks, cut after every full stop. */
const sentencesIn = (text: string): readonly string[] =>
  text
    .split(/\r\n?|[\n\u2028\u2029]/)
    .map((line) => line.replace(/^\s*(?:[-*+•]|\(?\d+[.)]|\(?[a-z][.)])\s+(?:\[ ?\]\s+)?/, ""))
    .flatMap((line) => line.split(/(?<=[.!?])\s+|(?<=。)/))
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));

/** Text without white space and invisible characters. */
const squeezed = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\s\p{Cc}\u{E0000}-\u{E007F}\u061C\u200B\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/gu, "");
