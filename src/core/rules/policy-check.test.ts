/** Tests which numbers of a policy are refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defaultPolicy, type Policy } from "./policy.ts";
import { policyProblems } from "./policy-check.ts";

describe("the check of a policy", () => {
  it("has nothing to say about the default", () => {
    assert.deepEqual(policyProblems(defaultPolicy), []);
  });

  it("names what would leave a run waiting for ever", () => {
    const capacity = { plan: 0, work: Number.NaN };
    assert.deepEqual(policyProblems({ ...defaultPolicy, capacity }), [
      "capacity.plan must be a whole number from 1, not 0",
      "capacity.work must be a whole number from 1, not NaN",
    ]);
    const landing = { ...defaultPolicy.landing, maxBatch: 0 };
    assert.match(policyProblems({ ...defaultPolicy, landing }).join(), /landing\.maxBatch/);
  });

  it("lets zero be zero where that means something", () => {
    const retry = { ...defaultPolicy.retry, maxRefused: 0, maxRemembered: 0, graceMs: 0 };
    assert.deepEqual(policyProblems({ ...defaultPolicy, retry }), []);
    assert.deepEqual(
      policyProblems({ ...defaultPolicy, budget: { ...defaultPolicy.budget, maxTokens: 0 } }),
      [],
    );
  });

  it("refuses a budget that could never be reached", () => {
    const budget = { ...defaultPolicy.budget, maxTokens: Number.NaN, maxMicrodollars: -1 };
    assert.equal(policyProblems({ ...defaultPolicy, budget }).length, 2);
  });

  it("refuses a budget of a task or a subtree that is no number, and a part for landing that is all of it", () => {
    const budget = {
      ...defaultPolicy.budget,
      task: { maxTokens: 1.5 },
      subtree: { maxMicrodollars: -1 },
      landingShare: 1,
    };
    assert.deepEqual(policyProblems({ ...defaultPolicy, budget }), [
      "budget.task.maxTokens must be a whole number from 0, not 1.5",
      "budget.subtree.maxMicrodollars must be a whole number from 0, not -1",
      "budget.landingShare must be from 0 to less than 1, not 1",
    ]);
  });

  it("refuses accounts without a name", () => {
    const accounts = { ...defaultPolicy.accounts, byAgent: { painter: ["" as string] as const } };
    assert.deepEqual(policyProblems({ ...defaultPolicy, accounts }), [
      "accounts of painter must be at least one name",
    ]);
  });

  it("looks at every number there is", () => {
    const numbers = leaves(defaultPolicy);
    for (const path of numbers) {
      const broken = withBroken(defaultPolicy, path);
      assert.ok(policyProblems(broken).length > 0, `${path.join(".")} is not checked`);
    }
    assert.ok(numbers.length > 35);
  });
});

function leaves(value: object, path: readonly string[] = []): readonly (readonly string[])[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    if (typeof inner === "number") return [[...path, key]];
    return typeof inner === "object" && !Array.isArray(inner) ? leaves(inner, [...path, key]) : [];
  });
}

function withBroken(policy: Policy, path: readonly string[]): Policy {
  const copy = structuredClone(policy) as unknown as Record<string, unknown>;
  const inner = path.slice(0, -1).reduce((at, key) => at[key] as Record<string, unknown>, copy);
  inner[path.at(-1)!] = -1;
  return copy as unknown as Policy;
}
