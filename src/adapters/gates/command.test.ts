/** Tests that a gate names what failed, the same in its report and in the problems that fix tasks are made of. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { failuresOf, judgeGate } from "../../core/gate.ts";
import type { JobId } from "../../core/job.ts";
import { hasFailed } from "../../core/result.ts";
import type { GateRun } from "../../ports/gate.ts";
import type { ProgramEnd, Programs } from "../../ports/programs.ts";
import type { Workspaces } from "../../ports/workspaces.ts";
import type { Conflicted } from "../repositories/conflicts.ts";
import { CommandGate } from "./command.ts";
import { gateRules } from "./rules.ts";

const folder = mkdtempSync(path.join(tmpdir(), "skein-gate-"));
after(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(path.join(folder, "src"));
for (const file of ["src/a.ts", "src/b.ts"]) writeFileSync(path.join(folder, file), "");

type Said = { readonly text: string; readonly end?: Partial<ProgramEnd>; readonly code?: number };

/** Runs a gate whose commands, by name, write this output and end like this. */
async function gated(
  commands: Readonly<Record<string, Said>>,
  conflicts: readonly Conflicted[] = [],
  { left = [], released = [] }: { readonly left?: readonly string[]; readonly released?: boolean[] } = {},
): Promise<GateRun> {
  const says = Object.values(commands)[Symbol.iterator]();
  const programs: Programs = {
    run: async ({ onOutput }) => {
      const { text, end, code = 1 } = says.next().value as Said;
      // Two pieces, split anywhere, as output arrives in practice.
      onOutput?.(text.slice(0, 5));
      onOutput?.(text.slice(5));
      return { is: "exited", code, output: "", tail: text.slice(-40), ...end } as ProgramEnd;
    },
    endLeftovers: async () => 0,
  };
  const workspaces: Workspaces = {
    take: async ({ job, commit }) => ({ job, folder, commit, environment: {}, notices: [] }),
    keep: async () => ({ commit: undefined, left: [] }),
    release: async (_, isSpoilt = false) => {
      released.push(isSpoilt);
    },
    heldBy: async () => undefined,
    leftovers: async () => ({ left, removed: [] }),
  };
  const gate = new CommandGate({
    repository: folder,
    rules: gateRules(
      Object.keys(commands).map((name) => ({ name, run: name })),
      "",
    ),
    conflicts: { in: async () => conflicts },
    workspaces,
    programs,
    transcripts: {
      open: () => ({ write: () => {}, close: async () => {} }),
      openNext: (name) => ({ name, write: () => {}, close: async () => {} }),
    },
    limits: { maxMs: 60_000, maxOutputBytes: 1_000_000, maxFileBytes: 1_000_000 },
    redact: (text) => text.replaceAll("s3cr3t", "…"),
    maxAtOnce: 1,
  });
  const tree = { job: "check:1" as JobId, commit: "c", rules: "c" };
  const run = await gate.run(tree, new AbortController().signal);
  assert.ok(!hasFailed(run));
  return run;
}

const TYPES = `${folder}/src/a.ts(3,1): error TS2304: Cannot find name 'x'.\nsrc/gone.ts(1,1): error TS2322: Bad.\n`;

test("names what failed alike in the report and in the problems, with the files that are there", async () => {
  const { report, problems } = await gated({ types: { text: TYPES } });
  const names = ["types: src/a.ts TS2304: Cannot find name 'x'.", "types: src/gone.ts TS2322: Bad."];
  assert.deepEqual(failuresOf(report), names);
  assert.deepEqual(
    problems.map(({ name, class: kind, files, cause }) => ({ name, kind, files, cause })),
    [
      { name: names[0], kind: "types", files: ["src/a.ts"], cause: "name x is missing" },
      { name: names[1], kind: "types", files: [], cause: undefined },
    ],
  );
});

test("a green command has no failures, whatever it writes", async () => {
  const { report, problems, tail } = await gated({ types: { text: TYPES, code: 0 } });
  assert.deepEqual(report.commands, [{ name: "types", green: true, failures: [] }]);
  assert.deepEqual([problems, tail], [[], ""]);
});

test("a red command whose output was cut is worse than a red target, though it names less", async () => {
  const was = await gated({ types: { text: TYPES } });
  const accept = { is: "no-worse", baseline: was.report, mustHeal: [] } as const;
  const [first = ""] = TYPES.split("src/gone");
  const now = await gated({ types: { text: first, end: { isCut: true } } });
  assert.equal(judgeGate((await gated({ types: { text: first } })).report, accept).ok, true);
  assert.deepEqual(judgeGate(now.report, accept), {
    ok: false,
    failures: ["types: its output could not be read to its end"],
  });
  const named = now.problems.map(({ name }) => name);
  assert.deepEqual(named, failuresOf(now.report));
});

test("a red command that names nothing is one failure by its own name, with the end of what it wrote", async () => {
  const { report, problems } = await gated({ build: { text: "it did not work" } });
  assert.deepEqual(failuresOf(report), ["build"]);
  assert.equal(report.commands[0]?.unnamed, true);
  assert.deepEqual(problems, [{ class: "build", name: "build", files: [], message: "it did not work" }]);
});

test("a used workspace in which the gate failed is given back as spoilt, and one in which it passed is not", async () => {
  const released: boolean[] = [];
  for (const code of [1, 0])
    await gated({ build: { text: "it ran", code } }, [], { left: ["old"], released });
  await gated({ build: { text: "it did not work" } }, [], { released });
  assert.deepEqual(released, [true, false, false]);
});

test("each failure has its own class, and each command its own failures", async () => {
  const { problems, tail } = await gated({
    test: { text: `${TYPES}not ok 1 - adds\n` },
    build: { text: "TypeError: no\n    at src/b.ts:1:1\n\nNode.js v24.0.0\n" },
  });
  const classes = problems.map((problem) => `${problem.class}, ${problem.name.slice(0, 12)}`);
  assert.deepEqual(classes, [
    "types, test: src/a.",
    "types, test: src/go",
    "tests, test: adds",
    "build, build: src/b",
  ]);
  assert.match(tail, /^test:\n[\s\S]*\nbuild:\n/);
});

test("a command that was killed or took too long is not read: it had not said all", async () => {
  const killed = await gated({ types: { text: TYPES, end: { is: "killed", signal: "SIGSEGV" } } });
  assert.deepEqual(failuresOf(killed.report), ["types: killed by SIGSEGV"]);
  assert.equal(killed.report.commands[0]?.unnamed, true);
  const late = await gated({ types: { text: TYPES, end: { is: "timed-out" } } });
  assert.deepEqual(failuresOf(late.report), ["types: no end within 60 s"]);
  assert.equal(late.problems[0]?.name, "types: no end within 60 s");
});

test("a script that the tree has lost is red, and is told apart from one that fails", async () => {
  const { report, problems } = await gated({ build: { text: 'npm error Missing script: "build"\n' } });
  assert.deepEqual(failuresOf(report), ["build: not configured"]);
  assert.equal(report.commands[0]?.unnamed, true);
  assert.equal(problems[0]?.message, 'there is no script "build"');
  assert.equal(judgeGate(report, { is: "green" }).ok, false);
});

test("a secret in the line of a command is not in its name, green or red", async () => {
  const { report, problems, tail } = await gated({
    "test --as s3cr3t": { text: "", code: 0 },
    "check --as s3cr3t": { text: "no" },
  });
  assert.deepEqual(
    report.commands.map(({ name }) => name),
    ["test --as …", "check --as …"],
  );
  assert.ok(!JSON.stringify([report, problems, tail]).includes("s3cr3t"));
});

test("a failure in a link names no file: it may lead to what has no end, and a worker made both", async () => {
  symlinkSync("/proc/self/pagemap", path.join(folder, "src/x.test.js"));
  const text = "not ok 1 - forged\n  ---\n  location: 'src/x.test.js:1:1'\n  ...\n1..1\n# fail 1\n";
  const { problems } = await gated({ test: { text } });
  assert.deepEqual(
    problems.map(({ name, files }) => ({ name, files })),
    [{ name: "test: forged", files: [] }],
  );
});

test("more failures than are named are told in words, never as a name", async () => {
  const text = Array.from(
    { length: 520 },
    (_, i) => `src/a.ts(${i + 1},1): error TS2304: Cannot find name 'x${i}'.\n`,
  );
  const { report, tail } = await gated({ types: { text: text.join("") } });
  assert.equal(failuresOf(report).length, 500);
  assert.match(tail, /\(20 more failures are not named\)$/);
  assert.ok(failuresOf(report).every((name) => name.includes("TS2304")));
});

test("no secret is in what a gate reports", async () => {
  const run = await gated({ test: { text: "✖ reads s3cr3t (1ms)\n\nAssertionError: s3cr3t\n" } });
  assert.ok(!JSON.stringify(run).includes("s3cr3t"), JSON.stringify(run));
});

const block = (first: number) => ({ first, middle: first + 2, last: first + 4 });

test("markers of a conflict are red before all commands, a failure each file, and the commands run as well", async () => {
  const conflicts = [
    { file: "src/a.ts", blocks: [block(3), block(20)] },
    { file: "src/s3cr3t\n.ts", blocks: [block(7)] },
  ];
  const { report, problems, tail } = await gated({ types: { text: TYPES, code: 0 } }, conflicts);
  assert.deepEqual(report.commands, [
    {
      name: "conflict markers",
      green: false,
      failures: ["src/a.ts", '"src/…\\n.ts"'],
      classes: ["conflict-markers"],
    },
    { name: "types", green: true, failures: [] },
  ]);
  assert.deepEqual(problems[0], {
    class: "conflict-markers",
    name: "conflict markers: src/a.ts",
    files: ["src/a.ts"],
    message: "a conflict was left in line 3, and 1 more in this file",
  });
  assert.deepEqual(problems[1]?.name, failuresOf(report)[1]);
  assert.match(tail, /^conflict markers:\nsrc\/a\.ts: a conflict was left in line 3/);
});

test("a repository without a gate is red for markers, and without them not gated at all", async () => {
  const red = await gated({}, [{ file: "src/a.ts", blocks: [block(1)] }]);
  assert.deepEqual(failuresOf(red.report), ["conflict markers: src/a.ts"]);
  assert.deepEqual((await gated({})).report.commands, []);
});
