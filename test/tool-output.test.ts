/** Tests that output of real tools is read as people read it, and that hostile output does no harm. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { ToolProblem } from "../src/adapters/gates/tool-output/found.ts";
import { readOutput } from "../src/adapters/gates/tool-output/read-output.ts";
import { groupProblems } from "../src/core/rules/problem-groups.ts";
import { type Problem, type ProblemClass, planRepairs } from "../src/core/rules/repair.ts";
import { readPath } from "../src/core/scope.ts";
import { cpuMs } from "./support/cpu.ts";

const MAX_FAILURES = 500;

const FOLDER = path.join(import.meta.dirname, "fixtures", "tool-output");

type Expected = {
  readonly class: ProblemClass;
  readonly tree: readonly string[];
  readonly notConfigured?: string;
  readonly failures: readonly ToolProblem[];
  readonly groups: readonly (readonly string[])[];
};

const cases = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".txt"))
  .map((file) => {
    const name = file.slice(0, -".txt".length);
    const expected: Expected = JSON.parse(readFileSync(path.join(FOLDER, `${name}.json`), "utf8"));
    return { name, text: readFileSync(path.join(FOLDER, file), "utf8"), expected };
  });

const read = (text: string, { tree, class: kind }: Pick<Expected, "tree" | "class">, folder = "/workspace") =>
  readOutput({ text, folder, has: (file) => tree.includes(file), class: kind });

const problemsOf = (failures: readonly ToolProblem[]): readonly Problem[] =>
  failures.map(({ cause, ...found }) => ({ ...found, ...(cause === undefined ? {} : { cause }) }));

const names = (text: string) => readOutput({ text }).failures.map(({ name }) => name);

describe("recorded outputs", () => {
  test("are many, small, and tell nothing of the machine they were made on", () => {
    assert.ok(cases.length >= 40, `${cases.length} cases`);
    for (const { name, text } of cases) {
      assert.ok(statSync(path.join(FOLDER, `${name}.txt`)).size < 30_000, name);
      assert.doesNotMatch(text, /\/(?:root|home|Users|work)\/|registry|toolout/, name);
    }
  });

  for (const { name, text, expected } of cases) {
    test(`${name}: class, names, files, causes and groups`, () => {
      const { failures, more, notConfigured } = read(text, expected);
      assert.deepEqual(failures, expected.failures);
      assert.equal(more, 0);
      assert.equal(notConfigured, expected.notConfigured);
      const groups = groupProblems(problemsOf(failures)).map((group) => group.map((problem) => problem.name));
      assert.deepEqual(groups, expected.groups);
    });

    test(`${name}: every failure is repaired by a task or waits with a reason`, () => {
      const problems = problemsOf(read(text, expected).failures);
      const limits = { maxTasks: 5, maxFiles: 3 };
      const plan = planRepairs({ problems, pending: [], usedKeys: new Set(), limits });
      assert.equal(plan.class, expected.failures[0]?.class);
      for (const task of plan.tasks)
        for (const file of task.scope) assert.ok(file === "./" || expected.tree.includes(file), file);
      assert.ok(problems.length === 0 || plan.tasks.length > 0);
    });

    test(`${name}: the same names on another machine, on shifted lines, at another speed`, () => {
      const later = read(shifted(text), expected, "/tmp/skein.x81k/gate 3");
      assert.deepEqual(
        later.failures.map((found) => found.name),
        expected.failures.map((found) => found.name),
      );
    });
  }
});

/** The output of another run of the same tree with some lines added at the top of each file. */
const shifted = (text: string): string =>
  text
    .replaceAll("/workspace", "/tmp/skein.x81k/gate 3")
    .replace(/(?<=\()(\d+)(?:\.\d+)?( ?m?s\))/g, (_, n, unit) => `${Number(n) * 3 + 1}.25${unit}`)
    .replace(/(\.\w+):(\d+):(\d+)/g, (_, file, line, column) => `${file}:${Number(line) + 7}:${column}`)
    .replace(/\((\d+),(\d+)\): error/g, (_, line, column) => `(${Number(line) + 7},${column}): error`)
    .replace(/\bline (\d+)/g, (_, line) => `line ${Number(line) + 7}`)
    .replace(/\((\d{4})\) panicked/g, "(7$1) panicked")
    .replace(/0x[0-9a-f]{6,}/g, "0x7ffd12345678")
    .replace(/\/tmp\/cc\w{6}\.o/g, "/tmp/ccOthers.o")
    .replace(/\+0x[0-9a-f]+/g, "+0x99")
    .replace(/goroutine \d+/g, "goroutine 77");

describe("readOutput", () => {
  test("finds no names where nothing is known, so that the command's name is the failure", () => {
    assert.deepEqual(readOutput({ text: "it did not work\nsorry\n" }), { failures: [], more: 0 });
    assert.deepEqual(readOutput({ text: "" }), { failures: [], more: 0 });
  });

  test("reads no warnings", () => {
    assert.deepEqual(
      names("src/a.c:3:1: warning: unused variable 'x'\nwarning: unused import\n --> src/a.rs:1:1\n"),
      [],
    );
    assert.deepEqual(
      names("/a.js\n  1:1  warning  Unexpected console  no-console\n\n✖ 1 problem (0 errors, 1 warning)\n"),
      [],
    );
  });

  test("counts failures of one name by their places, and what is said twice of one place once", () => {
    const [first, second] = [
      "a.ts(1,1): error TS2304: Cannot find name 'x'.",
      "a.ts(9,1): error TS2304: Cannot find name 'x'.",
    ];
    const name = "a.ts TS2304: Cannot find name 'x'.";
    assert.deepEqual(names(`${first}\n${first}\n`), [name]);
    assert.deepEqual(names(`${first}\n${second}\n`), [name, `${name} (2)`]);
    assert.deepEqual(names(second), [name]);
  });

  test("leaves temporary files, addresses and lines out of names", () => {
    const error = (temp: string, line: number) =>
      names(`a.c:1:1: error: cannot open /tmp/cc${temp}.o at 0x7ff${temp}, see b.h:${line}:1`);
    assert.deepEqual(error("aaaa", 3), error("bbbb", 9));
  });

  test("gives the same failures in whatever order the files were finished", () => {
    const lines = ["b", "a", "c"].map((file) => `${file}.ts(1,1): error TS2304: Cannot find name '${file}'.`);
    assert.deepEqual(names(lines.join("\n")), names(lines.toReversed().join("\n")));
  });

  test("names at most some hundreds, the same ones in any order, and says how many more there are", () => {
    const lines = Array.from({ length: MAX_FAILURES + 100 }, (_, i) => `f${i}.c:1:1: error: no ${i}`);
    const { failures, more } = readOutput({ text: lines.join("\n") });
    assert.deepEqual([failures.length, more], [MAX_FAILURES, 100]);
    assert.deepEqual(readOutput({ text: lines.toReversed().join("\n") }).failures, failures);
  });

  test("believes only paths inside the workspace, and only files that are there", () => {
    const filesOf = (file: string, has?: (file: string) => boolean) =>
      readOutput({ text: `${file}:1:1: error: bad`, folder: "/ws", ...(has && { has }) }).failures[0]?.files;
    assert.deepEqual(filesOf("/ws/src/a.c"), ["src/a.c"]);
    assert.deepEqual(filesOf("./src/a.c"), ["src/a.c"]);
    assert.deepEqual(filesOf("x/ws/a.c"), ["x/ws/a.c"]);
    for (const outside of [
      "/usr/include/a.h",
      "../a.c",
      "/wsx/a.c",
      "/x/ws/a.c",
      "node_modules/x/a.js",
      "p/node_modules/a.js",
    ])
      assert.deepEqual(filesOf(outside), [], outside);
    assert.deepEqual(
      filesOf("src/a.c", () => false),
      [],
    );
  });

  test("strips colours, links and what a progress line wrote over", () => {
    const esc = String.fromCharCode(27);
    const text = `compiling…\r${esc}[1m${esc}]8;;http://x${esc}\\a.c${esc}]8;;${esc}\\:1:1:${esc}[0m ${esc}[31merror: ${esc}[0mbad\r\n`;
    assert.deepEqual(names(text), ["a.c: bad"]);
  });

  test("takes a script or a target that is not there for not configured, in every runner's words", () => {
    for (const text of [
      'npm error Missing script: "build"\nnpm error\n',
      'npm ERR! Missing script: "build"\n',
      "npm ERR! missing script: build\n",
      " ERR_PNPM_NO_SCRIPT  Missing script: build\n",
      'yarn run v1.22.19\nerror Command "build" not found.\n',
    ])
      assert.deepEqual(readOutput({ text }), {
        failures: [],
        more: 0,
        notConfigured: 'there is no script "build"',
      });
    assert.equal(
      readOutput({ text: "make: *** No rule to make target 'check'.  Stop.\n" }).notConfigured,
      'make has no target "check"',
    );
  });

  test("takes what an existing script or rule calls in vain for a failure", () => {
    const nested = readOutput({
      text: '> shop@1.0.0 test\n> npm run lint\n\nnpm error Missing script: "lint"\n',
    });
    assert.deepEqual([nested.notConfigured, nested.failures[0]?.name], [undefined, "script lint is missing"]);
    const made = readOutput({ text: "cc x.c\nmake: *** No rule to make target 'check'.  Stop.\n" });
    assert.equal(made.notConfigured, undefined);
    const going = readOutput({ text: "make: *** No rule to make target 'x'.  Stop.\na.c:1:1: error: bad\n" });
    assert.deepEqual([going.notConfigured, going.failures[0]?.name], [undefined, "a.c: bad"]);
  });

  test("reads a crash and a failed target only where nothing better is known, as of the kind it is told", () => {
    const crash = "TypeError: no\n    at f (build.js:1:2)\n\nNode.js v24.1.0\n";
    const found = (text: string) =>
      readOutput({ text, class: "build" }).failures.map((each) => `${each.class} ${each.name}`);
    assert.deepEqual(found(crash), ["build build.js: TypeError"]);
    assert.deepEqual(found(`${crash}a.c:1:1: error: bad\nmake: *** [Makefile:1: all] Error 1\n`), [
      "build a.c: bad",
    ]);
  });
});

const EVERY_LINE = cases.flatMap(({ text }) => text.split("\n"));

describe("hostile output", () => {
  test("never throws, and what it gives keeps the limits", () => {
    const line = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...EVERY_LINE) },
      fc.string({ unit: "binary", maxLength: 200 }),
      fc
        .tuple(fc.constantFrom(...EVERY_LINE), fc.nat(80), fc.string())
        .map(([known, at, noise]) => known.slice(0, at) + noise + known.slice(at)),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 120 }), (lines) => {
        const { failures, more } = readOutput({ text: lines.join("\n"), folder: "/workspace" });
        assert.ok(failures.length <= MAX_FAILURES && more >= 0);
        assert.equal(new Set(failures.map(({ name }) => name)).size, failures.length);
        for (const { name, message, files, cause } of failures) {
          assert.ok(
            name !== "" && name.length < 320 && message.length <= 1_001 && (cause?.length ?? 0) < 320,
          );
          assert.ok(
            name.isWellFormed() && message.isWellFormed() && !/[\n\r]/.test(name),
            JSON.stringify(name),
          );
          assert.doesNotMatch(name, /(?<![\w./-])\/workspace\//);
          for (const file of files) assert.deepEqual(readPath(file), { path: file });
        }
      }),
      { numRuns: 300 },
    );
  });

  test("takes time that grows with the text alone", () => {
    const starts = new Set(EVERY_LINE.filter((line) => line.length > 3).map((line) => line.slice(0, 24)));
    const traps = [...starts].filter((_, i) => i % 8 === 0);
    const shapes = [
      ...traps.flatMap((trap) => [`${trap}\n`]),
      ...[
        "\n",
        "\r",
        "(1,1",
        ":1:1",
        "a.go:1",
        "' ",
        "━",
        "[1m",
        "✖ a\n",
        "    ",
        "a/",
        "../",
        "_",
        "= ",
        "\\",
        "/tmp/",
      ],
      ...[
        "at (",
        "__ a",
        "'",
        "`",
        "---- a stdout ----\n",
        "failures:\n    a\n",
        " FAIL  a > b\n",
        "test at a:1:1\n✖ a\n",
      ],
      `${String.fromCharCode(27)}[`,
      `${String.fromCharCode(27)}]`,
    ];
    for (const shape of shapes) {
      const time = (chars: number) => {
        const text = `✖ failing tests:\n${shape.repeat(chars / shape.length)}\n✖ 1 problem (1 error)`;
        const start = cpuMs();
        readOutput({ text, folder: "/workspace" });
        return cpuMs() - start;
      };
      const [small, large] = [time(10_000), time(160_000)];
      assert.ok(
        large < Math.max(small, 5) * 16 * 6,
        `${JSON.stringify(shape)}: ${small} ms, then ${large} ms`,
      );
    }
  });
});
