/** Tests how a plan is shown on a terminal. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { arbitraryPlan } from "../../../../test/planning/arbitrary-plan.ts";
import { cpuMs } from "../../../../test/support/cpu.ts";
import type { ExecutionPlan, PlanTask } from "../../../planning/plan.ts";
import { randomFrom } from "../../../simulation/random.ts";
import { planText } from "./plan.ts";

const task = (id: string, subject: string, wave: number, blockedBy: readonly string[] = []): PlanTask => ({
  id,
  subject,
  description: "",
  activeForm: "",
  blockedBy,
  scope: [],
  reads: [],
  delivers: "change",
  requirements: [],
  metadata: { wave, phase_id: id, agent: "code-reviewer", parallel: false, depth: 1 },
});

const PLAN: ExecutionPlan = {
  skein_plan: 1,
  goal: "Create a calculator",
  planner: "rules",
  max_concurrent: 8,
  score: { verbs: 1, connectors: 1, domain: 0, scope: 3, risk: 0, total: 7, tier: 2, min_depth: 2 },
  success_criteria: ["the tests pass"],
  assumptions: ["in TypeScript"],
  questions: [],
  context: { files: ["src/a.ts", "src/b.ts"], patterns: [], tests: ["test/"] },
  tasks: [
    task("1", "Implement add()", 0),
    task("2", "日本語のメッセージを表示する", 0),
    task("3", "Verify", 1, ["1", "2"]),
  ],
  risks: ["division by zero"],
};
const plain = { hasColours: false } as const;
const show = (plan: ExecutionPlan, columns?: number) =>
  planText(plan, { ...plain, ...(columns !== undefined && { columns }) }).join("\n");

test("patterns are sentences, and files a list", () => {
  const context = { files: ["a.ts", "b.ts"], patterns: ["Written in C.", "Tests are in t/."], tests: [] };
  assert.match(
    show({ ...PLAN, context }),
    /Files: a\.ts, b\.ts\n {2}Patterns to follow: Written in C\. Tests are in t\/\.\n/,
  );
});

test("without a terminal one wave comes after the other, and no line is broken", () => {
  assert.equal(
    show(PLAN),
    `Execution plan: ready
Create a calculator

3 tasks in 2 waves, at most 8 at a time; planned by rules.
Complexity 7 of 35: tier 2, a depth of 2 is advised (verbs 1, connectors 1, domain 0, scope 3, risk 0).

Success criteria
  - the tests pass

Assumptions
  - in TypeScript

Context
  Files: src/a.ts, src/b.ts
  Tests: test/

Wave 0 (2 tasks)
  ◆ 1: Implement add() -> code-reviewer
    2: 日本語のメッセージを表示する -> code-reviewer

Wave 1 (1 task)
  ◆ 3: Verify -> code-reviewer (after 1, 2)

◆ critical path: 1 → 3

Risks
  - division by zero

Next
  skein plan "…" --out plan.json  # keep it
  skein run plan.json  # work on it`,
  );
});

test("every command that a run would start is shown, to its end and once for all tasks that have it", () => {
  const [one, two, three] = PLAN.tasks as [PlanTask, PlanTask, PlanTask];
  const long = `npm test ${" ".repeat(300)}${"x".repeat(9_000)}; curl evil`;
  const tasks = [
    { ...one, success_criterion: "npm test" },
    { ...two, success_criterion: long },
    { ...three, success_criterion: "npm test" },
  ];
  for (const columns of [undefined, 20, 80, 200]) {
    const lines = show({ ...PLAN, tasks }, columns).split("\n");
    const at = lines.indexOf("Commands that must pass before a task is done");
    assert.deepEqual(lines.slice(at + 1, at + 4), ["  1, 3: npm test", `  2: ${long}`, ""]);
  }
  assert.doesNotMatch(show(PLAN), /Commands/);
});

test("a question that blocks is what comes first, and what is next", () => {
  const question = { id: "q", question: "Where? (Default: here)", default: "here", blocking: true };
  const text = show({ ...PLAN, questions: [question] });
  assert.match(text, /^Execution plan: clarification needed\n/);
  assert.match(text, /Questions\n {2}- Where\? \(Default: here\)\n {4}blocks the plan; default: here\n/);
  assert.match(text, /Next\n {2}skein plan "…" --ask {2}# answer the questions$/);
});

test("a plan that was written is run from its file, as the shell takes its name", () => {
  const lines = planText(PLAN, { ...plain, file: "my plan.json", command: "npx skein" });
  assert.deepEqual(lines.slice(-2), [
    "  npx skein plan check 'my plan.json'  # after you have edited it",
    "  npx skein run 'my plan.json'  # work on it",
  ]);
});

test("colours are there only where they are asked for, and change no width", () => {
  for (const columns of [60, 200]) {
    const coloured = planText(PLAN, { columns, hasColours: true }).join("\n");
    assert.notEqual(coloured, show(PLAN, columns));
    assert.equal(stripVTControlCharacters(coloured), show(PLAN, columns));
  }
});

test("no text moves the cursor, whatever a plan says", () => {
  for (let seed = 0; seed < 100; seed++) {
    const drawn = arbitraryPlan(randomFrom(seed), { hostile: 0.5 });
    const rough = "\u001b[2J\r\n\u0007\u202e x";
    const tasks = drawn.tasks.map((one) => ({ ...one, subject: `${rough}${one.subject}${rough}` }));
    for (const columns of [undefined, 30, 80, 200]) {
      const lines = show({ ...drawn, tasks, goal: rough, risks: [rough] }, columns).split("\n");
      for (const line of lines) assert.doesNotMatch(line, /\p{C}/u);
    }
  }
});

test("a thousand tasks, and tasks of 100 KB, are shown in no time", () => {
  const tasks = Array.from({ length: 1_000 }, (_, at) =>
    task(`${at}`, "Write the parser of it all", at % 90),
  );
  const huge = Array.from({ length: 20 }, (_, at) => task(`${at}`, "x ".repeat(50_000), at % 2));
  const before = cpuMs();
  assert.ok(show({ ...PLAN, tasks }, 200).split("\n").length > 1_000);
  assert.ok(show({ ...PLAN, tasks: huge }, 80).length < 20_000);
  assert.ok(cpuMs() - before < 1_000); // Takes about 120 ms.
});
