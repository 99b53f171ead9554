import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ExecutionPlan, PlanTask } from "../plan.ts";
import { renderMermaid } from "./mermaid.ts";

const task = (id: string, subject: string, blockedBy: readonly string[] = [], wave = 0): PlanTask => ({
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

const planOf = (tasks: readonly PlanTask[]): ExecutionPlan => ({
  skein_plan: 1,
  goal: "g",
  planner: "rules",
  max_concurrent: 8,
  success_criteria: [],
  assumptions: [],
  questions: [],
  context: { files: [], patterns: [], tests: [] },
  tasks,
  risks: [],
});

/**
 * A grammar narrower than mermaid's: a label is in quotes and holds letters, digits, marks, blanks, line breaks,
 * numbers of characters, and what joins a word; every other line is one of five forms.
 */
const LABEL = /^(?:[\p{L}\p{N}\p{M} ]|#\d+;|<br\/>|(?<=[A-Za-z0-9])[._,/-](?=[A-Za-z0-9]))*$/u;

type Chart = { readonly labels: string[]; readonly edges: string[]; readonly critical: string[] };

function read(text: string): Chart {
  const lines = text.split("\n");
  assert.equal(lines.shift(), "flowchart LR");
  assert.equal(lines.pop(), "");
  const chart: Chart = { labels: [], edges: [], critical: [] };
  let isOpen = false;
  for (const line of lines) {
    const [, subgraph] = /^ {2}subgraph w\d+\["Wave ([^"]*)"\]$/.exec(line) ?? [];
    const [, label] = /^ {4}t\d+\["([^"]*)"\]$/.exec(line) ?? [];
    const [, from, to] = /^ {2}(t\d+) --> (t\d+)$/.exec(line) ?? [];
    const [, critical] = /^ {2}class (t\d+(?:,t\d+)*) critical$/.exec(line) ?? [];
    if (subgraph !== undefined) assert.ok(!isOpen && LABEL.test(subgraph), line);
    else if (label !== undefined) {
      assert.ok(isOpen && LABEL.test(label), line);
      assert.ok(!/\bend\b/i.test(label), line);
      chart.labels.push(label.replace(/#(\d+);/g, (_, point) => String.fromCodePoint(Number(point))));
    } else if (from !== undefined) chart.edges.push(`${from} ${to}`);
    else if (critical !== undefined) chart.critical.push(...critical.split(","));
    else assert.ok(line === "  end" ? isOpen : /^ {2}classDef critical [a-z:,0-9-]+$/.test(line), line);
    isOpen = subgraph !== undefined || (isOpen && line !== "  end");
  }
  assert.ok(!isOpen);
  return chart;
}

test("draws waves, dependencies and what decides how long it takes", () => {
  const plan = planOf([
    task("1", "Implement add()"),
    task("2", "Implement divide()"),
    task("3", 'Say "end" of [it]; `now` #1', ["2", "1", "2", "unknown"], 1),
  ]);
  const text = renderMermaid(plan);
  assert.match(text, /subgraph w0\["Wave 0"\]\n {4}t0.*\n {4}t1.*\n {2}end\n {2}subgraph w1\["Wave 1"\]/);
  assert.deepEqual(read(text), {
    labels: [
      "1<br/>Implement add()<br/>code-reviewer",
      "2<br/>Implement divide()<br/>code-reviewer",
      '3<br/>Say "end" of [it]; `now` #1<br/>code-reviewer',
    ],
    edges: ["t1 t2", "t0 t2"],
    critical: ["t0", "t2"],
  });
});

test("no text gets out of its label, whatever it is", () => {
  const hostile = fc.constantFrom(
    "end",
    "%%{init}%%",
    '"]',
    "\nend\n",
    "-->",
    "- ",
    "1. ",
    "`",
    "<b>",
    "&lt;",
  );
  const text = fc
    .array(fc.oneof(hostile, fc.string({ unit: "binary", maxLength: 5 })), { maxLength: 6 })
    .map((parts) => parts.join(" "));
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 4 }), (drawn) => {
      const chart = read(
        renderMermaid(planOf(drawn.map(([id, subject], wave) => task(id, subject, [], wave)))),
      );
      assert.equal(chart.labels.length, drawn.length);
    }),
    { numRuns: 300 },
  );
});

test("a label is never long", () => {
  const tasks = Array.from({ length: 1_000 }, (_, at) =>
    task(`${at}`, "😀#".repeat(50_000), at > 0 ? ["0"] : []),
  );
  const text = renderMermaid(planOf(tasks));
  assert.ok(text.split("\n").every((line) => line.length < 800));
  assert.equal(renderMermaid(planOf([])).split("\n")[0], "flowchart LR");
});
