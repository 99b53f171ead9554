/** Tests how many tasks many files become: as many as work at once, and more only where a task would read too much. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { planByRules } from "../../src/planning/by-rules.ts";
import { around, factsOf } from "./parts.ts";

const reviewing = (files: number, maxConcurrent: number, request = "Review all files in src/") =>
  planByRules(
    request,
    around({
      facts: factsOf(Array.from({ length: files }, (_, n) => `src/f${String(n).padStart(3, "0")}.ts`)),
      maxConcurrent,
    }),
  );

describe("work on many files", () => {
  it("is at most twelve tasks with the one that puts their results together, however many could work", () => {
    const { tasks, risks } = reviewing(30, 50);
    assert.equal(tasks.length, 12);
    assert.doesNotMatch(risks.join(), /tokens/);
  });

  it("is a fifth of its files where these are more than twelve tasks can read, and says what that costs", () => {
    const { tasks, risks } = reviewing(96, 8);
    assert.equal(tasks.length, 20 + 1);
    assert.ok(tasks.every(({ reads }) => reads.length <= 5));
    assert.match(risks.join("\n"), /^21 tasks are 21 agent turns at least, about 4,200,000 tokens/m);
  });

  it("is as many as the request asks for", () => {
    const { tasks, risks } = reviewing(30, 4, "Review all files in src/ using 15 agents");
    assert.equal(tasks.length, 15 + 1);
    assert.match(risks.join("\n"), /16 tasks are/);
  });
});
