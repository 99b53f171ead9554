/** Tests when a plan is refused, how its scopes are cut, and which paths it leaves uncovered. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cpuMs } from "../../../test/support/cpu.ts";
import { EVERYTHING } from "../scope.ts";
import type { TaskId } from "../task.ts";
import type { AnsweredTask, PlanAnswer } from "./plan-answer.ts";
import { checkPlan } from "./plan-check.ts";

const id = (text: string) => text as TaskId;

const task = (name: string, fields: Partial<AnsweredTask> = {}): AnsweredTask => ({
  id: name,
  description: `Do ${name}`,
  scope: [`src/${name}.ts`],
  acceptance: "It works",
  priority: 5,
  after: [],
  delivers: "change",
  ...fields,
});

const answer = (tasks: readonly AnsweredTask[], fields: Partial<PlanAnswer> = {}): PlanAnswer => ({
  scratchpad: "",
  tasks,
  deferred: [],
  addressed: [],
  done: false,
  notes: [],
  ...fields,
});

const context = (fields: Partial<Parameters<typeof checkPlan>[1]> = {}): Parameters<typeof checkPlan>[1] => ({
  parent: { id: id("t.2"), scope: ["src/"], priority: 5 },
  strict: true,
  firstOrdinal: 1,
  known: new Map(),
  coveredBefore: [],
  maxTasks: 10,
  sharedFiles: ["package-lock.json"],
  ...fields,
});
const within = (...scope: string[]) => context({ parent: { id: id("t.2"), scope, priority: 5 } });
const atRoot = (fields: Partial<Parameters<typeof checkPlan>[1]> = {}) =>
  context({ parent: { id: id("t"), scope: [EVERYTHING], priority: 5 }, strict: false, ...fields });

function accepted(checked: ReturnType<typeof checkPlan>) {
  assert.ok(checked.is === "accepted", checked.is === "refused" ? checked.reasons.join("; ") : "");
  return checked;
}
function reasonsOf(checked: ReturnType<typeof checkPlan>): readonly string[] {
  assert.ok(checked.is === "refused", "it was accepted");
  return checked.reasons;
}

test("an answer that fits becomes tasks with their ids resolved", () => {
  const tasks = [
    task("a", { after: ["old", "b"], agent: "debugger", branch: "fix-a", priority: 2 }),
    task("b", { description: "Write the parser: part 1" }),
  ];
  const known = new Map([["old", id("t.2.1")]]);
  assert.deepEqual(checkPlan(answer(tasks), context({ known, firstOrdinal: 4 })), {
    is: "accepted",
    tasks: [
      {
        key: "a",
        description: "Do a",
        acceptance: "It works",
        scope: ["src/a.ts"],
        after: ["t.2.1", "t.2.5"],
        priority: 2,
        delivers: "change",
        slug: "fix-a",
        agent: "debugger",
      },
      {
        key: "b",
        description: "Write the parser: part 1",
        acceptance: "It works",
        scope: ["src/b.ts"],
        after: [],
        priority: 5,
        delivers: "change",
        slug: "write-the-parser-part-1",
      },
    ],
    uncovered: [],
    notes: [],
  });
});

test("an empty plan is accepted as it is", () => {
  const checked = accepted(checkPlan(answer([]), within("src/a.ts", "src/b.ts")));
  assert.deepEqual([checked.tasks, checked.uncovered, checked.notes], [[], [], []]);
});

describe("an answer is refused", () => {
  test("with more tasks than allowed, saying how many", () => {
    const tasks = Array.from({ length: 11 }, (_, i) => task(`n${i}`));
    assert.deepEqual(reasonsOf(checkPlan(answer(tasks), context())), [
      "there are 11 tasks in one answer; at most 10 are allowed",
    ]);
    accepted(checkPlan(answer(tasks.slice(1)), context()));
  });

  test("when it repeats an id of an earlier answer", () => {
    const checked = checkPlan(answer([task("a")]), context({ known: new Map([["a", id("t.2.1")]]) }));
    assert.match(reasonsOf(checked).join(), /task "a" was already given in an earlier answer/);
  });

  test("when two of its tasks have one id", () => {
    const checked = checkPlan(answer([task("a"), task("a", { scope: ["src/b.ts"] })]), context());
    assert.match(reasonsOf(checked).join(), /two tasks have the id "a"/);
  });

  test("when a task waits for one that does not exist", () => {
    const checked = checkPlan(answer([task("a", { after: ["b"] })]), context());
    assert.deepEqual(reasonsOf(checked), ['task "a" waits for "b", which does not exist']);
  });

  test("when a task waits for itself", () => {
    const checked = checkPlan(answer([task("a", { after: ["a"] })]), context());
    assert.deepEqual(reasonsOf(checked), ['task "a" waits for itself']);
  });

  test("when tasks wait for each other, naming the circle", () => {
    const ring = [
      task("a", { after: ["b"] }),
      task("b", { after: ["c"] }),
      task("c", { after: ["a"] }),
      task("d"),
    ];
    const [reason, ...others] = reasonsOf(checkPlan(answer(ring), context()));
    assert.match(reason!, /^tasks wait for each other: "(.)" → "(.)" → "(.)" → "\1"$/);
    assert.deepEqual(others, []);
  });

  test("when a task waits for one that was dropped", () => {
    const tasks = [task("a", { scope: ["test/a.ts"] }), task("b", { after: ["a"] })];
    assert.deepEqual(reasonsOf(checkPlan(answer(tasks), context())), [
      'task "b" waits for "a", which was dropped, because its scope is outside of this plan\'s',
    ]);
  });

  test("when all of its tasks were dropped: that is no empty plan", () => {
    const tasks = [task("a", { scope: ["test/a.ts"] }), task("b", { scope: ["test/b.ts"] })];
    assert.deepEqual(reasonsOf(checkPlan(answer(tasks), context())), [
      "no task is left: none has files inside this task's scope",
      'task "a" was dropped: nothing of its scope is inside this task\'s scope',
      'task "b" was dropped: nothing of its scope is inside this task\'s scope',
    ]);
  });

  test("for all reasons at once, and not for too many", () => {
    const both = [task("a", { after: ["x"] }), task("b", { scope: ["src/a.ts"] })];
    assert.equal(reasonsOf(checkPlan(answer(both), context())).length, 2);
    const many = Array.from({ length: 100 }, (_, i) => task(`n${i}`, { after: ["x"] }));
    const reasons = reasonsOf(checkPlan(answer(many), context({ maxTasks: 100 })));
    assert.equal(reasons.length, 21);
    assert.equal(reasons.at(-1), "and 80 more");
  });
});

describe("a scope", () => {
  test("loses what is outside of the parent's, and that is said", () => {
    const checked = accepted(checkPlan(answer([task("a", { scope: ["src/a.ts", "test/a.ts"] })]), context()));
    assert.deepEqual(checked.tasks[0]?.scope, ["src/a.ts"]);
    assert.deepEqual(checked.notes, ['task "a": "test/a.ts" removed, outside of this plan\'s scope']);
  });

  test("may be a folder in the parent's folder, not one around the parent's files", () => {
    const folder = answer([task("a", { scope: ["src/core/", "src/x.ts"] })]);
    assert.deepEqual(accepted(checkPlan(folder, within("src/"))).tasks[0]?.scope, ["src/core/", "src/x.ts"]);
    assert.deepEqual(accepted(checkPlan(folder, within("src/core/a.ts", "src/x.ts"))).tasks[0]?.scope, [
      "src/x.ts",
    ]);
    const everything = answer([task("a", { scope: [EVERYTHING] }), task("b")]);
    assert.deepEqual(
      accepted(checkPlan(everything, within("src/"))).tasks.map(({ key }) => key),
      ["b"],
    );
  });

  test("that is emptied drops the task, and the numbers close up", () => {
    const tasks = [task("a", { scope: ["test/"] }), task("b"), task("c", { after: ["b"] })];
    const checked = accepted(checkPlan(answer(tasks), context({ firstOrdinal: 7 })));
    assert.deepEqual(
      checked.tasks.map(({ key, after }) => [key, ...after]),
      [["b"], ["c", "t.2.7"]],
    );
    assert.match(checked.notes.join(), /task "a" was dropped/);
  });

  test("that is emptied does not drop a report, which needs none", () => {
    const tasks = [
      task("a", { scope: ["test/"], delivers: "report" }),
      task("b", { scope: [], delivers: "report" }),
    ];
    const checked = accepted(checkPlan(answer(tasks), context()));
    assert.deepEqual(
      checked.tasks.map(({ scope }) => scope),
      [[], []],
    );
  });

  test("loses shared files without a word, unless they are all it has", () => {
    const shared = answer([task("a", { scope: ["src/a.ts", "package-lock.json"] })]);
    const checked = accepted(checkPlan(shared, within("src/", "package-lock.json")));
    assert.deepEqual([checked.tasks[0]?.scope, checked.notes, checked.uncovered], [["src/a.ts"], [], []]);
    const onlyShared = answer([task("a", { scope: ["package-lock.json"] })]);
    assert.deepEqual(accepted(checkPlan(onlyShared, within(EVERYTHING))).tasks[0]?.scope, [
      "package-lock.json",
    ]);
    reasonsOf(checkPlan(onlyShared, within("src/")));
  });
});

describe("an overlap", () => {
  const pairs = [
    [["src/x.ts"], ["src/x.ts"], "src/x.ts"],
    [["src/core/"], ["src/core/x.ts"], "src/core/x.ts"],
    [["src/core/x.ts"], ["src/core/"], "src/core/"],
    [["src/core"], ["src/core/"], "src/core/"],
    [["src/a.ts", "src/x/y/z.ts"], ["src/b.ts", "src/x/"], "src/x/"],
  ] as const;
  for (const [one, other, path] of pairs) {
    test(`of ${one.at(-1)} and ${other.at(-1)} is refused, naming both tasks and the path`, () => {
      const tasks = [task("a", { scope: one }), task("b", { scope: other })];
      assert.deepEqual(reasonsOf(checkPlan(answer(tasks), context())), [
        `tasks "a" and "b" both have ${path} in their scope; give it to one of them`,
      ]);
    });
  }

  test("is allowed to the root planner, and said", () => {
    const tasks = [task("a"), task("b", { scope: ["src/"] }), task("c", { scope: ["src/"], after: ["b"] })];
    const checked = accepted(checkPlan(answer(tasks), atRoot()));
    assert.deepEqual(checked.notes, [
      'tasks "a" and "b" both have src/ in their scope; one will wait for the other',
    ]);
  });

  test("of many paths with a task behind many others takes time in proportion to both", () => {
    const leastMs = (n: number) => {
      const names = Array.from({ length: n }, (_, i) => `k${i}`);
      const known = new Map(names.map((name) => [name, id(`t.${name}`)]));
      const scope = names.map((name) => `src/${name}.ts`);
      const tasks = [task("a", { scope: ["src/"] }), task("b", { scope, after: [...names, "a"] })];
      const times = [1, 2, 3].map(() => {
        const start = cpuMs();
        assert.deepEqual(accepted(checkPlan(answer(tasks), atRoot({ known }))).notes, []);
        return cpuMs() - start;
      });
      return Math.min(...times);
    };
    const [small, large] = [leastMs(2_000), leastMs(16_000)];
    // Eight times as much: 8 times as long, or 64 times if the time were quadratic. One ms for the clock's error.
    assert.ok(large < 24 * (small + 1), `${small} ms became ${large} ms`);
  });

  test("is none between a report and a change, or over shared files", () => {
    accepted(
      checkPlan(answer([task("a"), task("b", { scope: ["src/a.ts"], delivers: "report" })]), context()),
    );
    const locks = ["a", "b"].map((name) => task(name, { scope: ["package-lock.json"] }));
    accepted(checkPlan(answer(locks), within(EVERYTHING)));
  });

  test("is none between names that only begin alike, or within one task", () => {
    const tasks = [
      task("a", { scope: ["src/a", "src/a/b.ts"] }),
      task("b", { scope: ["src/ab", "src/a.ts"] }),
    ];
    accepted(checkPlan(answer(tasks), context()));
  });
});

describe("what is left uncovered", () => {
  const parent = ["src/a.ts", "src/b.ts", "src/c.ts", "src/core/", "package-lock.json"];

  test("is every path that no task and no deferral names", () => {
    const checked = accepted(checkPlan(answer([task("a")]), within(...parent)));
    assert.deepEqual(checked.uncovered, ["src/b.ts", "src/c.ts", "src/core/"]);
  });

  test("is not what earlier tasks or deferrals name, or a folder with something named in it", () => {
    const deferred = [{ files: ["src/c.ts"], reason: "needs a.ts" }];
    const plan = answer([task("a", { scope: ["src/a.ts", "src/core/x.ts"] })], { deferred });
    const before = { ...within(...parent), coveredBefore: ["src/b.ts"] };
    assert.deepEqual(accepted(checkPlan(plan, before)).uncovered, []);
  });

  test("is what a dropped or removed path would have covered", () => {
    const tasks = [task("a"), task("wide", { scope: ["src/"] })];
    const checked = accepted(checkPlan(answer(tasks), within("src/a.ts", "src/b.ts")));
    assert.deepEqual(checked.uncovered, ["src/b.ts"]);
  });

  test("is nothing for the root planner, or for the whole repository", () => {
    assert.deepEqual(accepted(checkPlan(answer([task("a")]), atRoot())).uncovered, []);
    assert.deepEqual(accepted(checkPlan(answer([task("a")]), within(EVERYTHING))).uncovered, []);
  });
});

test("a task without a priority has that of its parent", () => {
  const { priority: _none, ...plain } = task("a");
  const parent = { id: id("t.2"), scope: ["src/"], priority: 2 };
  const checked = accepted(checkPlan(answer([plain, task("b", { priority: 7 })]), context({ parent })));
  assert.deepEqual(
    checked.tasks.map(({ priority }) => priority),
    [2, 7],
  );
});

test("an id that was made is made anew where an earlier task has it; one that was given is refused", () => {
  const known = new Map([["do-a", id("t.2.1")]]);
  const made = task("do-a", { description: "Do a", isIdMade: true });
  const other = task("do-a-2", { scope: ["src/b.ts"] });
  const checked = accepted(checkPlan(answer([made, other]), context({ known, firstOrdinal: 2 })));
  assert.deepEqual(
    checked.tasks.map(({ key }) => key),
    ["do-a-3", "do-a-2"],
  );
  assert.match(checked.notes.join(), /task "do-a" is called "do-a-3"/);
  assert.match(
    reasonsOf(checkPlan(answer([task("do-a")]), context({ known }))).join(),
    /already given in an earlier answer/,
  );
});

test("a key may be the name of a built-in member", () => {
  const tasks = [task("constructor"), task("toString", { after: ["constructor"] })];
  assert.deepEqual(accepted(checkPlan(answer(tasks), context())).tasks[1]?.after, ["t.2.1"]);
  assert.match(
    reasonsOf(checkPlan(answer([task("a", { after: ["valueOf"] })]), context())).join(),
    /does not exist/,
  );
});
