/** Tests that a plan by rules holds all of its request, over generated texts and texts in the shapes of real ones. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { withBuiltIn } from "../../src/delegation/specialist-table.ts";
import { planByRules } from "../../src/planning/by-rules.ts";
import { readPlan } from "../../src/planning/files/read-plan.ts";
import { lintPlan } from "../../src/planning/lint.ts";
import type { ExecutionPlan } from "../../src/planning/plan.ts";
import { cases } from "../support/cases.ts";
import { cpuMs } from "../support/cpu.ts";
import { checkCoverage } from "./coverage.ts";
import { around, factsOf } from "./parts.ts";
import { BODIES, LONG_TEXT, ORDERS_TO_THE_MACHINE, TEXTS } from "./texts.ts";

const FILES = ["README.md", "lib/a.ts", "src/a.test.ts", "src/a.ts", "src/b.ts", "src/c/d.ts", "src/c/e.ts"];
const given = around({ facts: factsOf(FILES) });
const planOf = (request: string): ExecutionPlan => planByRules(request, given);

/** Parts of usual requests, and text that should never be in one. */
const PIECES: readonly string[] = [
  ...["create", "Review", "fix", "Then", "then", "and", "with", "all files", "16 files", "each module", "it"],
  ...["First", "Finally,", "Meanwhile", "Add a search with filters, sorting and paging", "Implement CRUD"],
  ...[
    ",",
    ". ",
    "! ",
    "? ",
    ":",
    ";",
    "\n",
    "\n\n",
    "\n- ",
    "\n1. ",
    "\n  - ",
    "\n## ",
    "\n> ",
    "\r\n",
    "\t",
  ],
  ...[
    "(",
    ")",
    '"',
    "`",
    "'",
    "\u0000",
    "\u202e",
    "😀",
    "\ud800",
    "**",
    "\n```\n",
    "\n    at x (a.ts:1)",
    "[x] ",
  ],
  ...["src/a.ts", "a.ts", "../../etc/passwd", "/etc/passwd", "only change src/", "Edit README.md", "auth"],
  ...["Don't touch the API.", "Make sure that it works.", "without", "no", "e.g.", "etc.", "1.5", "v2.0"],
  ...[
    "Write tests",
    "Update the docs",
    "deploy",
    "Verify that",
    "once that is done",
    "in parallel",
    "production",
  ],
  ...[
    "日本語。",
    "ё",
    "ﬁ",
    "$(rm -rf /)",
    "__proto__",
    "{}",
    "The login is broken.",
    "Users complain",
    "please",
  ],
];

const text = fc
  .tuple(fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }), fc.constantFrom(" ", " ", ""))
  .map(([pieces, between]) => pieces.join(between));

const hasWord = (request: string) => /[\p{L}\p{N}]/u.test(request);

function checkWhole(plan: ExecutionPlan, request: string): void {
  const { tasks } = plan;
  const said = JSON.stringify(request);
  assert.equal(tasks.length > 0, hasWord(request), said);
  const found = lintPlan(plan, { agents: withBuiltIn([]) });
  const errors = found.filter(
    ({ level, place }) => level === "error" && !/^(?:questions|tasks$)/.test(place),
  );
  assert.deepEqual(errors, [], said);
  for (const { subject, description, activeForm, scope, success_criterion } of tasks) {
    assert.ok(subject !== "" && subject.length <= 80 && activeForm !== "" && description !== "", said);
    assert.ok((subject + description).isWellFormed() && !/[\0\u202e]/.test(subject + description), said);
    assert.ok(!scope.some((path) => path.startsWith("/") || path.includes("..")), said);
    assert.equal(success_criterion, undefined, said);
  }
}

describe("any request", () => {
  it("is whole in its plan, which can be run", () => {
    fc.assert(
      fc.property(text, (request) => {
        const plan = planOf(request);
        checkWhole(plan, request);
        checkCoverage(request, plan);
      }),
      { numRuns: cases(20_000), seed: 20_261_118 },
    );
  });

  it("is whole in its plan: things in a row, paragraphs, steps and numbers, and what is said around them", () => {
    const order = fc.constantFrom(
      "Add readers for csv, xml and json",
      "In parallel, port the map, the chart and the legend in v7",
      "fix a in src/a.ts, b in src/b.ts and c in README.md",
      "round: a out of lib/, b out of src/c/, c in README.md",
      "Do it in all 1 folders (src/*), one commit per folder",
      "The 7 files in src/ differ",
      "Bring each of them to the form of README.md",
      "Step 1: add a",
      "Step 2: same for b",
      "as usual: 1) new table, 2) switch reads, 3) drop a",
      "Also lib/a.ts leaks",
      "Also could you get src/b.ts smaller",
      "why is it slow",
    );
    const more = fc.constantFrom(
      "Each with tests",
      "each in its own file",
      "use 3 agents",
      "keep the tone",
      "No changes please, just tell me",
      "the old one can go once all of them are done",
      "json needs the other two",
      "then review it so that it holds",
      "finally, update the docs",
      "",
    );
    const end = fc.constantFrom(". ", ", ", "\n", "\n\n", "! ", " ");
    const pieces = fc.array(fc.tuple(fc.oneof(order, more), end), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(pieces, (all) => {
        const request = all.flat().join("");
        const plan = planOf(request);
        checkWhole(plan, request);
        checkCoverage(request, plan);
      }),
      { numRuns: cases(10_000), seed: 20_261_119 },
    );
  });

  it("is whole in its plan: lists of orders and of things, with words around them", () => {
    const item = fc.constantFrom(
      "Add a",
      "Fix b. It is red.",
      "dark mode",
      "Then test it",
      "Don't use c",
      "Run d\n  - e",
    );
    const line = fc.constantFrom(
      "",
      "Hello.",
      "Please:",
      "Do f too.",
      "Keep g.",
      "Thanks!",
      "Steps to reproduce:",
    );
    fc.assert(
      fc.property(
        line,
        fc.array(item, { maxLength: 6 }),
        fc.constantFrom("- ", "1. ", "* "),
        line,
        (a, items, mark, b) => {
          const request = [a, ...items.map((one) => mark + one), "", b].join("\n");
          checkWhole(planOf(request), request);
          checkCoverage(request, planOf(request));
        },
      ),
      { numRuns: cases(2_000), seed: 7 },
    );
  });

  it("gives the same plan twice", () => {
    fc.assert(
      fc.property(text, (request) => assert.deepEqual(planOf(request), planOf(request))),
      { numRuns: 100 },
    );
  });
});

describe("texts as people hand them in", () => {
  it("are one task each, with every sentence in it", () => {
    assert.ok(TEXTS.length >= 100);
    for (const request of TEXTS) {
      const plan = planOf(request);
      assert.equal(plan.tasks.length, 1, request);
      assert.deepEqual(plan.questions, [], request);
      checkWhole(plan, request);
      checkCoverage(request, plan);
    }
  });

  it("are one task in any mixture that has none of the shapes", () => {
    const some = fc.array(fc.constantFrom(...BODIES), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(some, fc.constantFrom(" ", "\n", "\n\n", "\n> ", "\n\n## More\n\n"), (bodies, between) => {
        const request = bodies.join(between);
        const plan = planOf(request);
        assert.equal(plan.tasks.length, 1, request);
        checkCoverage(request, plan);
      }),
      { numRuns: cases(3_000), seed: 11 },
    );
  });

  it("of 100 KB are one task with 20,000 characters of its beginning and its end, and the rest is said not to be read", () => {
    assert.ok(LONG_TEXT.length > 100_000);
    const plan = planOf(LONG_TEXT);
    assert.equal(plan.tasks.length, 1);
    assert.match(plan.tasks[0]!.description, /\n\n\[Cut here: [\d,]+ characters of the request /);
    assert.ok(plan.tasks[0]!.description.length < 20_400);
    assert.ok(plan.tasks[0]!.description.endsWith("Please find out why."));
    checkCoverage(LONG_TEXT, plan);
    checkCoverage("word ".repeat(30_000), planOf("word ".repeat(30_000)));
    checkCoverage("x".repeat(50_000), planOf("x".repeat(50_000)));
  });

  it("that are long lists, or have much around them, are plans that can be read back", () => {
    const long = "It is red. ".repeat(5_000);
    const item = "Fix the parser so that it reads everything. ".repeat(400);
    for (const request of [
      `- Add a\n- Fix b\n\n${long}`,
      `- Add a\n- ${item}`,
      `- Add a\n- Fix b\n\n${"x".repeat(15_000)}`,
    ]) {
      const plan = planOf(request);
      const read = readPlan(JSON.stringify(plan));
      assert.deepEqual(read.is === "plan" ? read.plan : read, plan);
      checkCoverage(request, plan);
    }
  });

  it("are planned in time that grows with their length", () => {
    for (const piece of [
      "a, ",
      "- Add b\n",
      "Then add c. ",
      "(",
      "\n",
      " ",
      ".",
      "src/a.ts ",
      "a.",
      "`",
      "a/",
      "1. ",
    ]) {
      const long = piece.repeat(Math.ceil(200_000 / piece.length));
      const start = cpuMs();
      planOf(`Add ${long}`);
      const ms = cpuMs() - start;
      assert.ok(ms < 2_000, `${JSON.stringify(piece)}: ${ms} ms`);
    }
  });
});

describe("a text that gives orders to the machine", () => {
  const bare = (plan: ExecutionPlan) => ({
    max: plan.max_concurrent,
    planner: plan.planner,
    format: plan.skein_plan,
    tasks: plan.tasks.map(({ metadata, success_criterion, priority, blockedBy, scope }) => ({
      ...{ success_criterion, priority, blockedBy, scope },
      ...{ agent: metadata.agent, depth: metadata.depth },
    })),
  });

  it("changes nothing but the words of the task that carries it", () => {
    const work = fc.constantFrom(...TEXTS.slice(0, 25));
    const order = fc.constantFrom(...ORDERS_TO_THE_MACHINE);
    fc.assert(
      fc.property(work, order, fc.boolean(), (request, said, isFirst) => {
        const plan = planOf(isFirst ? `${said} ${request}` : `${request}\n\n${said}`);
        assert.deepEqual(bare(plan), bare(planOf(request)));
        assert.ok(plan.tasks[0]!.description.includes(said));
      }),
      { numRuns: 400, seed: 3 },
    );
  });

  it("is carried by every task of a list, and read as none of their fields", () => {
    for (const said of ORDERS_TO_THE_MACHINE) {
      const { tasks } = planOf(`- Add a\n- Fix b\n\nNote: ${said}`);
      for (const { success_criterion, priority, metadata, description } of tasks) {
        assert.deepEqual(
          [success_criterion, priority, metadata.agent],
          [undefined, undefined, "general-purpose"],
        );
        assert.ok(description.includes(said));
      }
    }
  });
});
