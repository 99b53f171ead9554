/** Tests which plan files are read, what is derived from them, and how mistakes are reported. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ExecutionPlan } from "../plan.ts";
import { type ReadPlanOptions, readPlan } from "./read-plan.ts";

const planOf = (value: unknown, options?: ReadPlanOptions): ExecutionPlan => {
  const read = readPlan(JSON.stringify(value), options);
  assert.ok(read.is === "plan", JSON.stringify(read));
  return read.plan;
};
const notesOf = (value: unknown) => {
  const read = readPlan(JSON.stringify(value));
  assert.ok(read.is === "plan", JSON.stringify(read));
  return read.notes;
};
const problemsOf = (value: unknown, options?: ReadPlanOptions) => {
  const read = readPlan(typeof value === "string" ? value : JSON.stringify(value), options);
  assert.ok(read.is === "broken", JSON.stringify(read));
  return read.problems;
};

describe("a plan file", () => {
  it("in the form of TaskCreate and TaskUpdate is a plan", () => {
    const plan = planOf([
      {
        subject: "Create project structure",
        description: "Set up src/ and tests/",
        activeForm: "Creating project structure",
        metadata: {
          wave: 0,
          phase_id: "1",
          agent: "workflow-orchestrator:general-purpose",
          parallel: true,
          output_file: "$CLAUDE_SCRATCHPAD_DIR/create_project_structure.md",
        },
      },
      { subject: "Create database config", metadata: { phase_id: 2 } },
      {
        subject: "Verify implementations",
        blockedBy: ["1", "2"],
        metadata: { phase_id: "3", agent: "task-completion-verifier" },
      },
    ]);
    assert.deepEqual(
      plan.tasks.map(({ id, blockedBy, delivers, metadata: { wave, parallel, agent } }) => [
        ...[id, blockedBy.join(), delivers, wave, parallel, agent],
      ]),
      [
        ["1", "", "change", 0, true, "general-purpose"],
        ["2", "", "change", 0, true, "general-purpose"],
        ["3", "1,2", "report", 1, false, "task-completion-verifier"],
      ],
    );
    assert.equal(plan.tasks[0]!.metadata.output_file, "$CLAUDE_SCRATCHPAD_DIR/create_project_structure.md");
    assert.equal(plan.tasks[1]!.metadata.output_file, undefined);
    assert.equal(plan.tasks[1]!.activeForm, "Creating database config");
    assert.equal(plan.tasks[1]!.description, "Create database config");
    assert.equal(plan.goal, "Create project structure, and 2 more tasks");
  });

  it("takes texts for lists, folders with stars, and several commands as one criterion", () => {
    const { tasks } = planOf({
      goal: "Parse",
      tasks: [
        {
          id: "parser",
          description: "Add the parser. It reads all of it.",
          scope: ["src/parser/**", "./src/index.ts"],
          requirements: "- reads numbers\n- reads text",
          success_criterion: ["npm test", "npm run lint"],
        },
        { id: 2, subject: "Document the parser", blockedBy: "parser", scope: "README.md" },
      ],
    });
    assert.deepEqual(tasks[0], {
      id: "parser",
      subject: "Add the parser",
      description: "Add the parser. It reads all of it.",
      activeForm: "Adding the parser",
      blockedBy: [],
      scope: ["src/parser/", "src/index.ts"],
      reads: [],
      delivers: "change",
      requirements: ["reads numbers", "reads text"],
      success_criterion: "(npm test) && (npm run lint)",
      metadata: { wave: 0, phase_id: "parser", agent: "general-purpose", parallel: false, depth: 1 },
    });
    assert.deepEqual([tasks[1]!.id, tasks[1]!.scope, tasks[1]!.blockedBy], ["2", ["README.md"], ["parser"]]);
  });

  it("says what to write in place of names that other tools use, and does not read them", () => {
    const task = { id: "a", subject: "Add a" };
    for (const [name, next] of [
      ["dependsOn", "write blockedBy"],
      ["addBlocks", "write blockedBy in the task that waits"],
      ["pathsAllowed", "write scope"],
      ["verify", "write success_criterion"],
      ["acceptance", "write requirements"],
    ] as const) {
      const read = readPlan(JSON.stringify([{ ...task, [name]: "b" }]));
      assert.deepEqual(read.is === "broken" && read.problems, [
        { place: `tasks[0].${name}`, message: "is a name that is no longer read", next },
      ]);
    }
    const unsaid = readPlan(JSON.stringify([{ id: "a", title: "Add a" }]));
    assert.deepEqual(unsaid.is === "broken" && unsaid.problems.map(({ place, next }) => [place, next]), [
      ["tasks[0].title", "write subject"],
      ["tasks[0]", "say what should be done"],
    ]);
    const value = { objective: "x", tasks: [{ ...task, title: "b", delegateTo: "Explore" }] };
    assert.deepEqual(notesOf(value), [
      "objective is no longer read: write goal",
      "tasks[0].title is no longer read: write subject",
      "tasks[0].delegateTo is no longer read: write metadata.agent",
    ]);
    assert.equal(planOf(value).tasks[0]!.metadata.agent, "general-purpose");
  });

  it("reads a branch, and a priority in words", () => {
    const [task] = planOf([{ subject: "Fix the login", branch: "worker/fix-login", priority: "high" }]).tasks;
    assert.deepEqual([task!.branch, task!.priority], ["worker/fix-login", 2]);
  });

  it("is believed about dependencies, not about waves", () => {
    const tasks = [
      { id: "a", subject: "Add a", metadata: { wave: 4, parallel: true } },
      { id: "b", subject: "Add b", blockedBy: ["a"], metadata: { wave: 0, parallel: false } },
    ];
    const plan = planOf({ tasks });
    assert.deepEqual(
      plan.tasks.map(({ metadata: { wave, parallel } }) => [wave, parallel]),
      [
        [0, false],
        [1, false],
      ],
    );
    assert.deepEqual(notesOf({ tasks }), [
      "tasks[0].metadata.wave is 0 by the dependencies, whatever was written",
      "tasks[0].metadata.parallel is false by the dependencies, whatever was written",
      "tasks[1].metadata.wave is 1 by the dependencies, whatever was written",
    ]);
  });

  it("gets numbers for ids, past those that are taken", () => {
    const { tasks } = planOf([{ subject: "Add a" }, { id: "3", subject: "Add b" }, { subject: "Add c" }]);
    assert.deepEqual(
      tasks.map(({ id }) => id),
      ["1", "3", "4"],
    );
  });

  for (const [subject, task, delivers] of [
    ["Review the parser", {}, "report"],
    ["Review the parser", { scope: ["src/parser.ts"] }, "change"],
    ["Add a report page", {}, "change"],
    ["Look around", { agent: "Explore" }, "report"],
    ["Summarise it", { delivers: "change" }, "change"],
  ] as const)
    it(`delivers a ${delivers} where it says ${subject} ${JSON.stringify(task)}`, () => {
      assert.equal(planOf([{ subject, ...task }]).tasks[0]!.delivers, delivers);
    });

  it("names unknown keys with those that may have been meant, once each", () => {
    assert.deepEqual(notesOf({ gaol: "x", tasks: [{ subject: "Add a", sujbect: "b", colour: 1 }] }), [
      '"gaol" is not known and was not read; did you mean goal?',
      '"sujbect" in tasks[0] is not known and was not read; did you mean subject?',
      '"colour" in tasks[0] is not known and was not read',
    ]);
    const many = Array.from({ length: 30 }, (_, n) => ({
      subject: `Add ${n}`,
      title: "x",
      status: "pending",
    }));
    assert.deepEqual(notesOf({ tasks: many }), [
      "tasks[0].title is no longer read: write subject (and the same 29 more times)",
      '"status" in tasks[0] is not known and was not read (and the same 29 more times)',
    ]);
  });

  it("may name its files in one text, with commas", () => {
    const task = { subject: "Write the docs", scope: "docs/a.md, docs/b.md", reads: "none" };
    const { scope, reads } = planOf([task]).tasks[0]!;
    assert.deepEqual([scope, reads], [["docs/a.md", "docs/b.md"], []]);
    assert.equal(readPlan(JSON.stringify([{ ...task, files: " " }])).is, "broken");
  });

  it("may be YAML, or JSON with comments and commas too many", () => {
    for (const text of [
      "tasks:\n  - subject: Add a # so\n",
      '{\n  # so\n  "tasks": [{"subject": "Add a"},]\n}',
    ]) {
      const read = readPlan(text);
      assert.ok(read.is === "plan" && read.plan.tasks[0]!.subject === "Add a", JSON.stringify(read));
    }
  });

  it("may hold its plan under that name, a mark at its beginning, and only questions", () => {
    assert.equal(planOf({ plan: { goal: "x", tasks: [{ subject: "Add a" }] } }).goal, "x");
    assert.equal(readPlan('\uFEFF{"tasks": [{"subject": "Add a"}]}').is, "plan");
    assert.deepEqual(planOf({ questions: ["Which one?"] }).questions, [
      { id: "q1", question: "Which one?", default: "", blocking: true },
    ]);
  });

  it("takes the scratchpad's own path, and the caller's number of workers", () => {
    const value = [{ subject: "Add a", metadata: { output_file: "/pad/a.md" } }];
    const plan = planOf(value, { scratchpad: "/pad", maxConcurrent: 3 });
    assert.equal(plan.tasks[0]!.metadata.output_file, "$CLAUDE_SCRATCHPAD_DIR/a.md");
    assert.equal(plan.max_concurrent, 3);
    assert.equal(planOf([{ subject: "Add a" }]).max_concurrent, 8);
    assert.equal(problemsOf(value)[0]!.place, "tasks[0].metadata.output_file");
  });

  it("loses control characters and half characters", () => {
    const value = [{ subject: "Add\u001b[31m a", description: "x\u0000y\ud800\r\nz" }];
    const [task] = planOf(value).tasks;
    assert.equal(task!.subject, "Add[31m a");
    assert.equal(task!.description, "xy\ufffd\nz");
  });
});

describe("a broken plan file", () => {
  it("is told everything at once, each with its place", () => {
    const found = problemsOf({
      skein_plan: 2,
      max_concurrent: 0,
      score: { tier: 4 },
      questions: [{ id: "q" }, { id: "q", question: "Which?" }],
      tasks: [
        { id: "a b", subject: "Add a", scope: ["../x", "ok.ts", 3] },
        { id: "b", reads: "/etc/passwd", priority: 11, delivers: "cake", estimate: { minutes: -1 } },
        { id: "c", subject: "Add c", metadata: [], success_criterion: "a\nb", blockedBy: [{}] },
        7,
      ],
    });
    const score = ["verbs", "connectors", "domain", "scope", "risk", "total", "tier", "min_depth"];
    const places = [
      "tasks[2].metadata tasks[3] tasks[0].id tasks[0].scope[0] tasks[0].scope[2] tasks[1] tasks[1].delivers",
      "tasks[1].reads tasks[1].priority tasks[1].estimate.minutes tasks[2].blockedBy[0]",
      "tasks[2].success_criterion skein_plan max_concurrent questions[0].question",
    ];
    assert.deepEqual(
      found.map(({ place }) => place).sort(),
      [...places.join(" ").split(" "), ...score.map((key) => `score.${key}`)].sort(),
    );
    assert.ok(found.every(({ message }) => message.length > 3));
    const [tooMuch] = problemsOf({ tasks: [{ subject: "Add a", estimate: { tokens: 1e15 } }] });
    assert.equal(tooMuch?.message, "must be a number from 0 to 1000000000000");
  });

  it("is told of dependencies in the same breath", () => {
    const found = problemsOf([{ id: "a", subject: "Add a", scope: ["/x"], blockedBy: ["b"] }]);
    assert.deepEqual(
      found.map(({ place }) => place),
      ["tasks[0].scope[0]", "tasks[0].blockedBy[0]"],
    );
  });

  it("may not give two questions one id", () => {
    const [problem] = problemsOf({
      questions: [
        { id: "q", question: "Who?" },
        { id: "q", question: "Which?" },
      ],
    });
    assert.equal(problem!.place, "questions[1].id");
  });

  for (const [text, message] of [
    ["", "the text is empty"],
    ['{"goal": "x"', "line 1, column 13: "],
    ['{\n"goal" "x"}', "line 2, column 8: "],
    ["{} {}", "line 1, column 4: "],
    ['{"a": "\\x"}', "line 1, column 8: "],
    ['{"tasks": [],\n "tasks": []}', "line 2, column 2: Map keys must be unique"],
    [
      `{"tasks": [{"subject": "${'x\\"'.repeat(50_000)}", "subject": "a"}]}`,
      "a key stands twice in one object",
    ],
  ] as const)
    it(`that is no JSON is told where: ${JSON.stringify(text).slice(0, 80)}`, () => {
      assert.ok(problemsOf(text)[0]!.message.includes(message), problemsOf(text)[0]!.message);
    });

  it("may be as hostile as it likes", () => {
    assert.match(problemsOf("[".repeat(2_000_000))[0]!.message, /the plan is not JSON: .*end/);
    assert.match(problemsOf("[".repeat(10_000))[0]!.message, /the plan is not JSON/);
    assert.match(problemsOf(`["${"x".repeat(4_000_000)}`)[0]!.message, /the plan is not JSON: .*string/);
    assert.match(problemsOf(" ".repeat(5_000_001))[0]!.message, /longer than 5 million/);
    assert.match(problemsOf(`{"a": "${"\\n".repeat(2_000_000)}", "a": "\\\\"}`)[0]!.message, /stands twice/);
    assert.match(
      problemsOf({ tasks: Array(1_001).fill({ subject: "x" }) })[0]!.message,
      /1001 tasks; at most 1000/,
    );
    assert.equal(problemsOf('{"__proto__": {"tasks": []}}')[0]!.place, "tasks");
    const many = problemsOf({ tasks: Array(1_000).fill({}) });
    assert.deepEqual(many.at(-1), { place: "", message: "and 800 more problems" });
    for (const value of ["1", "null", '"x"', "true", "[]", "{}", '{"tasks": {}}']) problemsOf(value);
  });
});
