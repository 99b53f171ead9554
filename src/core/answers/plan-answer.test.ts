/** Tests how each field of a planner's answer is read, corrected or refused. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { answered, refusal, TASK, taskWith, textOf } from "../../../test/support/plan-texts.ts";
import { ANSWER_LIMITS } from "../rules/policy.ts";
import { readPlanAnswer } from "./plan-answer.ts";

const invalidTask = (fields: object, why: RegExp) => refusal(textOf(taskWith(fields)), "invalid", why);

test("an answer is read with its defaults", () => {
  assert.deepEqual(answered(textOf(TASK)), {
    scratchpad: "thoughts",
    tasks: [{ ...TASK, after: [], delivers: "change" }],
    deferred: [],
    addressed: [],
    done: undefined,
    notes: [],
  });
});

test("an answer is read with everything it may say", () => {
  const whole = {
    scratchpad: "s",
    tasks: [
      taskWith({
        priority: 1,
        after: ["base"],
        delivers: "report",
        agent: "Explore",
        branch: "worker/Parse It",
      }),
    ],
    deferred: [{ files: ["src/mesh.ts"], reason: "needs the parser" }],
    addressed: ["c3", 4, "5"],
    done: true,
  };
  const task = {
    ...TASK,
    priority: 1,
    after: ["base"],
    delivers: "report",
    agent: "Explore",
    branch: "parse-it",
  };
  const expected = {
    ...whole,
    tasks: [task],
    addressed: ["c3", "c4", "c5"].map((concern) => ({ concern })),
    notes: [],
  };
  assert.deepEqual(answered(JSON.stringify(whole)), expected);
});

describe("an id", () => {
  for (const id of ["a", "1", "A.b_c-d", "x".repeat(64), "constructor", "toString"]) {
    test(`may be ${id}`, () => assert.equal(answered(textOf(taskWith({ id }))).tasks[0]?.id, id));
  }

  test("that is a number is kept as text, and said", () => {
    const answer = answered(textOf(taskWith({ id: 7 }), taskWith({ id: "b", after: [7] })));
    assert.deepEqual(
      answer.tasks.map(({ id, after }) => ({ id, after })),
      [
        { id: "7", after: [] },
        { id: "b", after: ["7"] },
      ],
    );
    assert.match(answer.notes.join(), /task 1: "id" was a number/);
  });

  const bad = [
    "",
    " a",
    "-rf",
    ".a",
    "__proto__",
    "a/b",
    "a b",
    "é",
    "x".repeat(65),
    1.5,
    1e30,
    -1,
    true,
    [],
    {},
    "a\n",
  ];
  for (const id of bad) {
    test(`may not be ${JSON.stringify(id).slice(0, 40)}`, () => {
      invalidTask({ id }, /"id" must be/);
    });
  }

  test("is made from the description where it is missing, unlike all others, and said", () => {
    const nameless = [taskWith({ id: null }), taskWith({ id: undefined })];
    const taken = taskWith({ id: "write-the-parser-2" });
    const { tasks, notes } = answered(textOf(...nameless, taken));
    assert.deepEqual(
      tasks.map(({ id, isIdMade }) => [id, isIdMade]),
      [
        ["write-the-parser", true],
        ["write-the-parser-3", true],
        ["write-the-parser-2", undefined],
      ],
    );
    assert.match(notes.join(), /task 1: "id" is missing; the task is called "write-the-parser"/);
    for (const list of [nameless, nameless.toReversed()]) // The key is missing in the first, and null in the second.
      assert.deepEqual(
        answered(JSON.stringify(list)).tasks.map(({ id }) => id),
        ["write-the-parser", "write-the-parser-2"],
      );
  });

  test("is given once", () => {
    refusal(textOf(TASK, TASK), "invalid", /two tasks have the id "parser"/);
    refusal(textOf(taskWith({ id: 1 }), taskWith({ id: "1" })), "invalid", /two tasks have the id "1"/);
  });
});

describe("a text", () => {
  for (const key of ["description", "acceptance"]) {
    test(`${key} is needed and says something`, () => {
      invalidTask({ [key]: undefined }, new RegExp(`task "parser": "${key}" is missing`));
      for (const empty of ["", "  \n", "\u200b", "...", []]) invalidTask({ [key]: empty }, /says nothing/);
      for (const other of [1, true, {}, [1]]) invalidTask({ [key]: other }, /must be text/);
      invalidTask({ [key]: "x".repeat(100_000) }, /longer than 50000/);
    });
  }

  test("may be a list of sentences", () => {
    const [task] = answered(textOf(taskWith({ acceptance: ["It parses.", "It is fast."] }))).tasks;
    assert.equal(task?.acceptance, "It parses.\nIt is fast.");
  });

  test("loses what a process or a terminal would choke on, and that is said", () => {
    const answer = answered(textOf(taskWith({ description: "a\u0000b\u001b[31m\ud800c\td\n" })));
    assert.equal(answer.tasks[0]?.description, "ab[31m\ufffdc\td");
    assert.match(answer.notes.join(), /control characters/);
  });

  test("scratchpad is text, and cut when it is too long", () => {
    assert.equal(answered('{"tasks": []}').scratchpad, "");
    refusal('{"scratchpad": {}, "tasks": []}', "invalid", /the answer: "scratchpad" must be text/);
    const answer = answered(JSON.stringify({ scratchpad: "x".repeat(200_000), tasks: [] }));
    assert.equal(answer.scratchpad.length, 100_000);
    assert.match(answer.notes.join(), /was cut/);
  });
});

describe("a scope", () => {
  test("is made plain, and a path counts once", () => {
    const scope = ["./src/a.ts", "src/a.ts", "src", "src/", "b//c/**"];
    assert.deepEqual(answered(textOf(taskWith({ scope }))).tasks[0]?.scope, ["src/a.ts", "src/", "b/c/"]);
  });

  test("is needed for a change, not for a report", () => {
    for (const scope of [[], null, undefined]) invalidTask({ scope }, /"scope" names nothing/);
    const [task] = answered(textOf(taskWith({ scope: undefined, delivers: "report" }))).tasks;
    assert.deepEqual(task?.scope, []);
  });

  test("is a list of paths inside of the repository", () => {
    invalidTask({ scope: "src/a.ts" }, /"scope" must be a list/);
    invalidTask({ scope: [1] }, /1 is not a path/);
    const hostile = [
      "../x",
      ".git/config",
      "/etc",
      "--upload-pack=x",
      "a\u0000",
      "\u202egpj",
      "x".repeat(100_000),
      "a\ud800",
    ];
    for (const path of hostile)
      invalidTask({ scope: ["ok.ts", path] }, /task "parser": "scope" cannot be used: path/);
    invalidTask({ scope: Array.from({ length: 10_001 }, (_, i) => `f${i}`) }, /more than 10000 entries/);
  });
});

describe("a priority", () => {
  for (const priority of [1, 5, 10]) {
    test(`may be ${priority}`, () => {
      assert.equal(answered(textOf(taskWith({ priority }))).tasks[0]?.priority, priority);
    });
  }

  test("written as text is read, and said", () => {
    const answer = answered(textOf(taskWith({ priority: "3" })));
    assert.equal(answer.tasks[0]?.priority, 3);
    assert.match(answer.notes.join(), /"priority" was text/);
  });

  for (const priority of [0, 11, -1, 1.5, "high", "", "0", "11", true, [], Infinity]) {
    test(`may not be ${JSON.stringify(priority)}`, () => {
      const text = textOf(taskWith({ priority })).replace('"priority":null', '"priority":1e400');
      refusal(text, "invalid", /"priority" must be a whole number from 1/);
    });
  }
});

describe("other fields", () => {
  test("after is a list of ids, each once", () => {
    assert.deepEqual(answered(textOf(taskWith({ after: ["a", "a", 1] }))).tasks[0]?.after, ["a", "1"]);
    invalidTask({ after: "a" }, /"after" must be a list/);
    invalidTask({ after: ["--evil"] }, /"after" contains "--evil", which is not a valid id/);
    invalidTask({ after: [{}] }, /"after" contains something else/);
  });

  test("delivers is a change or a report", () => {
    for (const delivers of ["Change", "", 1, []]) invalidTask({ delivers }, /"delivers" must be/);
    assert.equal(answered(textOf(taskWith({ delivers: null }))).tasks[0]?.delivers, "change");
  });

  test("size is what the planner says of a task; what nobody understands is noted and left out", () => {
    for (const size of ["complex", "atomic"])
      assert.equal(answered(textOf(taskWith({ size }))).tasks[0]?.size, size);
    const { tasks, notes } = answered(textOf(taskWith({ size: "huge" })));
    assert.ok(!("size" in tasks[0]!));
    assert.match(notes.join(), /"size" was not read/);
  });

  test("needs are labels of machines, sorted and each once", () => {
    const needs = (value: unknown) => answered(textOf(taskWith({ needs: value }))).tasks[0]?.needs;
    assert.deepEqual(needs(["linux", "gpu", "gpu"]), ["gpu", "linux"]);
    assert.deepEqual(needs("gpu"), ["gpu"]);
    assert.equal(needs([]), undefined);
    for (const bad of [["GPU"], ["-x"], [7], ["a/b"], {}]) invalidTask({ needs: bad }, /"needs" must be/);
  });

  test("agent is the name of a specialist", () => {
    const agent = "workflow-orchestrator:code-reviewer";
    assert.equal(answered(textOf(taskWith({ agent }))).tasks[0]?.agent, agent);
    for (const bad of ["", "-x", "a b", "../x", "$(x)", 1, "x".repeat(65)])
      invalidTask({ agent: bad }, /"agent" must be/);
    assert.ok(!("agent" in answered(textOf(taskWith({ agent: null }))).tasks[0]!));
  });

  test("branch is a hint: a slug is made of it, and nothing refuses it", () => {
    const branchOf = (branch: unknown) => answered(textOf(taskWith({ branch }))).tasks[0]?.branch;
    assert.equal(branchOf("worker/task-5-Chunk Data"), "task-5-chunk-data");
    assert.equal(branchOf("--upload-pack=touch x"), "upload-pack-touch-x");
    assert.equal(branchOf("x".repeat(100_000)), "x".repeat(40));
    for (const unusable of ["", "修复", "a/", "\u0000", 1, {}, null])
      assert.equal(branchOf(unusable), undefined);
  });

  test("another name for after is not read, and that is said", () => {
    assert.match(answered(textOf(taskWith({ dependencies: ["a"] }))).notes.join(), /go in "after"/);
  });

  test("addressed says of a concern by which task, or why not; its id alone may be enough", () => {
    const addressed = [
      "c1",
      { concern: 2, by: "parser", because: ["It was", "too large."] },
      { id: "c3", reason: "not\u001b[31m needed" },
      { concern: "c4", by: null, because: " … " },
      { concern: "c1", by: [7] },
    ];
    const read = answered(JSON.stringify({ tasks: [], addressed }));
    assert.deepEqual(read.addressed, [
      { concern: "c1", by: "7" },
      { concern: "c2", by: "parser", because: "It was\ntoo large." },
      { concern: "c3", because: "not[31m needed" },
      { concern: "c4" },
    ]);
    const wrong = (one: unknown, why: RegExp) =>
      refusal(JSON.stringify({ tasks: [], addressed: ["c1", one] }), "invalid", why);
    wrong({ by: "a" }, /addressed 2: "concern" must be the id of a concern/);
    wrong({ concern: "c2", by: ["a", "b"] }, /addressed 2: "by" must be the id of one of your tasks/);
    wrong({ concern: "c2", by: "a b" }, /"by" must be/);
    wrong({ concern: "c2", because: 7 }, /addressed 2: "because" must be text/);
    wrong({ concern: "c2", because: "x".repeat(100_000) }, /"because" is longer than 50000/);
    wrong([], /contains something else than text, which is not a valid id/);
  });

  test("addressed holds ids of concerns", () => {
    refusal('{"tasks": [], "addressed": "c1"}', "invalid", /the answer: "addressed" must be a list/);
    refusal('{"tasks": [], "addressed": ["the login"]}', "invalid", /which is not a valid id/);
  });

  test("deferred holds files and a reason", () => {
    const withDeferred = (deferred: unknown) => JSON.stringify({ tasks: [], deferred });
    refusal(withDeferred([{ files: ["a.ts"] }]), "invalid", /deferral 1: "reason" is missing/);
    refusal(
      withDeferred([{ files: ["../a"], reason: "later" }]),
      "invalid",
      /deferral 1: "files" cannot be used/,
    );
    refusal(withDeferred(["a.ts"]), "invalid", /deferral 1 is not an object/);
    refusal(withDeferred("a.ts"), "invalid", /"deferred" must be a list/);
  });

  test("done is true or false", () => {
    refusal('{"tasks": [], "done": "true"}', "invalid", /the answer: "done" must be true or false/);
  });

  test("unknown keys are ignored, hostile ones too", () => {
    const text = textOf(TASK).replace("{", '{"__proto__": {"done": true}, "constructor": {}, "x": [[]], ');
    const inTask = text.replace('"id"', '"__proto__": {"agent": "evil"}, "toString": 1, "id"');
    const answer = answered(inTask);
    assert.equal(answer.done, undefined);
    assert.ok(!("agent" in answer.tasks[0]!));
    assert.deepEqual(answer.notes, []);
  });
});

describe("reasons", () => {
  test("are given all at once, with the task and the field", () => {
    const text = textOf(taskWith({ priority: 99, acceptance: "" }), 7, { description: "Only this" });
    assert.deepEqual(refusal(text, "invalid", /./), [
      "task 2 is not an object",
      'task "parser": "acceptance" says nothing',
      'task "parser": "priority" must be a whole number from 1 (most urgent) to 10',
      'task 3: "scope" names nothing; name the files it may change, or say "delivers": "report"',
      'task 3: "acceptance" is missing',
    ]);
  });

  test("are bounded in number and length", () => {
    const reasons = refusal(textOf(...Array(500).fill({ id: "\u0000".repeat(300) })), "invalid", /./);
    assert.equal(reasons.length, 21);
    assert.match(reasons.at(-1)!, /^and \d+ more$/);
    for (const reason of reasons) assert.ok(reason.length < 1_000);
  });

  test("say when there are more tasks than may be read", () => {
    const read = readPlanAnswer(textOf(TASK, TASK, TASK), { ...ANSWER_LIMITS, maxTasks: 2 });
    assert.ok(read.is === "invalid");
    assert.deepEqual(read.reasons, ['the answer: "tasks" has 3 tasks; at most 2 are read']);
  });
});
