/** Does a plan by rules hold together whatever the request is, in time that grows with its length? */
import assert from "node:assert/strict";
import { test } from "node:test";
import { planByRules } from "../../src/planning/by-rules.ts";
import type { ExecutionPlan } from "../../src/planning/plan.ts";
import { wavesOf } from "../../src/planning/waves.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import { around, factsOf } from "./parts.ts";

const FILES = ["README.md", "lib/a.ts", "src/a.test.ts", "src/a.ts", "src/b.ts", "src/c/d.ts", "src/c/e.ts"];
const given = around({ facts: factsOf(FILES) });
const plan = (request: string) => planByRules(request, given);

/** What requests are made of, and what should never be in one. */
const PIECES = [
  ...[
    "create",
    "Review",
    "fix",
    "then",
    "and",
    "with",
    "all files",
    "16 files",
    "each module",
    "it",
    "the login",
  ],
  ...[
    ",",
    ".",
    ":",
    ";",
    "\n- ",
    "\n1. ",
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
    "```",
  ],
  ...[
    "src/a.ts",
    "a.ts",
    "../../etc/passwd",
    "/etc/passwd",
    "CRUD",
    "auth",
    "basic operations",
    "don't",
    "without",
  ],
  ...[
    "tests",
    "docs",
    "deploy",
    "verify that",
    "once",
    "is done",
    "before",
    "after that",
    "production",
    "日本語",
    "ё",
  ],
  ...[
    "migrate",
    "convert the schema",
    "a calculator",
    "add, subtract and divide",
    "$(rm -rf /)",
    "__proto__",
    "{}",
  ],
];

function checkWhole({ tasks, score, questions }: ExecutionPlan, request: string): void {
  const ids = new Set(tasks.map(({ id }) => id));
  const said = JSON.stringify(request);
  assert.equal(ids.size, tasks.length, said);
  const waves = wavesOf(tasks);
  assert.ok(waves.is === "waves", said);
  assert.ok(tasks.length > 0 || questions.some(({ blocking }) => blocking) || /ignore/i.test(request), said);
  for (const { id, blockedBy, subject, description, activeForm, metadata, delivers, scope } of tasks) {
    assert.ok(
      blockedBy.every((before) => ids.has(before) && Number(before) !== Number(id)),
      said,
    );
    assert.equal(metadata.wave, waves.byId.get(id), said);
    assert.ok(subject !== "" && subject.length <= 80 && activeForm !== "" && description !== "", said);
    assert.ok((subject + description).isWellFormed() && !/[\p{Cc}\u202e]/u.test(subject + description), said);
    assert.ok(metadata.depth >= score!.min_depth, said);
    assert.ok(delivers === "change" || scope.length === 0, said);
    assert.ok(!scope.some((path) => path.startsWith("/") || path.includes("..")), said);
  }
}

test("any mixture of words, marks and broken characters gives a whole plan, twice the same", () => {
  const random = randomFrom(20_261);
  for (let n = 0; n < 1_500; n += 1) {
    const request = Array.from({ length: random.between(0, 30) }, () => random.pick(PIECES)).join(
      random.pick([" ", " ", ""]),
    );
    const first = plan(request);
    checkWhole(first, request);
    if (n % 50 === 0) assert.deepEqual(plan(request), first);
  }
});

test("what is more than a plan holds is left out, and said", () => {
  const many = Array.from({ length: 300 }, (_, n) => `thing ${n}`);
  for (const request of [`Add ${many.join(", ")}`, many.map((thing) => `- Add ${thing}`).join("\n")]) {
    const { tasks, risks } = plan(request);
    const made = tasks.filter(({ subject }) => /^Add thing \d+$/.test(subject));
    assert.equal(made.length, 200);
    assert.ok(risks.some((risk) => risk.startsWith("100 more tasks than a plan holds were left out")));
  }
});

test("of the same work on many files every file is named in one description", () => {
  for (const [count, agents] of [
    [2, 8],
    [7, 8],
    [16, 8],
    [23, 3],
    [41, 8],
    [300, 8],
  ] as const) {
    const files = Array.from({ length: count }, (_, i) => `docs/page-${String(i).padStart(3, "0")}.md`);
    const { tasks } = planByRules("Review all files", {
      ...given,
      facts: factsOf(files),
      maxConcurrent: agents,
    });
    const parts = tasks.filter(({ reads }) => reads.length > 0);
    for (const file of files)
      assert.equal(parts.filter(({ description }) => description.includes(file)).length, 1, file);
    assert.equal(parts.length, Math.max(Math.min(agents, count), Math.ceil(count / 5)));
    assert.equal(tasks.length, parts.length + 1);
  }
});

for (const repeated of [
  "a, ",
  "and ",
  "fix it. ",
  "(",
  '"',
  "`x` ",
  "src/a.ts ",
  "Add a page and test it. ",
  "all files ",
])
  test(`a request of 200,000 ${JSON.stringify(repeated)} takes no longer than one of 20,000 by much`, () => {
    const time = (chars: number) => {
      const request = `Add ${repeated.repeat(chars / repeated.length)}`;
      const start = performance.now();
      plan(request);
      return performance.now() - start;
    };
    time(20_000);
    const short = time(20_000);
    const long = time(200_000);
    // Only 20,000 characters are read; ten times as long by square would be a hundred times.
    assert.ok(long < 10 * short + 500, `${short} ms, then ${long} ms`);
  });
