/** Tests the markdown of a plan, and how an edited plan is read back from it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuMs } from "../../../test/support/cpu.ts";
import { type ExecutionPlan, isReady, type PlanTask } from "../plan.ts";
import { parseMarkdown, renderMarkdown } from "./markdown.ts";

const task = (id: string, subject: string, wave: number, more: Partial<PlanTask> = {}): PlanTask => ({
  id,
  subject,
  description: `${subject}.`,
  activeForm: "Working",
  blockedBy: [],
  scope: ["src/calc.ts"],
  reads: [],
  delivers: "change",
  requirements: ["it is tested"],
  metadata: { wave, phase_id: id, agent: "general-purpose", parallel: wave === 0, depth: 1 },
  ...more,
});

const PLAN: ExecutionPlan = {
  skein_plan: 1,
  goal: "Create a calculator with add and divide",
  planner: "rules",
  max_concurrent: 8,
  score: { verbs: 1, connectors: 1, domain: 0, scope: 0, risk: 0, total: 4, tier: 1, min_depth: 1 },
  success_criteria: ["the tests pass"],
  assumptions: [],
  questions: [],
  context: { files: ["src/calc.ts"], patterns: [], tests: ["test/"] },
  tasks: [
    task("1", "Implement add()", 0),
    task("2", "Implement divide()", 0, { success_criterion: "npm test", priority: 1 }),
    task("3", "Verify", 1, { blockedBy: ["1", "2"] }),
  ],
  risks: ["division by zero"],
};

test("reads from top to bottom as plans of this kind do", () => {
  const tasks = PLAN.tasks.slice(1).map((one) => ({ ...one, blockedBy: one.blockedBy.slice(1) }));
  const plan = { ...PLAN, tasks };
  assert.equal(
    renderMarkdown(plan),
    `# EXECUTION PLAN

Status: Ready

Goal: Create a calculator with add and divide

Planner: rules

Max Concurrent: 8

Score: 4 (tier 1, minimum depth 1; verbs 1, connectors 1, domain 0, scope 0, risk 0)

Success Criteria:

- the tests pass

Assumptions:

_none_

Relevant Context:

- Files:
  - src/calc.ts
- Patterns to follow: _none_
- Tests:
  - test/

## Subtasks with Agent Assignments

| ID | Description | Agent | Depends On | Wave |
| --- | --- | --- | --- | --- |
| 2 | Implement divide() | general-purpose | none | 0 |
| 3 | Verify | general-purpose | 2 | 1 |

## Wave Breakdown

### Wave 0 (1 task)

\`\`\`text
2: Implement divide() -> general-purpose
\`\`\`

### Wave 1 (1 task)

\`\`\`text
3: Verify -> general-purpose
\`\`\`

## Risks

- division by zero

## Plan File

\`\`\`json
${JSON.stringify(plan, undefined, 2)}
\`\`\`

→ CONTINUE TO EXECUTION
`,
  );
});

test("every task of a wave has a line of its own", () => {
  const tasks = Array.from({ length: 40 }, (_, at) => task(`${at + 1}`, `Do ${at + 1}`, 0));
  const text = renderMarkdown({ ...PLAN, tasks });
  const [, lines] = /### Wave 0 \(40 parallel tasks\)\n\n```text\n([^`]*)\n```/.exec(text) ?? [];
  assert.deepEqual(
    lines?.split("\n"),
    tasks.map(({ id, subject }) => `${id}: ${subject} -> general-purpose`),
  );
});

test("a plan that waits for an answer says which, and does not go on", () => {
  const question = { id: "store", question: "Where? (Default: in memory)", default: "in memory" };
  const asking = { ...PLAN, questions: [{ ...question, blocking: true }] };
  assert.ok(!isReady(asking));
  const text = renderMarkdown(asking);
  assert.match(text, /^Status: Clarification needed$/m);
  assert.match(
    text,
    /^- Where\? \(Default: in memory\)\n {2}- Name: store\n {2}- Default: in memory\n {2}- Blocking: yes$/m,
  );
  assert.doesNotMatch(text, /CONTINUE/);
  const told = renderMarkdown({ ...PLAN, questions: [{ ...question, blocking: false }] });
  assert.match(told, /^Status: Ready$.*Blocking: no.*→ CONTINUE TO EXECUTION\n$/ms);
});

/** Texts and their markdown, by the rules of CommonMark and of GitHub's tables, formulas and strikethrough. */
const SHOWN_AS_TEXT: [string, string][] = [
  ["a | b", "a \\| b"],
  ["`code` and *stars*", "\\`code\\` and \\*stars\\*"],
  ["_this_ but output_file", "\\_this\\_ but output_file"],
  ["# no heading", "\\# no heading"],
  ["> no quotation", "\\> no quotation"],
  ["- no list", "\\- no list"],
  ["1. no list", "1\\. no list"],
  ["12) no list", "12\\) no list"],
  ["[no](link) <b>", "\\[no\\](link) \\<b>"],
  ["&amp; $x$ ~~y~~", "\\&amp; \\$x\\$ \\~\\~y\\~\\~"],
  ["two\nlines\tand", "two&#10;lines&#9;and"],
  [" at the ends ", "&#32;at the ends&#32;"],
  ["turned \u202eround", "turned &#8238;round"],
  ["", "_empty_"],
  ["_none_", "\\_none\\_"],
];

for (const [text, markdown] of SHOWN_AS_TEXT) {
  test(`a text that is written as ${markdown} is shown as it is`, () => {
    assert.ok(renderMarkdown({ ...PLAN, goal: text }).includes(`\nGoal: ${markdown}\n`));
  });
}

test("what a text says stays in its cell, its line and its fence", () => {
  const text = "x | y\n```\n### Wave 9\n- z";
  const rendered = renderMarkdown({ ...PLAN, tasks: [task("```", text, 0)], risks: [text], goal: text });
  assert.match(
    rendered,
    /^\| \\`\\`\\` \| x \\\| y \\`\\`\\` ### Wave 9 - z \| general-purpose \| none \| 0 \|$/m,
  );
  assert.match(rendered, /^```: x \| y ``` ### Wave 9 - z -> general-purpose$/m);
  assert.match(rendered, /^- x \\\| y&#10;\\`\\`\\`&#10;### Wave 9&#10;- z$/m);
  assert.equal(rendered.match(/^```/gm)!.length, 5, "two fences, and the task's own name in the first");
});

const TEXT = renderMarkdown(PLAN);

/** Parses the plan's markdown after an edit. */
const edited = (from: string | RegExp, to: string): ReturnType<typeof parseMarkdown> => {
  const text = TEXT.replace(from, to);
  assert.notEqual(text, TEXT, `${from} is not there`);
  return parseMarkdown(text);
};

const planIn = (parsed: ReturnType<typeof parseMarkdown>): ExecutionPlan => {
  assert.equal(parsed.is, "plan", JSON.stringify(parsed));
  return (parsed as { readonly plan: ExecutionPlan }).plan;
};

/** The problems of a refused text, as "place: message". */
const problemsIn = (parsed: ReturnType<typeof parseMarkdown>): readonly string[] => {
  assert.equal(parsed.is, "broken", JSON.stringify(parsed));
  const { problems } = parsed as Extract<typeof parsed, { is: "broken" }>;
  return problems.map(({ place, message }) => `${place}: ${message}`);
};

test("what is no plan is none", () => {
  for (const text of ["", "\n\n", "# SPEC\n\nEXECUTION PLAN\n", "# EXECUTION PLANS\n", '{"tasks": []}'])
    assert.deepEqual(parseMarkdown(text), { is: "none" }, text);
});

test("an edit of the JSON counts", () => {
  assert.deepEqual(planIn(parseMarkdown(TEXT)), PLAN);
  assert.equal(planIn(edited('"Implement add()."', '"Add."')).tasks[0]!.description, "Add.");
});

test("what formatters do to it, and parts that were removed, change nothing", () => {
  const aligned = TEXT.replace("| 1 | Implement", "|  1   |   Implement").replaceAll("| --- ", "| :---- ");
  assert.deepEqual(planIn(parseMarkdown(`\n\n${aligned.replaceAll("\n", "  \n")}`)), PLAN);
  assert.deepEqual(planIn(parseMarkdown(`\ufeff${TEXT.replaceAll("\n", "\r\n")}`)), PLAN);
  assert.deepEqual(planIn(edited("# EXECUTION PLAN", "**EXECUTION PLAN**")), PLAN);
  assert.deepEqual(planIn(edited(/## Subtasks.*(?=## Plan File)/s, "")), PLAN);
  assert.deepEqual(planIn(edited("| general-purpose |", "| workflow-orchestrator:general-purpose |")), PLAN);
});

test("a line that the JSON does not say is refused, not overlooked", () => {
  const line = TEXT.split("\n").findIndex((one) => one.startsWith("| 2 |")) + 1;
  assert.match(
    problemsIn(edited("| 2 | Implement", "| 2 | Design"))[0]!,
    new RegExp(`^line ${line}: the plan`),
  );
  assert.match(problemsIn(edited("- division by zero", "- overflow"))[0]!, /does not say this/);
  assert.match(problemsIn(edited('"blockedBy": [\n        "1",', '"blockedBy": ['))[0]!, /does not say this/);
});

test("a plan without its JSON, and one that the reader of plan files refuses, say so", () => {
  assert.match(problemsIn(edited("```json", "```text"))[0]!, /no block of JSON under "Plan File"/);
  assert.match(
    problemsIn(edited('"src/calc.ts"\n      ],\n      "reads"', '"/etc"], "reads"'))[0]!,
    /tasks\[0\]\.scope/,
  );
});

test("any text is read in time that grows with it, and nothing is thrown", () => {
  const before = cpuMs();
  for (const start of ["|", "- ", "_", " ", "```\n", "```json\n", "\\", "**", "{", "[", "\n"])
    parseMarkdown(`# EXECUTION PLAN\n\n${start.repeat(Math.ceil(200_000 / start.length))}\n`);
  // One quadratic step on 200,000 characters takes 20 s and more.
  assert.ok(cpuMs() - before < 10_000);
});

test("a wave lists every item of a task whose subject has no room for all", () => {
  const files = Array.from({ length: 5 }, (_, n) => `docs/a-long-name-of-a-page-${n}.md`);
  const shared = task("1", "Check the links in a-long-name-of-a-page-0.md, a-long…", 0, {
    scope: [],
    reads: files,
  });
  const plan = { ...PLAN, tasks: [shared, task("2", "Implement divide()", 0)] };
  const text = renderMarkdown(plan);
  const items = files.map((file) => `   ${file}\n`).join("");
  assert.ok(text.includes(`1: ${shared.subject} -> general-purpose\n${items}2: Implement divide()`), text);
  assert.equal(parseMarkdown(text).is, "plan");
});
