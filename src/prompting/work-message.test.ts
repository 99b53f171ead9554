/** Tests the message to a worker, the prompt with its role, and how it is asked again. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { placeIn } from "../../test/support/place.ts";
import type { WorkBrief } from "../core/brief.ts";
import { createFailureHandoff } from "../core/handoff.ts";
import type { Specialist } from "../core/specialist.ts";
import { ROOT, type TaskId, type TaskSpec } from "../core/task.ts";
import type { Prompts } from "../ports/prompts.ts";
import { askAgain } from "./asked-for.ts";
import { MAX_MESSAGE_CHARS } from "./message.ts";
import { systemPrompt } from "./system-prompt.ts";
import { workMessage } from "./work-message.ts";

const TASK = "t.3" as TaskId;

const SPEC: TaskSpec = {
  key: "csv",
  description: "Write the CSV",
  acceptance: "Commas are quoted",
  scope: ["src/csv.ts", "test/"],
  after: [],
  priority: 5,
  delivers: "change",
  shape: "work",
  slug: "csv",
};

const BRIEF: WorkBrief = {
  kind: "work",
  run: "r1",
  task: TASK,
  spec: SPEC,
  attempt: 2,
  branch: "skein/r1/task/t.3.2-csv",
  base: "abc123",
  past: [
    {
      attempt: 1,
      failure: { kind: "gate-red", message: "2 tests fail", next: "run them", detail: "not ok 4" },
      handoff: {
        ...createFailureHandoff({ id: TASK }, "x"),
        summary: "I wrote it",
        concerns: ["not sure"],
        diff: "+ line\n```\n- line",
      },
    },
  ],
  before: [{ key: "rows", summary: "rows are there", files: ["src/rows.ts"] }],
  steers: [],
};

const ROLE: Specialist = {
  name: "csv-expert",
  description: "Knows CSV",
  prompt: "Mind the line ends.",
  isReadOnly: false,
  keywords: [],
  source: ".skein/agents/csv.md",
};

const PROMPTS: Prompts = {
  "root-planner": "ROOT",
  subplanner: "SUB",
  worker: "WORKER\n",
  "execution-planner": "EXECUTION",
  subtask: "SUBTASK",
};

const heard = (brief: Partial<WorkBrief> = {}, role?: Specialist) =>
  workMessage({ brief: { ...BRIEF, ...brief }, ...(role && { role }) });

const SCRATCHPAD = { folder: "/run/pad  1", file: "/run/pad  1/csv.md" };

describe("the message to a worker of a plan", () => {
  const spec = { ...SPEC, terms: { output: "csv.md", criterion: "npm test -- csv\nexit 1" } };
  const before = [{ ...BRIEF.before[0]!, summary: "x".repeat(50_000), output: "rows.md" }];

  it("says where the result goes, what to answer, and which command will be run", () => {
    const message = workMessage({ brief: { ...BRIEF, spec }, scratchpad: SCRATCHPAD });
    assert.ok(message.includes("into your output file: /run/pad  1/csv.md\n"), "with each of its blanks");
    assert.ok(message.includes("`summary` is exactly DONE|/run/pad  1/csv.md and nothing else"));
    assert.ok(message.includes("```text\nnpm test -- csv\nexit 1\n```"));
    const report = { ...BRIEF, spec: { ...spec, delivers: "report" as const } };
    assert.ok(!workMessage({ brief: report, scratchpad: SCRATCHPAD }).includes("Put the whole report into"));
  });

  it("says where the results before it are, also if it has no file of its own, and however long they are", () => {
    const message = workMessage({ brief: { ...BRIEF, before }, scratchpad: { folder: "/pad" } }, 10_000);
    assert.ok(message.includes("rows, whose whole result you can read in /pad/rows.md:"));
    assert.ok(!/output file|DONE/.test(message));
  });

  it("says nothing of it to others", () => {
    assert.ok(!/output file|DONE|criterion|whole result/.test(heard({ before })));
  });
});

describe("the message to a worker", () => {
  it("names what its change must pass to land, and nothing of it to one that delivers a report", () => {
    const gate = { commands: ["npm run build", "npm test"], ms: 30_000 };
    assert.match(heard({ gate }), /^## The gate$[\s\S]*up to 30 s here[\s\S]*^- npm run build\n- npm test$/m);
    assert.doesNotMatch(heard({ gate, spec: { ...SPEC, delivers: "report" } }), /The gate/);
    assert.match(
      heard({ workers: { atOnce: 4, free: 2 } }),
      /^## Workers$[\s\S]*^Workers without a task now: 2$/m,
    );
  });

  it("begins with its place", () => {
    assert.ok(heard().startsWith("Task: t.3 (csv)\nAttempt: 2\n\n"));
    assert.deepEqual(placeIn(heard()), { task: "t.3", key: "csv", number: 2 });
  });

  it("holds all of the brief", () => {
    const message = heard({ steers: ["hurry"] }, ROLE);
    for (const text of [
      ...["Write the CSV", "Commas are quoted", "src/csv.ts\ntest/", "Branch: skein/r1/task/t.3.2-csv"],
      ...["rows:", "rows are there", "Files changed: src/rows.ts", "hurry", "You work as csv-expert."],
      ...[
        "Attempt 1 ended as gate-red: 2 tests fail",
        "What to try: run them",
        "not ok 4",
        "I wrote it\nnot sure",
      ],
      ...[
        "````text\n+ line\n```\n- line\n````",
        "`handoff`",
        '"status": "complete" | "partial" | "blocked" | "failed"',
      ],
    ])
      assert.ok(message.includes(text), text);
  });

  it("tells what a fix must remove", () => {
    assert.match(
      heard({ spec: { ...SPEC, repairs: ["test a", "test\nb"] } }),
      /must be gone afterwards\n\n2 of them:\n```text\ntest a\ntest b\n```\n/,
    );
    assert.doesNotMatch(heard(), /must be gone/);
  });

  it("asks for a report where nothing is to be changed", () => {
    const message = heard({ spec: { ...SPEC, delivers: "report", scope: [] } });
    assert.match(message, /Change no file/);
    assert.match(message, /Put the whole report into `summary`/);
    assert.doesNotMatch(message, /You may change only these/);
    assert.match(heard(), /build it and run its tests/);
  });

  it("is bounded, and keeps the task while diffs are cut", () => {
    const [past] = BRIEF.past;
    const huge = { ...past!, handoff: { ...past!.handoff!, diff: "+x\n".repeat(500_000) } };
    const message = heard({ past: [huge, huge, huge], spec: { ...SPEC, description: "d".repeat(50_000) } });
    assert.ok(message.length <= MAX_MESSAGE_CHARS && message.includes("d".repeat(50_000)));
    assert.equal(message.match(/^… [\d,]+ more characters$/gm)?.length, 3);
  });

  it("is for workers only", () => {
    const plan = {
      kind: "plan",
      goal: "g",
      depth: 0,
      turn: 1,
      tip: "x",
      transcript: "",
      scratchpad: "",
    } as const;
    const rest = {
      first: true,
      maxTasks: 1,
      rejected: [],
      notes: [],
      news: [],
      active: [],
      concerns: [],
      steers: [],
    };
    const brief = { ...plan, ...rest, run: "r", task: TASK, spec: SPEC };
    assert.throws(() => workMessage({ brief }), /t\.3's planner/);
    assert.equal(systemPrompt(PROMPTS, { brief }), "SUB");
    assert.equal(systemPrompt(PROMPTS, { brief: { ...brief, task: ROOT }, role: ROLE }), "ROOT");
  });
});

describe("the prompt of a worker", () => {
  it("is the worker's alone, or with its specialist's below, which overrules nothing", () => {
    assert.equal(systemPrompt(PROMPTS, { brief: BRIEF }), "WORKER\n");
    assert.equal(systemPrompt(PROMPTS, { brief: BRIEF, role: { ...ROLE, prompt: " " } }), "WORKER\n");
    const prompt = systemPrompt(PROMPTS, { brief: BRIEF, role: ROLE });
    assert.match(
      prompt,
      /^WORKER\n\n## Your speciality: csv-expert\n\n.*the rules above hold\.\n\nMind the line ends\.\n$/,
    );
  });
});

describe("asking again", () => {
  it("says what is wrong on one line, and what to answer instead", () => {
    const plan = askAgain("plan", 'the answer has no list\n"tasks"');
    assert.match(plan, /^- the answer has no list "tasks"$/m);
    assert.match(plan, /`plan`.*"tasks": \[\{"id"/s);
    const work = askAgain("work", "status is missing");
    assert.match(work, /^- status is missing$/m);
    assert.match(work, /`handoff`.*"status"/s);
    assert.match(work, /Change nothing more/);
  });

  it("is short, however long the reason", () => {
    assert.ok(askAgain("work", "x".repeat(1_000_000)).length <= 8_000);
  });
});
