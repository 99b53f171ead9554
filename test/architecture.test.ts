/** Tests that the source tree keeps the architecture's rules, and that trees which break a rule are refused. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { checkArchitecture } from "../tools/check-architecture.ts";
import { importsOf } from "../tools/imports.ts";
import { LAYERS, layerOf } from "../tools/layers.ts";
import { ROOT, sourceFiles } from "../tools/source-files.ts";

const doc = "/** Does one thing. */\n";
const check = (tree: Record<string, string>) =>
  checkArchitecture(Object.entries(tree).map(([file, text]) => ({ path: file, text })));

test("the code keeps the rules", () => {
  const problems = checkArchitecture(sourceFiles());
  assert.equal(problems.length, 0, `\n${problems.join("\n")}\n`);
});

test("the real tree is really read", () => {
  const files = sourceFiles();
  for (const folder of ["bin/skein", "src/core/", "src/graph/dag.ts", "test/", "tools/"])
    assert.ok(
      files.some(({ path }) => path.startsWith(folder)),
      folder,
    );
  const edges = files.filter(({ path }) => path.startsWith("src/")).flatMap(({ text }) => importsOf(text));
  assert.ok(edges.length > 50, `${edges.length} imports`);
});

test("the lock file holds no registry address", () => {
  const lock = readFileSync(path.join(ROOT, "package-lock.json"), "utf8");
  assert.doesNotMatch(lock, /"resolved":\s*"[a-z+]+:/);
});

test("every rule names layers that exist", () => {
  const names = LAYERS.map(({ name }) => name);
  for (const { name, mayUse } of LAYERS)
    for (const used of mayUse) assert.ok(names.includes(used) && used !== name, `${name} → ${used}`);
});

const ALLOWED: [string, string][] = [
  ["src/core/rules/due.ts", "src/core/task.ts"],
  ["src/core/log/state.ts", "src/graph/dag.ts"],
  ["src/graph/task-graph.ts", "src/graph/dag.ts"],
  ["src/graph/dag.ts", "src/graph/dag-node.ts"],
  ["src/ports/clock.ts", "src/core/job.ts"],
  ["src/adapters/clocks/system.ts", "src/ports/clock.ts"],
  ["src/delegation/delegation-engine.ts", "src/graph/planned-task.ts"],
  ["src/subtasks/execute.ts", "src/ports/subtasks.ts"],
  ["src/jobs/plan.ts", "src/planning/plan.ts"],
  ["src/engine/engine.ts", "src/jobs/run-job.ts"],
  ["src/simulation/simulate.ts", "src/adapters/clocks/manual.ts"],
  ["src/surfaces/cli/main.ts", "src/compose/parts.ts"],
  ["src/compose/world.ts", "src/adapters/clocks/system.ts"],
  ["src/index.ts", "src/graph/task-graph.ts"],
];
const FORBIDDEN: [string, string][] = [
  ["src/core/rules/due.ts", "src/ports/clock.ts"],
  ["src/core/log/state.ts", "src/graph/task-graph.ts"],
  ["src/core/log/state.ts", "src/graph/heap.ts"],
  ["src/graph/dag.ts", "src/graph/task-graph.ts"],
  ["src/graph/dag.ts", "src/core/task.ts"],
  ["src/ports/clock.ts", "src/adapters/clocks/system.ts"],
  ["src/adapters/clocks/system.ts", "src/engine/engine.ts"],
  ["src/delegation/attempt.ts", "src/engine/engine.ts"],
  ["src/planning/plan.ts", "src/subtasks/depth.ts"],
  ["src/jobs/plan.ts", "src/engine/engine.ts"],
  ["src/engine/engine.ts", "src/adapters/event-logs/memory.ts"],
  ["src/engine/engine.ts", "src/surfaces/cli/main.ts"],
  ["src/surfaces/cli/main.ts", "src/adapters/event-logs/memory.ts"],
  ["src/compose/world.ts", "src/surfaces/cli/main.ts"],
  ["src/index.ts", "src/adapters/event-logs/memory.ts"],
];

const importing = (file: string, used: string) => {
  const relative = path.posix.relative(path.posix.dirname(file), used);
  return { [file]: `${doc}import "${relative.startsWith(".") ? relative : `./${relative}`}";`, [used]: doc };
};

for (const [file, used] of ALLOWED)
  test(`${file} may import ${used}`, () => assert.deepEqual(check(importing(file, used)), []));

for (const [file, used] of FORBIDDEN)
  test(`${file} may not import ${used}, and hears which file to move and why`, () => {
    const [problem, ...more] = check(importing(file, used));
    assert.deepEqual(more, []);
    assert.ok(problem?.startsWith(`${file} imports ${used}: ${layerOf(file)?.name} may use `), problem);
    assert.ok(problem?.includes(`because ${layerOf(file)?.why}. Move ${file} up`), problem);
  });

test("a test may import anything", () => {
  assert.deepEqual(check({ "src/core/a.test.ts": 'import "../adapters/b.ts"; import "node:fs";' }), []);
});

test("a file outside every layer, and an import of one, are told", () => {
  assert.match(check({ "src/other/a.ts": doc }).join(), /^src\/other\/a\.ts belongs to no layer/);
  assert.match(
    check({ "src/core/a.ts": `${doc}import "../../test/b.ts";` }).join(),
    /imports test\/b\.ts, which belongs/,
  );
});

test("core and graph may not import Node, under either name, not even its types", () => {
  for (const line of [
    'import fs from "node:fs";',
    'import type { Stats } from "fs";',
    'export * from "node:path";',
  ])
    for (const file of ["src/core/a.ts", "src/graph/dag.ts"])
      assert.match(
        check({ [file]: doc + line }).join(),
        /imports (?:node:)?(?:fs|path): core and graph also run where/,
      );
  assert.deepEqual(check({ "src/core/a.ts": `${doc}import * as z from "zod";` }), []);
  assert.deepEqual(check({ "src/delegation/a.ts": `${doc}import "node:fs";` }), []);
});

test("an import of something computed is told, since nobody can say where it goes", () => {
  assert.match(
    check({ "src/core/a.ts": `${doc}await import(name);` }).join(),
    /^src\/core\/a\.ts:2 imports something computed/,
  );
});

test("a circle of files is told once, with its way", () => {
  const problems = check({
    "src/core/a.ts": `${doc}import "./b.ts";`,
    "src/core/b.ts": `${doc}export * from "./c.ts"; import "./d.ts";`,
    "src/core/c.ts": `${doc}import type { A } from "./a.ts";`,
    "src/core/d.ts": doc,
  });
  assert.equal(problems.length, 1);
  assert.match(
    problems.join(),
    /^src\/core\/a\.ts → src\/core\/b\.ts → src\/core\/c\.ts → src\/core\/a\.ts: files that/,
  );
});

test("a diamond is no circle, and a file that imports itself is one", () => {
  const diamond = {
    "src/core/a.ts": 'import "./b.ts"; import "./c.ts";',
    "src/core/b.ts": 'import "./c.ts";',
  };
  const tree = Object.entries({ ...diamond, "src/core/c.ts": "" }).map(([file, text]) => [file, doc + text]);
  assert.deepEqual(check(Object.fromEntries(tree)), []);
  assert.equal(check({ "src/core/a.ts": `${doc}import "./a.ts";` }).length, 1);
});

test("an export that nothing imports is told, and one that only a test imports, but no entry's", () => {
  const tree = {
    "src/core/a.ts": `${doc}export const a = 1; export type A = 1; export function b() {} export type { C } from "./c.ts";`,
    "src/core/c.ts": `${doc}export type C = 1; export type D = 2;`,
    "src/core/a.test.ts": 'import { a, b } from "./a.ts";',
    "test/a.ts": 'import { a, b } from "../src/core/a.ts";',
    "src/index.ts": `${doc}export const made = 1;`,
  };
  assert.deepEqual(
    check(tree).map((problem) => problem.split(",")[0]),
    [
      "src/core/a.ts exports a",
      "src/core/a.ts exports A",
      "src/core/a.ts exports b",
      "src/core/a.ts exports C",
      "src/core/c.ts exports D",
    ],
  );
});

test("an export is used by an import of any kind, also from tools and benches", () => {
  const uses = [
    'import { a } from "../core/a.ts";',
    'import { type a as b } from "../core/a.ts";',
    'import * as all from "../core/a.ts";',
    'export { a as made } from "../core/a.ts";',
    'const { a } = await import("../core/a.ts");',
    'const b = (await import("../core/a.ts")).a;',
    'import("../core/a.ts").then(({ a }) => a);',
    'type B = import("../core/a.ts").a;',
  ];
  const a = { "src/core/a.ts": `${doc}export const a = 1;` };
  for (const use of uses) {
    const problems = check({ ...a, "src/jobs/b.ts": doc + use });
    assert.ok(!problems.some((problem) => problem.startsWith("src/core/a.ts")), use);
  }
  assert.deepEqual(check({ ...a, "bench/b.ts": 'import { a } from "../src/core/a.ts";' }), []);
});

test("two exported types of one name are told, but neither one that is handed on nor a value beside its type", () => {
  const problems = check({
    "src/core/a.ts": `${doc}export type Made = 1; export const Made = 1;`,
    "src/core/b.ts": `${doc}export type Made = 1; type Own = 1;`,
    "src/core/c.ts": `${doc}type Own = 1;`,
    "src/index.ts": `${doc}export type { Made } from "./core/a.ts"; import type { Made as B } from "./core/b.ts";`,
  }).filter((problem) => !problem.startsWith("src/index.ts imports"));
  assert.equal(problems.length, 1, problems.join());
  assert.match(
    problems.join(),
    /^Made is the name of a type in src\/core\/a\.ts, src\/core\/b\.ts: give each/,
  );
});

test("a product file opens with a doc comment; a test need not", () => {
  const bare = "export {};\n/** late */\n";
  assert.match(check({ "src/core/a.ts": bare }).join(), /^src\/core\/a\.ts must open with a doc comment/);
  assert.deepEqual(check({ "src/core/a.test.ts": bare, "tools/a.ts": bare }), []);
});

test("a header states what the file does: a question in it is refused in every file, but not in its code", () => {
  for (const header of ["/** How is it done? */", "#!/usr/bin/env node\n/**\n * Adds.\n * But why?\n */"])
    for (const file of ["src/core/a.ts", "test/a.ts", "tools/a.test.ts"])
      assert.match(check({ [file]: `${header}\n` }).join(), /asks a question in its header: state what/);
  const code = "/**\n * Chooses by `a ? b : c`.\n *\n * ```ts\n * a?.b;\n * ```\n */\n/** Why? */\n";
  assert.deepEqual(check({ "src/core/a.ts": code }), []);
});

test("400 lines are allowed, 401 are not, in tests and tools as well", () => {
  const lines = (count: number) => doc.trimEnd() + "\n".repeat(count);
  for (const file of [
    "src/core/a.ts",
    "src/core/a.test.ts",
    "test/a.ts",
    "bench/a.ts",
    "tools/a.ts",
    "bin/skein",
  ]) {
    assert.deepEqual(check({ [file]: lines(400) }), []);
    assert.match(check({ [file]: lines(401) }).join(), /has 401 lines, 400 are allowed/);
  }
});

test("compose is wiring only: 400 lines for one machine, 300 more for a fleet", () => {
  const count = (isOf: (file: string) => boolean) =>
    sourceFiles()
      .filter(({ path }) => path.startsWith("src/compose/") && isOf(path))
      .reduce((sum, { text }) => sum + text.trimEnd().split("\n").length, 0);
  const isFleets = (file: string) => file.startsWith("src/compose/fleet");
  const [one, fleet] = [count((file) => !isFleets(file)), count(isFleets)];
  const why = "lines: what is more than wiring belongs into src/app";
  assert.ok(one > 0 && one <= 400, `${one} ${why}`);
  assert.ok(fleet > 0 && fleet <= 300, `${fleet} ${why}`);
});
