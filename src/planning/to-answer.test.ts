/** Tests how the tasks of a plan become a planner's answer, and how a run follows a plan. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun } from "../../test/support/core-run.ts";
import type { PlanBrief } from "../core/brief.ts";
import type { Concern } from "../core/log/state.ts";
import { ROOT, type TaskId } from "../core/task.ts";
import { readPlan } from "./files/read-plan.ts";
import type { ExecutionPlan } from "./plan.ts";
import { fixedPlanner } from "./to-answer.ts";

function planOf(value: unknown): ExecutionPlan {
  const read = readPlan(JSON.stringify(value));
  assert.ok(read.is === "plan", JSON.stringify(read));
  return read.plan;
}

const briefOf = (run: CoreRun): PlanBrief => run.brief("plan", "t");
const answerOf = (plan: ExecutionPlan, brief: Partial<PlanBrief> = {}) =>
  fixedPlanner(plan)({ ...briefOf(CoreRun.green()), ...brief });

describe("a task of a plan", () => {
  const plan = planOf({
    assumptions: ["Node 24"],
    tasks: [
      {
        id: "a",
        subject: "Add the parser",
        description: "It reads numbers.",
        requirements: ["reads 1", "reads 2"],
        scope: ["src/parser.ts"],
        reads: ["docs/grammar.md"],
        success_criterion: "npm test",
        priority: 2,
        branch: "worker/The Parser",
        metadata: { agent: "workflow-orchestrator:code-reviewer", output_file: "a.md" },
      },
      { id: "b", description: "Wire it up", blockedBy: ["a"] },
      { id: "c", subject: "Review it", metadata: { agent: "main" } },
    ],
  });
  const [a, b, c] = answerOf(plan).tasks;

  it("is told whole, with all that its plan knows", () => {
    assert.deepEqual(a, {
      id: "a",
      description:
        "Add the parser\n\nIt reads numbers.\n\nRequirements:\n- reads 1\n- reads 2\n\nRead first:\n- docs/grammar.md\n\n" +
        "The plan assumes:\n- Node 24",
      scope: ["src/parser.ts"],
      acceptance: "reads 1\nreads 2\nThis command passes: npm test",
      priority: 2,
      after: [],
      delivers: "change",
      agent: "code-reviewer",
      branch: "the-parser",
      terms: { output: "a.md", reads: ["docs/grammar.md"], criterion: "npm test" },
    });
  });

  it("goes to a machine with the labels that it needs", () => {
    const [needs, none] = answerOf(
      planOf([{ subject: "Train it", needs: "gpu" }, { subject: "Read it" }]),
    ).tasks;
    assert.deepEqual(needs!.needs, ["gpu"]);
    assert.ok(!("needs" in none!));
    assert.equal(readPlan('[{"subject": "Train it", "needs": ["A B"]}]').is, "broken");
  });

  it("has a branch that is called as the plan says, else as its subject", () => {
    const subject = "Update docs/api.md";
    const tasks = [
      { subject, requirements: ["is short"] },
      { subject, branch: "修复" },
    ];
    assert.deepEqual(
      answerOf(planOf(tasks)).tasks.map(({ branch }) => branch),
      ["update-docs-api-md", "update-docs-api-md"],
    );
    assert.equal(b!.branch, "wire-it-up");
  });

  it("is told of no more assumptions than one reads", () => {
    const assumptions = Array.from({ length: 1_000 }, (_, n) => `${n} ${"x".repeat(5_000)}`);
    const [first] = answerOf({ ...plan, assumptions }).tasks;
    assert.ok(first!.description.length < 12_000, `${first!.description.length}`);
  });

  it("may change anything and keeps nothing from others, where its files are not known", () => {
    assert.deepEqual([b!.scope, b!.terms, b!.after, b!.agent], [["./"], { loose: true }, ["a"], undefined]);
    assert.equal(b!.description, "Wire it up\n\nThe plan assumes:\n- Node 24");
  });

  it("is worked on as it is, and accepted by something, whatever was left out", () => {
    assert.deepEqual([c!.scope, c!.terms, c!.delivers, c!.agent], [[], {}, "report", undefined]);
    assert.equal(c!.acceptance, "All that its description asks for is done.");
    const criteria = { ...plan, success_criteria: ["it parses"] };
    assert.equal(answerOf(criteria).tasks[2]!.acceptance, "it parses");
  });
});

describe("a planner that knows its plan by heart", () => {
  const plan = planOf([{ subject: "Add a" }]);

  it("gives tasks once, and only for the goal itself", () => {
    assert.equal(answerOf(plan).tasks.length, 1);
    assert.equal(answerOf(plan, { first: false }).tasks.length, 0);
    assert.equal(answerOf(plan, { task: "t.1" as TaskId }).tasks.length, 0);
    assert.equal(answerOf(plan, { task: ROOT }).tasks.length, 1);
  });

  it("takes what was said as read, and leaves open what was not done", () => {
    const concern = (id: string, kind: Concern["kind"]) => ({ id, kind, from: ROOT, text: id });
    const concerns = [concern("c1", "said"), concern("c2", "undone"), concern("c3", "said")];
    assert.deepEqual(answerOf(plan, { first: false, concerns }).addressed, [
      { concern: "c1" },
      { concern: "c3" },
    ]);
  });
});

describe("a run that follows a plan", () => {
  /** Three chains of tasks side by side, and a last task that waits for all others. */
  const twenty = planOf({
    tasks: Array.from({ length: 20 }, (_, n) => {
      const before = n === 19 ? Array.from({ length: 19 }, (_, i) => `k${i}`) : n < 3 ? [] : [`k${n - 3}`];
      const kind = n % 3;
      return {
        id: `k${n}`,
        subject: kind === 2 ? `Review ${n}` : `Add ${n}`,
        blockedBy: before,
        ...(kind === 0 && { scope: ["a", "b", "c", "d", "e"].map((file) => `src/${n}/${file}.ts`) }),
        ...(n % 4 === 0 && { metadata: { output_file: `k${n}.md` }, success_criterion: "true" }),
      };
    }),
  });

  /** Runs the plan with tasks that all succeed; returns the ids in the order in which they were done. */
  function follow(
    run: CoreRun,
    plan: ExecutionPlan,
    work: (run: CoreRun, id: string) => void,
  ): readonly string[] {
    const planner = fixedPlanner(plan);
    for (let steps = 0; run.closed === undefined && steps < 1_000; steps += 1) {
      const [work1] = run.running("work");
      if (run.running("plan").length > 0) {
        const answer = planner(briefOf(run));
        run.plan("t", answer.tasks, answer);
      } else if (run.running("land").length > 0) run.land();
      else if (run.running("check").length > 0) run.check();
      else if (work1 !== undefined) work(run, /^work:([^#]+)#/.exec(work1)![1]!);
    }
    const settled = run.log.flatMap((event) => {
      if (event.type === "batch.landed") return event.members.map(({ task }) => task);
      return event.type === "task.done" && event.task !== ROOT ? [event.task] : [];
    });
    return settled.map((id) => run.task(id).spec.key);
  }

  /** A task without a known scope changes a file of its own. */
  const done = (run: CoreRun, id: string) =>
    run.work(
      id,
      run.task(id).spec.terms?.loose ? { filesChanged: [`free/${id}.ts`] } : { concerns: ["slow"] },
    );

  it("does all 20 tasks after what they wait for, and splits none", () => {
    const run = CoreRun.green();
    const order = follow(run, twenty, done);
    assert.equal(run.closed?.how, "done", JSON.stringify(run.closed));
    assert.equal(order.length, 20);
    for (const { id, blockedBy } of twenty.tasks)
      for (const before of blockedBy) assert.ok(order.indexOf(before) < order.indexOf(id), `${before} ${id}`);
    assert.deepEqual(run.events("plan.rejected"), []);
    assert.ok([...run.state.tasks.values()].every(({ id, spec }) => id === ROOT || spec.shape === "work"));
  });

  it("runs tasks without known files side by side", () => {
    const run = CoreRun.green();
    const answer = fixedPlanner(twenty)(briefOf(run));
    run.plan("t", answer.tasks, answer);
    assert.deepEqual(run.running("work"), ["work:t.1#1", "work:t.2#1", "work:t.3#1"]);
  });

  it("ends incomplete where a task fails for good, and is not asked for anything else", () => {
    const run = CoreRun.green();
    const order = follow(run, twenty, (it, id) => (id === "t.4" ? it.failForGood(id) : done(it, id)));
    assert.equal(run.closed?.how, "incomplete");
    assert.ok(order.length > 0 && !order.includes("k3") && !order.includes("k6") && !order.includes("k19"));
  });
});
