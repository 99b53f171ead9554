/** Tests the promises of plans over thousands of generated ones; a failure names its seed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { overlaps } from "../../src/core/scope.ts";
import { readPlan } from "../../src/planning/files/read-plan.ts";
import { lintPlan } from "../../src/planning/lint.ts";
import type { ExecutionPlan, PlanTask } from "../../src/planning/plan.ts";
import { type Random, randomFrom } from "../../src/simulation/random.ts";
import { cases } from "../support/cases.ts";
import { cpuMs } from "../support/cpu.ts";
import { arbitraryPlan, shuffled } from "./arbitrary-plan.ts";
import { FAULTS, type Mutable } from "./planted-faults.ts";

/** One plan in a hundred is long. */
function eachPlan(all: number, check: (plan: ExecutionPlan, random: Random) => void): void {
  for (let seed = 1; seed <= cases(all); seed += 1) {
    const random = randomFrom(seed);
    const plan = arbitraryPlan(random, { maxTasks: seed % 100 === 0 ? 50 : 6 });
    try {
      check(plan, random);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
}

const FACTS = {
  agents: ["Explore", "code-reviewer", "debugger"].map((name) => ({ name, isReadOnly: name === "Explore" })),
};

describe("plans", () => {
  it("read back as they are, in any order of keys, and are accepted", () => {
    eachPlan(5_000, (plan, random) => {
      const text = JSON.stringify(random.chance(0.1) ? mixed(random, plan) : plan);
      const read = readPlan(text);
      assert.ok(read.is === "plan", JSON.stringify(read));
      if (!isDeepStrictEqual(read.plan, plan)) assert.deepEqual(read.plan, plan);
      assert.equal(read.notes.length, 0, read.notes.join());
      const errors = lintPlan(read.plan, FACTS).filter(({ level }) => level === "error");
      assert.equal(errors.length, 0, JSON.stringify(errors));
      checkWaves(read.plan.tasks);
    });
  });

  it("show every planted fault at its place", () => {
    eachPlan(3_000, (plan, random) => {
      const { plant, name } = random.pick(FAULTS);
      const planted = plant(structuredClone(plan) as Mutable<ExecutionPlan>, random);
      const read = readPlan(JSON.stringify(planted.plan));
      const found =
        read.is === "broken"
          ? read.problems
          : lintPlan(read.plan, FACTS).filter(({ level }) => level === "error");
      assert.ok(
        found.some(({ place, message }) => place === planted.place && planted.says.test(message)),
        `${name} at ${planted.place}: ${JSON.stringify(found)}`,
      );
    });
  });
});

describe("plans that lost some of their dependencies", () => {
  it("are refused exactly when two tasks without an order write the same file", () => {
    let refused = 0;
    eachPlan(2_000, (plan, random) => {
      const tasks = plan.tasks.map((task) => ({
        ...task,
        blockedBy: task.blockedBy.filter(() => random.chance(0.7)),
      }));
      const read = readPlan(JSON.stringify({ ...plan, tasks }));
      assert.ok(read.is === "plan");
      const errors = lintPlan(read.plan, FACTS).filter(({ level }) => level === "error");
      assert.equal(errors.length > 0, hasConflict(read.plan.tasks), JSON.stringify(errors));
      if (errors.length > 0) refused += 1;
    });
    assert.ok(refused > cases(2_000) * 0.05 && refused < cases(2_000) * 0.95, `${refused}`);
  });
});

/** Looks for a conflict by comparing each pair of tasks. */
function hasConflict(tasks: readonly PlanTask[]): boolean {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const aboveOf = (task: PlanTask): ReadonlySet<string> => {
    const above = new Set(task.blockedBy);
    for (const id of above) for (const before of byId.get(id)!.blockedBy) above.add(before);
    return above;
  };
  const writers = tasks
    .filter(({ delivers }) => delivers === "change")
    .map((task) => ({ task, above: aboveOf(task) }));
  return writers.some((one, at) =>
    writers.slice(at + 1).some((other) => {
      const isOrdered = one.above.has(other.task.id) || other.above.has(one.task.id);
      return !isOrdered && overlaps(one.task.scope, other.task.scope);
    }),
  );
}

/**
 * Every dependency is in an earlier wave, no task is later than it must be, and no two tasks of a wave write one file.
 */
function checkWaves(tasks: readonly PlanTask[]): void {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  for (const { blockedBy, metadata } of tasks) {
    const earliest = Math.max(-1, ...blockedBy.map((id) => byId.get(id)!.metadata.wave)) + 1;
    assert.equal(metadata.wave, earliest);
  }
  for (const [, wave] of Map.groupBy(tasks, ({ metadata }) => metadata.wave)) {
    const writers = wave.filter(({ delivers }) => delivers === "change");
    for (const [at, one] of writers.entries())
      for (const other of writers.slice(at + 1))
        assert.ok(!overlaps(one.scope, other.scope), `${one.id} ${other.id}`);
  }
}

/** The same value with its keys in another order at every level. */
function mixed(random: Random, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => mixed(random, one));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, mixed(random, one)] as const);
  return Object.fromEntries(shuffled(random, entries));
}

describe("any text", () => {
  it("is read without a throw, and what was read reads back the same", () => {
    eachPlan(2_000, (plan, random) => {
      const broken = withAccident(random, structuredClone(plan) as Mutable<ExecutionPlan>);
      const read = readPlan(JSON.stringify(broken), { scratchpad: "/s" });
      if (read.is === "broken") {
        assert.ok(read.problems.length > 0 && read.problems.every(({ message }) => message !== ""));
        return;
      }
      lintPlan(read.plan, FACTS);
      const again = readPlan(JSON.stringify(read.plan));
      assert.deepEqual(again.is === "plan" && again.plan, read.plan);
    });
  });

  it("is read, or broken with a reason, wherever it was damaged", () => {
    eachPlan(1_000, (plan, random) => {
      const text = JSON.stringify(plan, undefined, random.pick([0, 1])).slice(0, 3_000);
      const at = random.below(text.length);
      const read = readPlan(`${text.slice(0, at)}${random.pick(SCRAPS)}${text.slice(at + random.below(3))}`);
      if (read.is === "broken") assert.ok(read.problems[0]!.message.length > 3);
    });
  });
});

const SCRAPS = [
  "",
  "",
  ",",
  "}",
  "]",
  '"',
  "\\",
  "\n",
  "//",
  "{",
  "tru",
  "0",
  "-",
  "1.",
  "\u0001",
  "\\u12",
  "\ud800",
  " ",
];

const VALUES: readonly unknown[] = [
  ...[
    null,
    true,
    0,
    -1,
    1.5,
    1e300,
    "",
    " ",
    "x",
    "1, 2",
    "none",
    "a\u0000b",
    "\ud800",
    "\u202e",
    "x".repeat(60_000),
  ],
  ...[
    [],
    [[]],
    {},
    [{}],
    [1],
    ["a", "a"],
    { __proto__: null, constructor: 1 },
    [null],
    { metadata: { metadata: {} } },
  ],
];

/** Replaces a value by one of a wrong kind, at any depth, or adds it under another name. */
function withAccident(random: Random, plan: Mutable<ExecutionPlan>): unknown {
  const task = random.pick(plan.tasks);
  const where = random.pick<object>([
    plan,
    plan.context,
    task,
    task.metadata,
    task.estimate ?? task,
    plan.score ?? plan,
  ]);
  const key = random.pick([
    ...Object.keys(where),
    "verify",
    "dependsOn",
    "addBlocks",
    "taskId",
    "__proto__",
    "toString",
  ]);
  Object.defineProperty(where, key, { value: random.pick(VALUES), enumerable: true, configurable: true });
  return plan;
}

describe("time", () => {
  it("grows with the number of tasks and not with its square", () => {
    const [short, long] = [100, 1_000].map((count) => {
      const text = JSON.stringify(largePlan(count));
      return fastest(5, () => {
        const read = readPlan(text);
        assert.ok(read.is === "plan", JSON.stringify(read).slice(0, 500));
        assert.equal(
          lintPlan(read.plan, FACTS).some(({ level }) => level === "error"),
          false,
        );
      });
    });
    // Ten times the tasks: a linear reader takes 10 times as long, a quadratic one 100. The bit sets of all pairs take
    // 1/32 of a square.
    assert.ok(long! < 40 * Math.max(short!, 1), `${short} ms and ${long} ms`);
  });
});

function fastest(times: number, act: () => void): number {
  return Math.min(
    ...Array.from({ length: times }, () => {
      const before = cpuMs();
      act();
      return cpuMs() - before;
    }),
  );
}

/** Each task waits for the three before it, and all write two files: one of their own, and one that is shared. */
function largePlan(count: number): unknown {
  return {
    tasks: Array.from({ length: count }, (_, n) => ({
      id: `t${n}`,
      subject: `Add part ${n}`,
      blockedBy: [1, 2, 3].filter((back) => n >= back).map((back) => `t${n - back}`),
      scope: [`src/part-${n}/index.ts`, "src/shared.ts"],
      metadata: { output_file: `part-${n}.md` },
    })),
  };
}
