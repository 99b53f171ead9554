/** Tests which errors and warnings are found in plans. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readPlan } from "./files/read-plan.ts";
import { type LintFacts, lintPlan } from "./lint.ts";
import type { ExecutionPlan, PlanTask } from "./plan.ts";

type Written = Partial<Omit<PlanTask, "metadata">> & { readonly metadata?: Partial<PlanTask["metadata"]> };

/** Makes tasks a, b, c, …, each with a file of its own unless given otherwise. */
function planOf(tasks: readonly Written[], fields: Partial<ExecutionPlan> = {}): ExecutionPlan {
  const named = tasks.map((task, index) => {
    const id = String.fromCharCode(97 + index);
    return { id, subject: `Add ${id}`, scope: [`${id}.ts`], ...task };
  });
  const read = readPlan(JSON.stringify({ goal: "x", success_criteria: ["works"], tasks: named, ...fields }));
  assert.ok(read.is === "plan", JSON.stringify(read));
  return read.plan;
}

const found = (plan: ExecutionPlan, facts?: LintFacts) =>
  lintPlan(plan, facts).map(({ level, place, message }) => `${level} ${place}: ${message}`);

const AGENTS = [
  { name: "Explore", isReadOnly: true },
  { name: "code-reviewer", isReadOnly: false },
];

describe("a plan that can be run", () => {
  it("has nothing to be said about", () => {
    const plan = planOf([{}, {}, { blockedBy: ["a", "b"] }, { blockedBy: ["c"], scope: ["a.ts"] }]);
    assert.deepEqual(found(plan, { agents: AGENTS, files: ["a.ts"] }), []);
  });

  it("may let tasks without an order read one file, write shared files, and report on what others write", () => {
    const plan = planOf([
      { scope: ["a.ts", "package-lock.json"], reads: ["x.ts"] },
      { scope: ["b.ts", "package-lock.json"], reads: ["x.ts"] },
      { scope: ["a.ts"], delivers: "report" },
    ]);
    assert.deepEqual(found(plan, { sharedFiles: ["package-lock.json"] }), []);
  });
});

describe("an error", () => {
  it("is an id that two have, a dependency that is not there, one on itself", () => {
    const plan = planOf([{ id: "parser" }, { id: "parser" }, { blockedBy: ["parsre", "c"] }]);
    assert.deepEqual(found(plan), [
      'error tasks[1].id: "parser" is the id of tasks[0], too',
      'error tasks[2].blockedBy[0]: task "c" waits for "parsre", which does not exist',
      'error tasks[2].blockedBy[1]: task "c" waits for itself',
    ]);
    assert.equal(lintPlan(plan)[1]!.next, 'did you mean "parser"?');
  });

  it("is a cycle, which is named", () => {
    const plan = planOf([{ blockedBy: ["c"] }, { blockedBy: ["a"] }, { blockedBy: ["b"] }, {}]);
    assert.deepEqual(found(plan), [
      'error tasks[0].blockedBy: tasks wait for each other: "a" → "c" → "b" → "a"',
    ]);
  });

  for (const [name, tasks, says] of [
    [
      "a file",
      [{ scope: ["x.ts"] }, { scope: ["y.ts", "x.ts"] }],
      'tasks[1].scope[1]: tasks "a" and "b" both write x.ts',
    ],
    [
      "a folder",
      [{ scope: ["src/"] }, { scope: ["src/x.ts"] }],
      'tasks[1].scope[0]: task "a" writes src/ and task "b" writes src/x.ts',
    ],
    ["a folder without its slash", [{ scope: ["src/x.ts"] }, { scope: ["src"] }], "tasks[1].scope[0]"],
    ["everything", [{ scope: ["./"] }, {}], "tasks[1].scope[0]"],
    [
      "a file in different waves",
      [{ scope: ["x.ts"] }, {}, { scope: ["x.ts"], blockedBy: ["b"] }],
      "tasks[2].scope[0]",
    ],
  ] as const)
    it(`is ${name} that two write without an order`, () => {
      const [first, ...more] = found(planOf(tasks as readonly Written[]));
      assert.ok(first?.startsWith(`error ${says}`) && first.endsWith("neither waits for the other"), first);
      assert.equal(more.length, 0);
    });

  it("is no folder of a similar name, nor one that is written by way of others", () => {
    assert.deepEqual(found(planOf([{ scope: ["src/"] }, { scope: ["src-2/x.ts", "sr"] }])), []);
    const chain = [{ scope: ["x/"] }, { blockedBy: ["a"] }, { blockedBy: ["b"], scope: ["x/y/z.ts"] }];
    assert.deepEqual(found(planOf(chain)), []);
  });

  it("is an output file that two have, also where case does not count", () => {
    const plan = planOf([
      { metadata: { output_file: "Report.md" } },
      { metadata: { output_file: "report.md" } },
    ]);
    assert.deepEqual(found(plan), [
      'error tasks[1].metadata.output_file: task "a" has the output file report.md, too',
    ]);
  });

  it("is a reader that should change or write", () => {
    const plan = planOf([
      { metadata: { agent: "Explore" } },
      { delivers: "report", metadata: { agent: "Explore", output_file: "b.md" } },
      { delivers: "report", metadata: { agent: "Explore" } },
      { delivers: "report", description: "Scan it and produce a list", metadata: { agent: "Explore" } },
    ]);
    assert.deepEqual(found(plan, { agents: AGENTS }), [
      "error tasks[0].metadata.agent: Explore changes nothing, and this task is a change",
      "error tasks[1].metadata.agent: Explore writes nothing, and this task has an output file",
      "error tasks[3].metadata.agent: Explore writes nothing, and the description says to",
    ]);
  });

  it("is a question that blocks, and no task at all; too little depth is advice", () => {
    const score = {
      verbs: 2,
      connectors: 2,
      domain: 1,
      scope: 0,
      risk: 0,
      total: 5,
      tier: 2,
      min_depth: 2,
    } as const;
    const questions = [{ id: "q", question: "Which?", default: "", blocking: true }];
    assert.deepEqual(found(planOf([{}, { metadata: { depth: 2 } }], { score, questions })), [
      "error questions[0]: this must be answered first: Which?",
      'warning tasks: the request scores 5, which speaks for a depth of 2; less deep: "a"',
    ]);
    assert.deepEqual(found({ ...planOf([{}]), tasks: [] }), ["error tasks: there are no tasks"]);
  });

  it("is a copy that differs from what it is a copy of", () => {
    const plan = planOf([{}, { blockedBy: ["a"] }]);
    const [a, b] = plan.tasks as [PlanTask, PlanTask];
    const wrong = { ...b.metadata, wave: 0, parallel: true, phase_id: "x" };
    assert.deepEqual(found({ ...plan, tasks: [a, { ...b, metadata: wrong }] }), [
      "error tasks[1].metadata.wave: is 0, and 1 by its dependencies",
      'error tasks[1].metadata.phase_id: is not the task\'s id, "b"',
      "error tasks[1].metadata.parallel: must be false: so is its wave",
    ]);
    assert.deepEqual(found({ ...plan, tasks: [{ ...a, subject: " ", description: "" }] }), [
      "error tasks[0].subject: is empty",
      "error tasks[0].description: is empty",
    ]);
  });

  it("is more tasks than a run takes", () => {
    const plan = planOf([{}]);
    assert.deepEqual(found({ ...plan, tasks: Array(100_000).fill(plan.tasks[0]) }), [
      "error tasks: there are 100000 tasks; a run takes at most 1000",
    ]);
  });
});

describe("a warning", () => {
  it("is a plan that is slow: few tasks a wave, many waves, dependencies that others imply", () => {
    const chain = Array.from({ length: 8 }, (_, n) =>
      n === 0 ? {} : { blockedBy: [String.fromCharCode(96 + n)] },
    );
    assert.deepEqual(found(planOf(chain)), [
      "warning tasks: there are 1 tasks a wave; 4 or more are better",
      "warning tasks: there are 8 waves; fewer than 6 are better",
    ]);
    assert.deepEqual(found(planOf([{}, { blockedBy: ["a"] }, { blockedBy: ["b", "a"] }])), [
      'warning tasks[2].blockedBy[1]: task "c" waits for "a" by way of another already',
    ]);
  });

  it("is a task that is large, an agent that nobody knows, a plan without criteria", () => {
    const names = (count: number) => Array.from({ length: count }, (_, n) => `f${n}.ts`);
    const plan = planOf([{ scope: names(4), reads: names(6), metadata: { agent: "code-reveiwer" } }]);
    assert.deepEqual(found({ ...plan, success_criteria: [] }, { agents: AGENTS }), [
      "warning success_criteria: no success criteria say when the goal is reached",
      'warning tasks[0].metadata.agent: there is no agent "code-reveiwer"',
      "warning tasks[0].scope: changes 4 files, more than 3",
      "warning tasks[0].reads: reads 6 files, more than 5",
    ]);
    assert.deepEqual(found(plan, { limits: { maxFilesModified: 4, maxFilesRead: 6 } }), []);
  });

  it("is a folder that is nearly one of the repository's, and a file to read that comes from nowhere", () => {
    const files = ["src/parser/read.ts", "src/api/v1.ts", "README.md"];
    const plan = planOf([
      { scope: ["src/praser/write.ts"] },
      { scope: ["src/new/x.ts", "lib/y.ts"], reads: ["README.md", "src/parser/", "gone.ts", "src/new/x.ts"] },
    ]);
    assert.deepEqual(found(plan, { files }), [
      "warning tasks[0].scope[0]: there is no folder src/praser/",
      "warning tasks[1].reads[2]: there is no gone.ts, and no task makes it",
    ]);
    assert.equal(lintPlan(plan, { files })[0]!.next, "did you mean src/parser/?");
  });

  for (const subject of [
    "Run tasks 1-3",
    "1-3",
    "Do task1 + task2",
    "Finish root.1.*",
    "Write 4 test files",
    "Steps 2 to 5",
  ])
    it(`is several things behind one word: ${subject}`, () => {
      assert.match(found(planOf([{ subject }])).join(), /^warning tasks\[0\]\.subject: /);
    });

  for (const subject of [
    ...[
      "Upgrade to Node 22-24",
      "Support HTTP 1.1-2",
      "Allow 4 files at once in uploads",
      "Add a + b",
      "Use C++ 17",
    ],
    ...[
      "Handle pages 1-3",
      "Match src/*.ts",
      "Log in 2 steps",
      "Add OAuth 2.0 + PKCE",
      "Review 2024-10 logs",
    ],
  ])
    it(`is not: ${subject}`, () => assert.deepEqual(found(planOf([{ subject }])), []));

  it("is no count whose files are named", () => {
    const subject = "Review 2 agent files";
    assert.deepEqual(found(planOf([{ subject, reads: ["a.md", "b.md"], scope: ["r.md"] }])), []);
    assert.deepEqual(found(planOf([{ subject, description: "Review one.md, two.md" }])), []);
    assert.deepEqual(found(planOf([{ subject, reads: ["agents/"] }])), []);
  });
});

describe("what is said", () => {
  it("comes with errors first, and has an end", () => {
    const tasks = Array.from({ length: 900 }, (_, n) => ({
      id: `t${n}`,
      blockedBy: [`gone${n}`],
      scope: ["x.ts"],
    }));
    const findings = lintPlan(planOf(tasks));
    assert.equal(findings.length, 201);
    assert.deepEqual(findings[200], { level: "error", place: "", message: "and 1599 more errors" });
  });

  it("is found in no time where 1,000 tasks share 300 files, each waiting for all before it", () => {
    const scope = Array.from({ length: 300 }, (_, n) => `src/${n % 7}/${n}.ts`);
    const tasks = Array.from({ length: 1_000 }, (_, n) => ({
      id: `t${n}`,
      scope: [],
      blockedBy: Array.from({ length: n }, (_, before) => `t${before}`),
    }));
    const plan = planOf(tasks);
    const before = process.cpuUsage();
    const findings = lintPlan({
      ...plan,
      tasks: plan.tasks.map((task) => ({ ...task, scope: [...scope, "src/"] })),
    });
    const ms = process.cpuUsage(before).user / 1000;
    assert.ok(!findings.some(({ level }) => level === "error"));
    assert.ok(ms < 5_000, `${ms} ms`); // Takes a second; comparing each pair per file would take minutes.
  });
});
