/** Tests which plans of an agent are accepted, with which warnings, and how others are refused. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { DATA } from "../../../test/plans/parts.ts";
import { RULES_PLAN } from "../../../test/support/rules-plan.ts";
import { NO_FACTS } from "../facts.ts";
import { judgePlan } from "./judge-plan.ts";
import { planRequest } from "./plan-request.ts";

const AGENTS = [
  { name: "Explore", description: "looks", isReadOnly: true },
  { name: "code-reviewer", description: "reviews", isReadOnly: false },
];
const REQUEST = "Add the commands a and b";
const judging = {
  ...{ request: REQUEST, words: DATA.words },
  name: "tests/one",
  agents: AGENTS,
  rulesPlan: RULES_PLAN,
  maxConcurrent: 3,
};
const judged = (plan: unknown) => judgePlan(JSON.stringify(plan), judging);

const task = (id: string, more: object = {}) => ({
  id,
  subject: `Add ${id}`,
  description: `Add the command ${id}, as list does`,
  scope: [`src/${id}.ts`],
  requirements: ["it works"],
  metadata: { agent: "general-purpose", depth: 1 },
  ...more,
});

describe("an agent's plan", () => {
  it("is accepted with what the agent has to say, and nothing that is not its to say", () => {
    const plan = {
      goal: "Two commands",
      planner: "rules",
      max_concurrent: 900,
      score: { ...RULES_PLAN.score, total: 35 },
      tasks: [task("a"), task("b", { blockedBy: ["a"] })],
    };
    const found = judged(plan);
    assert.ok(found.is === "plan", JSON.stringify(found));
    const { goal, planner, max_concurrent, score, success_criteria, tasks } = found.plan;
    assert.deepEqual([goal, planner, max_concurrent], ["Two commands", "agent tests/one", 3]);
    assert.deepEqual([score, success_criteria], [RULES_PLAN.score, RULES_PLAN.success_criteria]);
    assert.deepEqual(
      tasks.map(({ id, metadata }) => [id, metadata.wave, metadata.agent]),
      [
        ["a", 0, "general-purpose"],
        ["b", 1, "general-purpose"],
      ],
    );
  });

  it("is accepted as the prompt shows it", () => {
    const prompt = readFileSync(new URL("../../../prompts/execution-planner.md", import.meta.url), "utf8");
    const example = prompt.slice(prompt.indexOf("### An example"));
    const [, request = ""] = /The request: "([^"]+)"/.exec(example)!;
    const found = judgePlan(example, { ...judging, request });
    assert.ok(found.is === "plan" && found.gaps === undefined, JSON.stringify(found));
    assert.deepEqual(
      found.plan.tasks.map(({ id, metadata }) => [id, metadata.wave]),
      [
        ["due-date", 0],
        ["overdue", 1],
      ],
    );
  });

  it("is refused with the place of what is wrong", () => {
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ tasks: [task("a", { blockedBy: ["c"] })] }, /^tasks\[0\]\.blockedBy.*"?c"?/],
      [{ tasks: [task("a", { blockedBy: ["b"] }), task("b", { blockedBy: ["a"] })] }, /wait|cycle|circle/],
      [{ tasks: [task("a"), task("a")] }, /tasks\[1\].*a/],
      [{ tasks: [task("a"), task("b", { scope: ["src/a.ts"] })] }, /src\/a\.ts/],
      [{ tasks: [task("a", { scope: ["../../x"] })] }, /^tasks\[0\]\.scope/],
      [
        { tasks: [task("a", { metadata: { output_file: "/etc/passwd" } })] },
        /^tasks\[0\]\.metadata\.output_file/,
      ],
      [{ tasks: [task("a", { metadata: { agent: "Explore" } })] }, /Explore/],
      [{ tasks: [task("a", { success_criterion: "true\nrm -rf ~" })] }, /^tasks\[0\]\.success_criterion/],
      [{ tasks: [], questions: [] }, /tasks/],
      [
        { tasks: [], questions: [{ id: "q", question: "Which?", default: "a", blocking: true }] },
        /tasks: there are none/,
      ],
    ];
    for (const [plan, reason] of cases) {
      const found = judged(plan);
      assert.ok(found.is === "refused", JSON.stringify(plan));
      assert.match(found.reasons.join("\n"), reason);
      assert.deepEqual(JSON.parse(found.json), plan);
    }
  });

  it("is refused in few and short words, however much is wrong", () => {
    const tasks = Array.from({ length: 900 }, (_, n) => task(`t${n}`, { blockedBy: ["x".repeat(5_000)] }));
    const found = judged({ tasks });
    assert.ok(found.is === "refused");
    assert.ok(found.reasons.length <= 21 && found.reasons.join("").length < 12_000);
    const huge = judged({ tasks: Array.from({ length: 100_000 }, (_, n) => ({ id: n, description: "x" })) });
    assert.match(huge.is === "refused" ? huge.reasons.join() : "", /tasks: .*1000/);
  });

  it("may leave a claim out, or write one that cannot be read; what is missing goes back with it", () => {
    const coverage = [{ says: REQUEST, in: "a, b" }, { says: 7 }, 3, { says: "x", in: ["assumptions"] }];
    const found = judged({ tasks: [task("a"), task("b")], coverage, not_covered: ["nothing of it"] });
    assert.ok(found.is === "plan" && found.gaps === undefined, JSON.stringify(found));
    assert.deepEqual(found.plan.coverage, [
      { says: REQUEST, in: ["a", "b"] },
      { says: "x", in: "assumption" },
    ]);
    assert.equal(found.plan.not_covered, undefined, "not the agent's to say");
    const limited = { ...judging, request: `Never touch README.md! ${REQUEST}.` };
    const thin = judgePlan(JSON.stringify({ tasks: [task("a"), task("b")] }), limited);
    assert.ok(thin.is === "plan" && thin.gaps, JSON.stringify(thin));
    assert.deepEqual(thin.plan.not_covered, ["Never touch README.md!"]);
    assert.match(thin.gaps.reasons.join(), /no task and no assumption has this .*Never touch README/);
    assert.match(thin.warnings.join(), /not_covered/);
  });

  it("may leave a question for a person", () => {
    const questions = [{ id: "q", question: "Which? (default: a)", default: "a", blocking: true }];
    const found = judged({ tasks: [task("a")], questions });
    assert.ok(found.is === "plan", JSON.stringify(found));
    assert.equal(found.plan.questions[0]?.default, "a");
  });

  it("is taken with a warning where it is shallow, wide or long", () => {
    const score = { ...RULES_PLAN.score!, total: 16, tier: 3, min_depth: 3 } as const;
    const rulesPlan = { ...RULES_PLAN, score };
    const taken = (tasks: readonly object[]) => {
      const found = judgePlan(JSON.stringify({ tasks }), { ...judging, rulesPlan });
      assert.ok(found.is === "plan", JSON.stringify(found));
      return found.warnings.join("\n");
    };
    assert.match(taken([task("a")]), /depth of 3; less deep: "a" \(split those/);
    const wide = Array.from({ length: 60 }, (_, n) => task(`w${n}`));
    assert.match(taken(wide), /and 50 more/);
    const long = Array.from({ length: 9 }, (_, n) =>
      task(`n${n}`, n > 0 ? { blockedBy: [`n${n - 1}`] } : {}),
    );
    assert.match(taken(long), /there are 9 waves/);
    assert.match(
      taken([task("a", { metadata: { agent: "nobody-knows", depth: 3 } })]),
      /no agent "nobody-knows"/,
    );
    assert.equal(taken([task("a", { metadata: { agent: "general-purpose", depth: 3 } })]), "");
  });
});

describe("what an agent is told that plans", () => {
  const facts = { ...NO_FACTS, languages: ["TypeScript"], tests: ["test/"], testCommand: "npm\ntest\u001b" };
  const asking = { ...judging, facts, gate: [] };

  it("is no draft of the rules, and later its own last plan", () => {
    const first = planRequest(asking, "");
    assert.deepEqual([first.lastPlan, first.lastPlanLeftOut], ["", 0]);
    assert.deepEqual(first.limits, { maxTasks: 1_000, maxConcurrent: 3 });
    assert.deepEqual(first.repository, [
      "Languages: TypeScript",
      "Tests are in: test/",
      "Tests are run by: npm test",
    ]);
    const second = planRequest(asking, '{"tasks": []}');
    assert.equal(second.lastPlan, '{"tasks": []}');
  });

  it("names all commands of the gate in place of the one that runs the tests", () => {
    const { repository } = planRequest({ ...asking, gate: ["npm run build", "npm run test"] }, "");
    assert.deepEqual(repository.slice(2), [
      "The gate, which every task must pass: npm run build, npm run test",
    ]);
  });

  it("is bounded, and says by how much", () => {
    const { lastPlan, lastPlanLeftOut } = planRequest(asking, "x".repeat(70_000));
    assert.deepEqual([lastPlan.length, lastPlanLeftOut], [60_000, 10_000]);
  });
});
