/** Tests which inputs of tools are accepted from models, and how core's readers read them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as z from "zod";
import { readHandoff } from "../core/answers/handoff-answer.ts";
import { readPlanAnswer } from "../core/answers/plan-answer.ts";
import {
  askToolInput,
  executionPlanToolInput,
  fleetPlanToolInput,
  handoffToolInput,
  planToolInput,
  spawnToolInput,
} from "./tool-inputs.ts";

const TASK = { id: "a", description: "do a", acceptance: "a is done", scope: ["a.ts"] };

const plan = (input: unknown) => readPlanAnswer(JSON.stringify(planToolInput.parse(input)));

describe("the input of the tool plan", () => {
  it("is what core reads", () => {
    const full = { ...TASK, priority: 2, after: ["b"], agent: "db", delivers: "change", branch: "x" };
    const read = plan({
      scratchpad: "s",
      tasks: [full],
      deferred: [{ files: ["b.ts"], reason: "later" }],
      addressed: ["c1", { concern: "c2", by: "a" }, { concern: 3, because: ["not", "needed"] }, { id: "c4" }],
      done: false,
    });
    assert.ok(read.is === "answer");
    assert.deepEqual(read.answer, {
      scratchpad: "s",
      tasks: [full],
      deferred: [{ files: ["b.ts"], reason: "later" }],
      addressed: [
        { concern: "c1" },
        { concern: "c2", by: "a" },
        { concern: "c3", because: "not\nneeded" },
        { concern: "c4" },
      ],
      done: false,
      notes: [],
    });
  });

  it("has the labels of a machine only where there are some", () => {
    const read = readPlanAnswer(
      JSON.stringify(
        fleetPlanToolInput.parse({
          tasks: [
            { ...TASK, needs: "gpu" },
            { ...TASK, id: "b" },
          ],
        }),
      ),
    );
    assert.ok(read.is === "answer");
    assert.deepEqual(
      read.answer.tasks.map(({ needs }) => needs),
      [["gpu"], undefined],
    );
    const shown = (schema: z.ZodType) => JSON.stringify(z.toJSONSchema(schema, { io: "input" }));
    assert.match(shown(fleetPlanToolInput), /"needs":\{[^}]*"type":"array"/);
    assert.doesNotMatch(shown(planToolInput), /needs/);
  });

  it("may be what models write instead: numbers for ids, null for nothing, sentences for a text", () => {
    const odd = {
      ...TASK,
      id: 1,
      description: ["do", "a"],
      priority: "3",
      after: null,
      agent: null,
      delivers: "Change",
    };
    const read = plan({ tasks: [odd], scratchpad: null, addressed: [2], done: null });
    assert.ok(read.is === "answer", JSON.stringify(read));
    const [task] = read.answer.tasks;
    assert.deepEqual(
      [task?.id, task?.description, task?.priority, task?.delivers],
      ["1", "do\na", 3, "change"],
    );
    assert.deepEqual(read.answer.addressed, [{ concern: "c2" }]);
  });

  it("keeps keys that nobody knows, so that core says what became of them", () => {
    const read = plan({ tasks: [{ ...TASK, dependsOn: ["b"] }] });
    assert.match(read.is === "answer" ? read.answer.notes.join() : "", /dependsOn" was not read/);
  });

  it("is refused without tasks, and where a task does not say what it is", () => {
    for (const input of [
      {},
      { tasks: "none" },
      { tasks: [{ ...TASK, description: null }] },
      { tasks: [{ id: "a" }] },
    ])
      assert.equal(planToolInput.safeParse(input).success, false, JSON.stringify(input));
  });
});

describe("the input of the tool plan for a whole plan", () => {
  it("takes what models write: numbers for ids, null for nothing, keys that nobody knows", () => {
    const metadata = { agent: null, depth: "2", wave: 3 };
    const tasks = [
      { id: 1, subject: "Add a", description: ["do", "a"], blockedBy: [2], scope: null, metadata },
    ];
    assert.deepEqual(executionPlanToolInput.parse({ goal: null, tasks, risks: "one" }), {
      tasks: [
        {
          ...{ id: "1", subject: "Add a", description: "do\na", blockedBy: ["2"] },
          metadata: { depth: 2, wave: 3 },
        },
      ],
      risks: ["one"],
    });
  });

  it("is refused without tasks, and where a task does not say what it is", () => {
    for (const input of [{}, { tasks: [{ id: "a" }] }, { tasks: [{ id: "a", subject: "x" }] }])
      assert.ok(!executionPlanToolInput.safeParse(input).success, JSON.stringify(input));
  });
});

describe("the input of the tool handoff", () => {
  it("is what core reads, one text for a list included", () => {
    const input = { status: " Complete", summary: ["did", "it"], concerns: "one", suggestions: null };
    const read = readHandoff(JSON.stringify(handoffToolInput.parse(input)), "t.1");
    assert.ok(read.is === "handoff");
    const { status, summary, concerns, suggestions } = read.handoff;
    assert.deepEqual([status, summary, concerns, suggestions], ["complete", "did\nit", ["one"], []]);
  });

  it("is refused without a status that is known", () => {
    for (const status of [undefined, null, "great", 200])
      assert.equal(handoffToolInput.safeParse({ status }).success, false, `${status}`);
  });
});

describe("the input of the tool spawn_subtask", () => {
  it("keeps what its reader judges, and mends what models write all the same", () => {
    const request = { type: "check", description: ["look", "at it"], inputs: { deep: { is: [1, null] } } };
    const context_management = { inherit_context: "Full", accumulate_data: "true", fresh_context: null };
    const more = { return_expectations: { type: "object" }, file_paths: "a.ts", max_depth: null, unknown: 1 };
    assert.deepEqual(spawnToolInput.parse({ ...request, ...more, context_management }), {
      ...{
        type: "check",
        description: "look\nat it",
        inputs: request.inputs,
        file_paths: ["a.ts"],
        unknown: 1,
      },
      return_expectations: '{"type":"object"}',
      context_management: { inherit_context: "full", accumulate_data: true },
    });
  });

  it("is refused without a type or a description", () => {
    for (const input of [{}, { type: "check" }, { description: "look" }, { type: 1, description: "look" }])
      assert.equal(spawnToolInput.safeParse(input).success, false, JSON.stringify(input));
  });
});

describe("what models are shown", () => {
  it("is plain: one type for each field, and only what must be there is required", () => {
    const inputs = [planToolInput, executionPlanToolInput, handoffToolInput, spawnToolInput, askToolInput];
    const shown = inputs.map((schema) => z.toJSONSchema(schema, { io: "input" }));
    assert.doesNotMatch(JSON.stringify(shown), /"anyOf"|"type":\[/);
    assert.deepEqual(
      shown.map(({ type, required }) => [type, required]),
      [
        ["object", ["tasks"]],
        ["object", ["tasks"]],
        ["object", ["status"]],
        ["object", ["type", "description"]],
        ["object", ["question"]],
      ],
    );
  });
});
