/** Can what the rules make be read again, and would it be run? The reviewed plans, through the reader and lint. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { BUILT_IN_SPECIALISTS } from "../../src/delegation/specialist-table.ts";
import { readPlan } from "../../src/planning/files/read-plan.ts";
import { lintPlan } from "../../src/planning/lint.ts";
import { AGENT_PREFIX, type ExecutionPlan } from "../../src/planning/plan.ts";
import { ROOT } from "../../tools/source-files.ts";

const plans = ["seed", "own"].flatMap((folder) => {
  const from = path.join(ROOT, "test/plans", folder);
  return readdirSync(from).map((name) => {
    const { plan } = JSON.parse(readFileSync(path.join(from, name), "utf8")) as {
      readonly plan: ExecutionPlan;
    };
    return { name, plan };
  });
});

/** A prefix of agents is for those who write a plan; nobody needs it to read one. */
const withoutPrefix = (plan: ExecutionPlan): ExecutionPlan => ({
  ...plan,
  tasks: plan.tasks.map((task) => {
    const agent = task.metadata.agent.replace(AGENT_PREFIX, "");
    return { ...task, metadata: { ...task.metadata, agent } };
  }),
});

describe("a plan by rules", () => {
  it("reads back as it is, with nothing to note", () => {
    assert.ok(plans.length > 40);
    for (const { name, plan } of plans)
      assert.deepEqual(
        readPlan(JSON.stringify(plan)),
        { is: "plan", plan: withoutPrefix(plan), notes: [] },
        name,
      );
  });

  it("has no error but a question that blocks", () => {
    for (const { name, plan } of plans) {
      const errors = lintPlan(plan, { agents: BUILT_IN_SPECIALISTS }).filter(
        ({ level }) => level === "error",
      );
      const blocking = plan.questions.filter((question) => question.blocking);
      assert.equal(errors.length, blocking.length, `${name}: ${JSON.stringify(errors)}`);
      assert.ok(
        errors.every(({ place }) => place.startsWith("questions[")),
        name,
      );
    }
  });
});
