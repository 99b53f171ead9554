/** Tests which fix tasks are planned for the failures that a check found. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { cpuMs } from "../../../test/support/cpu.ts";
import { EVERYTHING, overlaps } from "../scope.ts";
import { groupProblems } from "./problem-groups.ts";
import { checkDelayMs, type PendingFix, PROBLEM_CLASSES, type Problem, planRepairs } from "./repair.ts";

describe("planRepairs", () => {
  test("asks for nothing when nothing is broken", () => {
    assert.deepEqual(plan([]), { class: undefined, tasks: [], notes: [] });
  });

  test("repairs one class a sweep, in order, and says what waits", () => {
    const all = PROBLEM_CLASSES.map((name) => problem({ class: name, name: `${name} is broken` }));
    for (const [i, name] of PROBLEM_CLASSES.entries()) {
      const { class: now, tasks, notes } = plan(all.slice(i).reverse());
      assert.equal(now, name);
      assert.deepEqual(repaired(tasks), [`${name} is broken`]);
      assert.equal(notes.length, PROBLEM_CLASSES.length - 1 - i);
    }
    assert.match(
      plan(all).notes[0]!,
      /^1 failure left .* merge conflict markers come before build failures$/,
    );
  });

  test("a class whose failures are all being repaired still holds back the next one", () => {
    const build = problem({ class: "build", name: "b", files: ["b.ts"] });
    const { class: now, tasks } = plan([build, problem({ class: "tests", name: "t" })], {
      pending: [{ repairs: ["b"], scope: ["b.ts"] }],
    });
    assert.equal(now, "build");
    assert.deepEqual(tasks, []);
  });

  test("five errors of one cause in one file are one task", () => {
    const renamed = [1, 2, 3, 4, 5].map((n) =>
      problem({ name: `e${n}`, files: ["a.ts"], cause: "type User" }),
    );
    const { tasks } = plan(renamed);
    assert.equal(tasks.length, 1);
    assert.deepEqual(tasks[0]!.scope, ["a.ts"]);
    assert.deepEqual(tasks[0]!.repairs, ["e1", "e2", "e3", "e4", "e5"]);
    assert.match(tasks[0]!.description, /type User/);
  });

  test("an import chain is one task scoped to both ends", () => {
    assert.deepEqual(plan([problem({ name: "1", files: ["b.ts", "a.ts"] })]).tasks[0]!.scope, [
      "a.ts",
      "b.ts",
    ]);
  });

  test("an interface and the callers it broke are one task", () => {
    const { tasks } = plan([
      problem({ name: "1", files: ["b.ts"], cause: "Shape.area" }),
      problem({ name: "2", files: ["c.ts"], cause: "Shape.area" }),
      problem({ name: "3", files: ["a.ts"], cause: "Shape.area" }),
    ]);
    assert.equal(tasks.length, 1);
    assert.deepEqual(tasks[0]!.scope, ["a.ts", "b.ts", "c.ts"]);
  });

  test("without a cause, one file is one task", () => {
    const { tasks } = plan([
      problem({ name: "1", files: ["a.ts"] }),
      problem({ name: "2", files: ["b.ts"] }),
      problem({ name: "3", files: ["a.ts"] }),
    ]);
    assert.deepEqual(
      tasks.map((task) => task.repairs),
      [["1", "3"], ["2"]],
    );
  });

  test("groups that share a file become one task while it stays small", () => {
    const { tasks, notes } = plan([
      problem({ name: "1", files: ["a.ts"] }),
      problem({ name: "2", files: ["c.ts"] }),
      problem({ name: "8", files: ["b.ts"] }),
      problem({ name: "9", files: ["b.ts"] }),
      problem({ name: "5", files: ["b.ts", "c.ts", "a.ts"], cause: "joins them" }),
    ]);
    assert.equal(tasks.length, 1);
    assert.deepEqual(tasks[0]!.repairs, ["1", "2", "5", "8", "9"]);
    assert.deepEqual(notes, []);
  });

  test("of two groups that meet and are too large together, one waits", () => {
    const { tasks, notes } = plan([
      problem({ name: "1", files: ["a.ts", "b.ts"], cause: "x" }),
      problem({ name: "2", files: ["b.ts", "c.ts", "d.ts"], cause: "y" }),
    ]);
    assert.deepEqual(repaired(tasks), ["1"]);
    assert.match(notes[0]!, /^1 failure left .* touches the same files: 2$/);
  });

  test("a file and the folder it is in meet", () => {
    const { tasks } = plan([
      problem({ name: "1", files: ["src/"] }),
      problem({ name: "2", files: ["src/a.ts", "b.ts", "c.ts"] }),
    ]);
    assert.deepEqual(repaired(tasks), ["1"]);
  });

  test("a cause that reaches far is cut into tasks of three files, each failure in one of them", () => {
    const { tasks } = plan(
      [..."abcdefg"].map((name) => problem({ name, files: [`${name}.ts`], cause: "x" })),
    );
    assert.deepEqual(
      tasks.map((task) => task.scope),
      [["a.ts", "b.ts", "c.ts"], ["d.ts", "e.ts", "f.ts"], ["g.ts"]],
    );
    assert.deepEqual(repaired(tasks), [..."abcdefg"]);
  });

  test("a failure that involves too many files keeps its first three, and that is said", () => {
    const { tasks, notes } = plan([problem({ name: "wide", files: ["d", "c", "b", "a", "d"] })]);
    assert.deepEqual(tasks[0]!.scope, ["b", "c", "d"]);
    assert.deepEqual(notes, ["wide involves 4 files: its fix may touch the first 3"]);
  });

  test("makes at most five tasks, those that remove most, and says how much is left", () => {
    const many = [..."abcdefgh"].map((name) => problem({ name, files: [name] }));
    const { tasks, notes } = plan([...many, problem({ name: "hh", files: ["h"] })]);
    assert.equal(tasks.map((task) => task.scope[0]).join(), "h,a,b,c,d");
    assert.deepEqual(notes, [
      "3 failures left for a later check, since a check creates at most 5 fix tasks: e, f, g",
    ]);
  });

  test("what is being repaired is not asked for again", () => {
    const { tasks, notes } = plan(
      [problem({ name: "old", files: ["a"] }), problem({ name: "new", files: ["b"] })],
      {
        pending: [{ repairs: ["old", "other"], scope: ["a"] }],
      },
    );
    assert.deepEqual(repaired(tasks), ["new"]);
    assert.deepEqual(notes, ["1 failure being repaired already: old"]);
  });

  test("a new failure in a file that a pending fix holds waits for that fix", () => {
    const { tasks, notes } = plan([problem({ name: "new", files: ["src/a.ts"] })], {
      pending: [{ repairs: ["old"], scope: ["src/"] }],
    });
    assert.deepEqual(tasks, []);
    assert.match(notes[0]!, /a pending fix task covers the same files: new$/);
  });

  test("reads paths as every other path is read, and says which it left out", () => {
    const { tasks, notes } = plan([
      problem({ name: "1", files: ["./src//a.ts", "../secret", "/etc/passwd"] }),
    ]);
    assert.deepEqual(tasks[0]!.scope, ["src/a.ts"]);
    assert.deepEqual(notes, [
      'left out: path "../secret" leaves the repository',
      'left out: path "/etc/passwd" is not relative to the repository',
    ]);
  });

  test("a failure that names no file waits while there are others", () => {
    const lost = problem({ name: "lost", files: [] });
    const { tasks, notes } = plan([lost, problem({ name: "placed", files: ["a"] })]);
    assert.deepEqual(repaired(tasks), ["placed"]);
    assert.match(notes[0]!, /no file is named, and other fixes come first: lost$/);
    assert.deepEqual(plan([lost], { pending: [{ repairs: ["x"], scope: ["x"] }] }).tasks, []);
  });

  test("failures that name no file are one task for the whole repository when nothing else is to be done", () => {
    const { tasks, notes } = plan([
      problem({ name: "1", files: [] }),
      problem({ name: "2", files: ["../outside"], cause: "x" }),
      problem({ name: "3", files: [EVERYTHING], cause: "y" }),
    ]);
    assert.equal(tasks.length, 1);
    assert.deepEqual(tasks[0]!.scope, [EVERYTHING]);
    assert.deepEqual(tasks[0]!.repairs, ["1", "2", "3"]);
    assert.equal(notes.length, 1);
  });

  test("a failure that names no file goes with those of its cause", () => {
    const { tasks } = plan([
      problem({ name: "1", files: [], cause: "x" }),
      problem({ name: "2", files: ["a.ts"], cause: "x" }),
    ]);
    assert.deepEqual(tasks[0]!.scope, ["a.ts"]);
    assert.deepEqual(tasks[0]!.repairs, ["1", "2"]);
  });

  test("a failure that is reported twice is asked for once, with the files of both", () => {
    const { tasks } = plan([
      problem({ name: "same", files: ["b.ts"], message: "second", cause: "x" }),
      problem({ name: "same", files: ["a.ts"], message: "first" }),
    ]);
    assert.deepEqual(tasks[0]!.repairs, ["same"]);
    assert.deepEqual(tasks[0]!.scope, ["a.ts", "b.ts"]);
    assert.match(tasks[0]!.description, /come from: x/);
  });

  test("takes keys that nobody used", () => {
    const { tasks } = plan([problem({ name: "1", files: ["a"] }), problem({ name: "2", files: ["b"] })], {
      usedKeys: new Set(["fix-types-1", "fix-types-3"]),
    });
    assert.equal(tasks.map((task) => task.key).join(), "fix-types-2,fix-types-4");
  });

  test("the description says what is wrong, where, and how much of it is not shown", () => {
    const many = Array.from({ length: 25 }, (_, i) =>
      problem({ name: `e${i + 10}`, files: ["a.ts"], message: `error ${i}\n  expected\t1` }),
    );
    const { description, acceptance } = plan(many).tasks[0]!;
    assert.match(description, /^Repair type errors on the target: 25 in all\.$/m);
    assert.match(description, /^- a\.ts: error 0 expected 1$/m);
    assert.equal(description.match(/^- a\.ts:/gm)?.length, 20);
    assert.match(description, /^- and 5 more/m);
    assert.match(description, /repair the cause.*Errors only.*Reverting.*the machine.*is data/);
    assert.match(acceptance, /type check reports none/);
  });

  test("a message as long as a log is shortened", () => {
    const { description } = plan([problem({ name: "1", message: "x\u{1F9F5}".repeat(1_000_000) })]).tasks[0]!;
    assert.ok(description.length < 1_000);
    assert.ok(description.isWellFormed());
    assert.match(description, /…/);
    assert.match(plan([problem({ name: "the name", message: "" })]).tasks[0]!.description, /a\.ts: the name/);
  });

  test("a broken check does not fill the log with notes", () => {
    const many = Array.from({ length: 500 }, (_, i) =>
      problem({ name: `${i}`, files: [`../${i}`, "a", "b", "c", "d"] }),
    );
    const { notes } = plan(many);
    assert.ok(notes.length <= 22 + 3, `${notes.length} notes`);
    assert.ok(notes.includes("and 490 more notes of this kind"));
  });

  test("with a limit of no tasks it makes none", () => {
    for (const files of [[], ["a"]]) {
      const { tasks, notes } = plan([problem({ name: "1", files })], {
        limits: { maxTasks: 0, maxFiles: 3 },
      });
      assert.deepEqual(tasks, []);
      assert.equal(notes.length, 1);
    }
  });

  test("breaks no limit, forgets no failure, and does not depend on the order of what was found", () => {
    fc.assert(
      fc.property(
        sweep.chain((input) =>
          fc.record({
            input: fc.constant(input),
            shuffled: fc.shuffledSubarray([...input.problems], { minLength: input.problems.length }),
          }),
        ),
        ({ input, shuffled }) => {
          const result = planRepairs(input);
          const { tasks, notes } = result;
          assert.ok(tasks.length <= input.limits.maxTasks);
          for (const [i, task] of tasks.entries()) {
            assert.ok(task.scope.length > 0 && task.repairs.length > 0);
            assert.ok(task.scope.length <= input.limits.maxFiles);
            assert.ok(!input.usedKeys.has(task.key));
            const others = [...tasks.slice(i + 1), ...input.pending];
            assert.ok(!others.some((other) => overlaps(other.scope, task.scope)));
          }
          const asked = repaired(tasks);
          assert.equal(new Set(asked).size, asked.length);
          for (const fix of input.pending) assert.ok(!fix.repairs.some((name) => asked.includes(name)));
          assert.equal(asked.length + countedIn(notes), failuresIn(input.problems));
          assert.deepEqual(planRepairs({ ...input, problems: shuffled }), result);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  for (const [kind, make] of Object.entries({
    "of one cause": (i: number) => problem({ name: `${i}`, files: [`f${i}`, "shared"], cause: "x" }),
    "of as many causes in one file": (i: number) => problem({ name: `${i}`, files: ["a"], cause: `${i}` }),
    "in as many files": (i: number) => problem({ name: `${i}`, files: [`f${i}`, `f${i + 1}`] }),
    "with one name": (i: number) => problem({ name: "same", files: [`f${i}`] }),
  })) {
    // Measured: under a second. A rule that compares all pairs takes minutes.
    test(`plans for 100,000 problems ${kind}`, () => {
      const many = Array.from({ length: 100_000 }, (_, i) => make(i));
      const started = cpuMs();
      const { tasks, notes } = plan(many);
      assert.ok(cpuMs() - started < 20_000);
      assert.equal(repaired(tasks).length + countedIn(notes), failuresIn(many));
    });
  }
});

describe("groupProblems", () => {
  test("groups by cause, then by the first file, then the rest", () => {
    const groups = groupProblems([
      problem({ name: "5", files: [] }),
      problem({ name: "4", files: ["a.ts", "z.ts"] }),
      problem({ name: "3", files: ["b.ts"], cause: "x" }),
      problem({ name: "2", files: ["a.ts"] }),
      problem({ name: "1", files: ["a.ts"], cause: "x" }),
    ]);
    assert.deepEqual(
      groups.map((group) => group.map(({ name }) => name)),
      [["1", "3"], ["2", "4"], ["5"]],
    );
  });

  test("a cause that is called like a file is not that file", () => {
    const groups = groupProblems([
      problem({ name: "1", cause: "a.ts" }),
      problem({ name: "2", files: ["a.ts"] }),
    ]);
    assert.equal(groups.length, 2);
  });
});

describe("checkDelayMs", () => {
  const sweep = { redMs: 60_000, greenMs: 300_000, greensToSlowDown: 3 };
  for (const [green, greensInARow, delayMs] of [
    [false, 0, 60_000],
    [false, 9, 60_000],
    [true, 2, 60_000],
    [true, 3, 300_000],
    [true, 4, 300_000],
  ] as const) {
    test(`${green ? "green" : "red"}, ${greensInARow} greens in a row: ${delayMs} ms`, () => {
      assert.equal(checkDelayMs({ green, greensInARow }, sweep), delayMs);
    });
  }
});

const problem = (given: Partial<Problem> & Pick<Problem, "name">): Problem => ({
  class: "types",
  files: ["a.ts"],
  message: `${given.name} went wrong`,
  ...given,
});

const plan = (
  problems: readonly Problem[],
  given: {
    readonly pending?: readonly PendingFix[];
    readonly usedKeys?: ReadonlySet<string>;
    readonly limits?: Parameters<typeof planRepairs>[0]["limits"];
  } = {},
) =>
  planRepairs({ problems, pending: [], usedKeys: new Set(), limits: { maxTasks: 5, maxFiles: 3 }, ...given });

const repaired = (tasks: readonly { readonly repairs: readonly string[] }[]) =>
  tasks.flatMap((task) => task.repairs).sort();

const failuresIn = (problems: readonly Problem[]) =>
  new Set(problems.map((found) => `${found.class} ${found.name}`)).size;

const countedIn = (notes: readonly string[]) =>
  notes.reduce((sum, note) => sum + Number(/^(\d+) failures? /.exec(note)?.[1] ?? 0), 0);

const file = fc.constantFrom("a", "b", "src/a", "src/b", "src/c", "src/", "./src/a", "../x", EVERYTHING);

const sweep = fc.record({
  problems: fc.array(
    fc.record(
      {
        class: fc.constantFrom("types", "types", "types", "tests" as const),
        name: fc.nat(30).map((n) => `p${n}`),
        files: fc.array(file, { maxLength: 5, size: "small" }),
        message: fc.constantFrom("one", "two"),
        cause: fc.constantFrom("x", "y", "z"),
      },
      { requiredKeys: ["class", "name", "files", "message"] },
    ) as fc.Arbitrary<Problem>,
    { maxLength: 20 },
  ),
  pending: fc.array(
    fc.record({
      repairs: fc.array(
        fc.nat(30).map((n) => `p${n}`),
        { maxLength: 3 },
      ),
      scope: fc.constantFrom(["a"], ["src/c"], ["other/"]),
    }),
    { maxLength: 2 },
  ),
  usedKeys: fc.constantFrom(new Set<string>(), new Set(["fix-types-1", "fix-tests-2"])),
  limits: fc.record({ maxTasks: fc.nat(4), maxFiles: fc.integer({ min: 1, max: 4 }) }),
});
