import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuMs } from "../../../test/support/cpu.ts";
import type { ExecutionPlan, PlanTask } from "../plan.ts";
import { renderMarkdown } from "./markdown.ts";
import { parseMarkdown } from "./parse-markdown.ts";

const task = (id: string, wave: number, blockedBy: readonly string[]): PlanTask => ({
  id,
  subject: `Do ${id}`,
  description: `Do ${id} well.`,
  activeForm: `Doing ${id}`,
  blockedBy,
  scope: [`src/${id}.ts`],
  reads: [],
  delivers: "change",
  requirements: [],
  metadata: { wave, phase_id: id, agent: "general-purpose", parallel: wave === 0, depth: 1 },
});

const PLAN: ExecutionPlan = {
  skein_plan: 1,
  goal: "Do it",
  planner: "rules",
  max_concurrent: 8,
  success_criteria: ["all | of it", "works"],
  assumptions: [],
  questions: [{ id: "q1", question: "Really? (Default: yes)", default: "yes", blocking: false }],
  context: { files: ["src/"], patterns: [], tests: [] },
  tasks: [task("a", 0, []), task("b", 0, []), task("c", 1, ["a", "b"])],
  risks: [],
};
const TEXT = renderMarkdown(PLAN);

/** The plan after a change of its markdown. */
const edited = (from: string | RegExp, to: string): ReturnType<typeof parseMarkdown> => {
  const text = TEXT.replace(from, to);
  assert.notEqual(text, TEXT, `${from} is not there`);
  return parseMarkdown(text);
};

const planIn = (parsed: ReturnType<typeof parseMarkdown>): ExecutionPlan => {
  assert.equal(parsed.is, "plan", JSON.stringify(parsed));
  return (parsed as { readonly plan: ExecutionPlan }).plan;
};

/** As "place: message", of a text that must be refused. */
const problemsIn = (parsed: ReturnType<typeof parseMarkdown>): readonly string[] => {
  assert.equal(parsed.is, "broken", JSON.stringify(parsed));
  const { problems } = parsed as Extract<typeof parsed, { is: "broken" }>;
  return problems.map(({ place, message }) => `${place}: ${message}`);
};

const lineOf = (start: string): number => TEXT.split("\n").findIndex((line) => line.startsWith(start)) + 1;

test("what is no plan is none", () => {
  const texts = [
    "",
    "\n\n",
    "# SPEC\n\nEXECUTION PLAN\n",
    "# EXECUTION PLANS\n",
    '{"tasks": []}',
    "EXECUTION",
    "## Goal: x",
  ];
  for (const text of texts) assert.deepEqual(parseMarkdown(text), { is: "none" }, text);
});

test("an edit of a list, a value or a record counts", () => {
  assert.deepEqual(planIn(edited("- works", "- works\n- and is *quick*")).success_criteria, [
    ...PLAN.success_criteria,
    "and is *quick*",
  ]);
  assert.equal(planIn(edited("Max Concurrent: 8", "Max Concurrent: 3")).max_concurrent, 3);
  assert.equal(planIn(edited('"Do b well."', '"Do b twice."')).tasks[1]!.description, "Do b twice.");
  assert.deepEqual(planIn(edited("_none_\n\nRelevant", "- none was said\n\nRelevant")).assumptions, [
    "none was said",
  ]);
});

test("what formatters do to it changes nothing", () => {
  const wrapped = TEXT.replace("- works", "-   works").replace("Goal: Do it", "**Goal**: Do\nit");
  const aligned = wrapped.replace("| a | Do a |", "|  a   | Do a       |").replaceAll("| --- ", "| :---- ");
  assert.deepEqual(planIn(parseMarkdown(`\n\n${aligned.replaceAll("\n", "  \n")}`)), PLAN);
  assert.deepEqual(planIn(parseMarkdown(TEXT.replace("# EXECUTION PLAN", "**EXECUTION PLAN**"))), PLAN);
});

test("a label counts however it is written", () => {
  assert.deepEqual(planIn(edited("Success Criteria:", "Success criteria:")), PLAN);
  assert.deepEqual(planIn(edited("## Task Records", "## TASK RECORDS")), PLAN);
});

test("a plan without its table and its waves is still one", () => {
  assert.deepEqual(planIn(edited(/## Subtasks.*(?=## Task Records)/s, "")), PLAN);
});

test("a table, waves or a status that contradict the records are refused, not overlooked", () => {
  const row = lineOf("| b |");
  assert.deepEqual(problemsIn(edited("| b | Do b |", "| b | Do more |")), [
    `line ${row}: this line says "b | Do more | general-purpose | none | 0", and the records say ` +
      '"b | Do b | general-purpose | none | 0"',
  ]);
  assert.match(problemsIn(edited(/\| c \|.*\n/, ""))[0]!, /a line is missing: "c \| Do c/);
  assert.match(problemsIn(edited("1 task)", "7 tasks)"))[0]!, /says "Wave 1 \(7 tasks\)"/);
  assert.match(problemsIn(edited("c: Do c ->", "d: x -> y\nc: Do c ->"))[0]!, /says "d: x -> y"/);
  assert.match(
    problemsIn(edited("Status: Ready", "Status: Done"))[0]!,
    /^line 3: .*"Ready": no question blocks it/,
  );
  assert.match(problemsIn(edited("Blocking: no", "Blocking: yes"))[0]!, /"Clarification needed"/);
});

test("a change of the dependencies is told what else says the old ones", () => {
  const problems = problemsIn(edited('addBlockedBy: ["a", "b"]', 'addBlockedBy: ["a"]'));
  assert.match(
    problems[0]!,
    /says "c \| Do c \| general-purpose \| a, b \| 1", and the records say ".* \| a \| 1"/,
  );
});

test("every problem of form is told, with its line", () => {
  const text = TEXT.replace("Plan Format: 1", "Plan Format: 1\n\nRisks:\n\nScore: high")
    .replace("- Files:", "- Folders:")
    .replace('subject: "Do b"', "subject: Do b")
    .replace('taskId: "c"', 'taskId: "x"')
    .replace("Success Criteria:\n", "Success Criteria:\nAs it should be.\n");
  const problems = problemsIn(parseMarkdown(text)).map((problem) => problem.replace(/^line \d+: /, ""));
  assert.deepEqual(problems, [
    '"Risks" appears twice',
    "the score is not written as it should be",
    "this line belongs to no part of the plan",
    "begin it with one of Files, Patterns to follow, Tests, and a colon",
    '"subject" is not JSON',
    '"taskId" names no task of the plan',
  ]);
  const at = lineOf("  - src/") - 1;
  assert.match(problemsIn(edited("- Files:", "- Folders:"))[0]!, new RegExp(`^line ${at}: `));
});

test("what the reader of plan files refuses is told with its line as well", () => {
  const at = lineOf('  scope: ["src/a.ts"]');
  const problems = problemsIn(edited('scope: ["src/a.ts"]', 'scope: ["/etc/passwd"]'));
  assert.match(problems[0]!, new RegExp(`^line ${at} \\(tasks\\[0\\]\\.scope`));
});

test("any text is read in time that grows with it, and nothing is thrown", () => {
  const starts = [
    "|",
    "- ",
    "_",
    " ",
    "```\n",
    "\\",
    "&#",
    "a: ",
    "TaskCreate:\n",
    "**",
    "Goal",
    "- a\n  - b\n",
    "{",
    "\n",
  ];
  const before = cpuMs();
  for (const start of starts) {
    const text = start.repeat(Math.ceil(200_000 / start.length));
    const parsed = parseMarkdown(
      `# EXECUTION PLAN\n\nSubtasks with Agent Assignments:\n${text}\n\nRisks:\n${text}\n`,
    );
    assert.ok(parsed.is !== "broken" || parsed.problems.length <= 101, start);
    for (const label of ["Goal", "Score", "Relevant Context", "Task Records"])
      parseMarkdown(`# EXECUTION PLAN\n${label}: ${text}`);
  }
  // It takes about 1 s; one quadratic step on 200,000 characters takes 20 s and more.
  assert.ok(cpuMs() - before < 15_000);
});

test("a thousand tasks are written and read in no time", () => {
  const tasks = Array.from({ length: 1_000 }, (_, at) => task(`t${at}`, 0, []));
  const before = cpuMs();
  const text = renderMarkdown({ ...PLAN, tasks });
  const took = cpuMs() - before;
  assert.equal(planIn(parseMarkdown(text)).tasks.length, 1_000);
  assert.ok(took < 300, `${took} ms`); // About 50 ms.
});
