/** Tests which part of a model's text is taken as the plan, also if it was cut off. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { answered, refusal, TASK, taskWith, textOf } from "../../../test/support/plan-texts.ts";
import { ANSWER_LIMITS } from "../rules/policy.ts";
import { readPlanAnswer } from "./plan-answer.ts";

const idsIn = (text: string) => answered(text).tasks.map((task) => task.id);

describe("finds the answer", () => {
  const text = textOf(TASK);
  for (const [where, wrapped] of Object.entries({
    "in a fence": `\`\`\`json\n${text}\n\`\`\``,
    "in a bare fence": `\`\`\`\n${text}\n\`\`\``,
    "in a fence that is never closed": `\`\`\`json\n${text}`,
    "behind a byte order mark": `\ufeff${text}`,
    "in prose": `I looked at it.\n\n${text}\n\nThat is all.`,
    "in prose with braces": `Use {x} and [y], keys like {"id"}, or {" alone.\n${text}\n{not json} [1] {`,
    "behind an object of another kind": `The config is {"a": 1}.\n${text}`,
    "in an object around it": `{"plan": ${text}}`,
    "in a list around it": `[${text}]`,
    "behind a bracket that is prose": `[ ${text} and so on`,
    "with a comma too many": text.replace("]}", ",],}"),
    "with comments": text.replace('"tasks"', '// the first batch\n"tasks"'),
    "with a line break in a string": text.replace("thoughts", "thou\nghts"),
  })) {
    test(where, () => assert.deepEqual(idsIn(wrapped), ["parser"]));
  }

  test("when a description holds a fence and braces", () => {
    const description = 'Write ```json\n{"tasks": []}\n``` to the file {"';
    assert.equal(
      answered(`\`\`\`json\n${textOf(taskWith({ description }))}\n\`\`\``).tasks[0]?.description,
      description,
    );
  });

  test("and of several takes the last complete one", () => {
    assert.deepEqual(idsIn(`${textOf(taskWith({ id: "draft" }))}\nBetter:\n${text}`), ["parser"]);
  });

  test("and takes a complete one rather than one that was cut off or broken after it", () => {
    for (const rest of ['{"scratchpad": "again", "tasks": [{"id": "b"', '{"tasks": [oops]}']) {
      assert.deepEqual(idsIn(`${text}\n${rest}`), ["parser"]);
      assert.match(answered(`${text}\n${rest}`).notes.join(), /complete one is used/);
    }
  });

  test("in a bare list of tasks, and says so", () => {
    const answer = answered(JSON.stringify([TASK, taskWith({ id: "b" })]));
    assert.equal(answer.tasks.length, 2);
    assert.match(answer.notes.join(), /only a list/);
  });
});

describe("an answer that was cut off", () => {
  test("yields its complete tasks, says so, and is not done", () => {
    const text = `{"done": true, "scratchpad": "s", "tasks": [${JSON.stringify(TASK)}, {"id": "b", "description": "x`;
    const answer = answered(text);
    assert.deepEqual(
      answer.tasks.map((task) => task.id),
      ["parser"],
    );
    assert.equal(answer.scratchpad, "s");
    assert.equal(answer.done, undefined);
    assert.match(answer.notes.join(), /cut off.*\(1\)/);
  });

  test("yields its tasks when only what follows them is missing, and not the half of that", () => {
    const answer = answered(`{"tasks": [${JSON.stringify(TASK)}], "done": true, "addressed": ["c1", "c`);
    assert.equal(answer.tasks.length, 1);
    assert.deepEqual([answer.addressed, answer.done], [[], undefined]);
  });

  test("yields the complete tasks of a bare list", () => {
    assert.deepEqual(idsIn(`[${JSON.stringify(TASK)}, {"id": "b"`), ["parser"]);
  });

  for (const text of [
    '{"scratchpad": "first the parser", "tasks": [',
    '{"scratchpad": "first the parser", "tasks": [{"id": "a", "description": "x"',
    '{"scratchpad": "first the parser", "tasks": []',
    '{"scratchpad": "first the par',
    '{"scratchpad',
    "[",
    '[{"id": "a", "description": "b"',
    '```json\n{"tasks"',
  ]) {
    test(`is unreadable without a complete task: ${text}`, () => {
      refusal(text, "unreadable", /text ends/);
    });
  }

  test("is not read as done because an empty plan was quoted before it", () => {
    for (const rest of ['{"scratchpad": "the real one', '{"tasks": [{"id": "a"', "{"]) {
      refusal(
        `Atomic would be {"scratchpad": "", "tasks": []}, but:\n${rest}`,
        "unreadable",
        /ends in the middle/,
      );
    }
  });
});

describe("an empty plan", () => {
  test("is an answer when it is whole", () => {
    assert.deepEqual(answered('{"scratchpad": "atomic", "tasks": []}').tasks, []);
    assert.equal(answered('{"tasks": [], "done": true}').done, true);
  });

  test("does not hide a plan before it", () => {
    for (const plan of [textOf(TASK), JSON.stringify([TASK])]) {
      refusal(`${plan}\nLater I would send {"tasks": []}.`, "invalid", /several answers/);
    }
  });

  test("does not hide a plan that broke", () => {
    const text = '{"scratchpad": "send {"tasks": []} if atomic", "tasks": [{"id": "a"}]}';
    refusal(text, "unreadable", /not JSON at line 1, column/);
    refusal(`{"tasks": [{"id": "a" "b"}]}\n{"tasks": []}`, "unreadable", /not JSON at line 1, column 23/);
  });

  const empty = '{"scratchpad": "", "tasks": []}';
  const task = '{"id": "a", "description": "d"}';

  for (const other of [
    '{"scratchpad":"real","tasks":{"a":{}}}',
    '{"scratchpad":"x","tasks":null}',
    "{'scratchpad': 'x', 'tasks': [{'id': 'a'}]}",
    '{scratchpad: "x", tasks: [1]}',
    `{"plan":[${task}]}`,
    `{"subtasks":[${task}]}`,
    `{"result":{"plan":{"tasks":[${task}]}}}`,
    `{"Tasks":[${task}]}`,
    task,
    `${task}\n${task}`,
    '[{"id":"a","desc":"d"}]',
    "[1, 2]",
    "{not json}",
    empty,
  ]) {
    test(`does not count beside anything else in brackets: ${other}`, () => {
      for (const text of [
        `${empty}\n${other}`,
        `${other}\n${empty}`,
        `\`\`\`json\n${empty}\n\`\`\`\n${other}`,
      ]) {
        const read = readPlanAnswer(text);
        assert.ok(read.is === "invalid" || read.is === "unreadable", text);
        assert.match(read.reasons.join(), /send only the complete answer/);
      }
    });
  }

  test("does not count inside of something larger, or behind a bracket that is prose", () => {
    for (const text of [
      `{"example": ${empty}, "plan": [${task}]}`,
      `[${empty}, ${task}]`,
      `[ ${empty} and so on`,
    ]) {
      refusal(text, "invalid", /send only the complete answer/);
    }
  });

  test("does not count if it tells of an error", () => {
    refusal('{"error": "out of quota", "tasks": []}', "unreadable", /send only the complete answer/);
  });

  test("counts in prose, in a fence, and in one object or list around it", () => {
    for (const text of [
      `Nothing is left to do.\n${empty}\nThat is all.`,
      `\`\`\`json\n${empty}\n\`\`\``,
      `{"plan": ${empty}}`,
      `[${empty}]`,
    ]) {
      assert.deepEqual(idsIn(text), []);
    }
  });

  test("must be said: an object without tasks, or a list of something else, is invalid", () => {
    for (const text of [
      '[{"description": "write it"}]',
      '{"scratchpad": "all good"}',
      '{"done": true}',
      "{}",
      '{"tasks": null}',
      '{"tasks": {}}',
    ]) {
      refusal(text, "invalid", /no list "tasks"/);
    }
  });
});

describe("is unreadable", () => {
  for (const text of [
    "",
    " \n",
    "\ufeff",
    "All is done.",
    "null",
    "42",
    '"tasks"',
    "true",
    "[]",
    "[1, 2]",
    "```json\n```",
  ]) {
    test(JSON.stringify(text), () => {
      refusal(text, "unreadable", /one JSON object with a list of tasks/);
    });
  }

  test("when it is longer than the limit", () => {
    refusal(textOf(TASK) + " ".repeat(ANSWER_LIMITS.maxChars), "unreadable", /longer than 2000000/);
  });

  test("when it is a million brackets", () => {
    for (const bracket of ["[", "{", "[{"]) {
      assert.equal(readPlanAnswer(bracket.repeat(1_000_000 / bracket.length)).is, "unreadable");
    }
    assert.equal(readPlanAnswer('{"tasks":['.repeat(100_000)).is, "unreadable");
  });

  test("when a key is given twice, because either may be meant", () => {
    refusal(`{"tasks": [${JSON.stringify(TASK)}], "tasks": []}`, "unreadable", /written twice/);
  });
});
