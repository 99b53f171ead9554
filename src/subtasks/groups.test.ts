/** Tests sequences and maps of tasks: order, failures, reduction and cancellation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  failing,
  once,
  reasonOf,
  registryOf,
  spawning,
  teamOf,
  template,
} from "../../test/support/subtasks.ts";
import type { HandledTaskResult } from "../ports/subtasks.ts";
import { executeTask } from "./execute.ts";
import type { TaskTemplate } from "./template.ts";

const detailsOf = ({ notes: { error } }: HandledTaskResult) => error?.details ?? assert.fail("no details");

const steps = (...names: readonly string[]): TaskTemplate =>
  template("all", {
    steps: names.map((name) => template(name)),
    context_management: {
      accumulate_data: true,
      accumulation_format: "full_output",
      fresh_context: "disabled",
    },
  });

test("steps run one after the other with the same inputs, and hear of those before as the group's settings say", async () => {
  const { handler, record } = teamOf({ one: () => "first", two: () => "second", three: () => "third" });
  const result = await executeTask(steps("one", "two", "three"), { n: 1 }, { handler });
  assert.deepEqual([result.status, result.content], ["COMPLETE", "third"]);
  assert.deepEqual(result.notes["steps"], [
    { task_id: "t.1", content: "first" },
    { task_id: "t.2", content: "second" },
    { task_id: "t.3", content: "third" },
  ]);
  const [one, two, three] = record;
  assert.equal(one!.context.text, "");
  assert.match(two!.context.text, /earlier task t\.1 \(step 1\) ---\nfirst/);
  assert.match(three!.context.text, /first[\s\S]*second/);
  for (const { task } of record) assert.deepEqual(task.inputs, { n: 1 });
});

test("a step's own settings win over the group's", async () => {
  const { handler, record } = teamOf({ one: () => "first", two: () => "second" });
  const group = {
    ...steps("one"),
    steps: [template("one"), template("two", { context_management: { accumulate_data: false } })],
  };
  await executeTask(group, {}, { handler });
  assert.equal(record[1]!.context.text, "");
});

test("a step that fails ends the sequence, which says which, of how many, and what there is", async () => {
  const { handler, of } = teamOf({ one: () => "first", two: () => failing("no"), three: () => "never" });
  const result = await executeTask(steps("one", "two", "three"), {}, { handler });
  assert.equal(reasonOf(result), "subtask_failure");
  const { failedStep, totalSteps, partialResults, originalError } = detailsOf(result);
  assert.deepEqual([failedStep, totalSteps], [2, 3]);
  assert.deepEqual(partialResults, [{ task_id: "t.1", content: "first" }]);
  assert.equal(originalError?.message, "no");
  assert.equal(result.content, "first");
  assert.equal(of("three").length, 0);
});

test("a step can be a registered template by its name; one that is not there fails its step", async () => {
  const { handler } = teamOf({ one: () => "first" });
  const registry = registryOf(template("one"));
  const group = { description: "By name", steps: ["one", "gone"] };
  const result = await executeTask(group, {}, { handler, registry });
  const { failedStep, originalError } = detailsOf(result);
  assert.equal(failedStep, 2);
  assert.ok(originalError?.type === "TASK_FAILURE" && originalError.reason === "template_not_found");
});

const mapped = (more: Partial<TaskTemplate> = {}) =>
  template("map", { each: template("each"), over: "files", ...more });

test("a map runs one task for each input, so many at a time, and keeps their order", async () => {
  let atOnce = 0;
  let most = 0;
  const { handler, of } = teamOf({
    each: async ({ task }) => {
      most = Math.max(most, ++atOnce);
      for (let turn = 0; turn < 5 - Number(task.inputs["index"]); turn += 1) await new Promise(setImmediate);
      atOnce -= 1;
      return `read ${String(task.inputs["item"])} for ${String(task.inputs["who"])}`;
    },
  });
  const inputs = { files: ["a", "b", "c", "d", "e"], who: "me" };
  const { content } = await executeTask(mapped({ max_parallel: 3 }), inputs, { handler });
  assert.deepEqual(
    JSON.parse(content),
    ["a", "b", "c", "d", "e"].map((file) => `read ${file} for me`),
  );
  assert.equal(most, 3);
  assert.deepEqual(of("each")[0]!.task.inputs, { who: "me", item: "a", index: 0 });
});

test("reduce gets the results at once, or in parts with what was put together so far", async () => {
  const { handler, of } = teamOf({
    each: ({ task }) => `${String(task.inputs["item"])} `.repeat(200),
    reduce: ({ task: { inputs } }) =>
      `${String(inputs["accumulator"])}${(inputs["results"] as unknown[]).length};`,
  });
  const map = mapped({ reduce: template("reduce") });
  const inputs = { files: ["a", "b", "c", "d", "e"] };
  assert.equal((await executeTask(map, inputs, { handler })).content, "5;");
  assert.equal(
    (await executeTask(map, inputs, { handler, limits: { contextTokens: 400 } })).content,
    "2;2;1;",
  );
  assert.equal((await executeTask(map, { files: [] }, { handler })).content, "0;");
  assert.equal(of("reduce").length, 5);
});

test("an input that fails starts no more; its index, those done and their results are said", async () => {
  const { handler, of } = teamOf({
    each: ({ task }) =>
      task.inputs["item"] === "b" ? failing("cannot read b") : `did ${String(task.inputs["item"])}`,
  });
  const result = await executeTask(mapped({ max_parallel: 1 }), { files: ["a", "b", "c"] }, { handler });
  const {
    failedInputIndex,
    totalInputs,
    processedInputs,
    partialResults,
    currentAccumulator,
    originalError,
  } = detailsOf(result);
  assert.deepEqual([failedInputIndex, totalInputs, processedInputs, currentAccumulator], [1, 3, [0], ""]);
  assert.deepEqual(partialResults, [{ index: 0, task_id: "t.1", content: "did a" }]);
  assert.equal(originalError?.message, "cannot read b");
  assert.equal(of("each").length, 2);
});

test("a reduce that fails keeps what was put together and all results", async () => {
  const { handler } = teamOf({
    each: () => "x ".repeat(200),
    reduce: ({ task: { inputs } }) => (inputs["accumulator"] === "" ? "so far" : failing("full")),
  });
  const map = mapped({ reduce: template("reduce") });
  const result = await executeTask(map, { files: [1, 2, 3] }, { handler, limits: { contextTokens: 250 } });
  const { failedInputIndex, currentAccumulator, partialResults } = detailsOf(result);
  assert.deepEqual(
    [failedInputIndex, currentAccumulator, (partialResults as unknown[]).length],
    [1, "so far", 3],
  );
  assert.equal(result.content, "so far");
});

test("a map over what is no list, or too long a list, is refused", async () => {
  const { handler } = teamOf({});
  for (const files of ["a", undefined, Array.from({ length: 1_001 }, () => 1)])
    assert.equal(reasonOf(await executeTask(mapped(), { files }, { handler })), "input_validation_failure");
});

test("of siblings that inherit in full, one is sent before the rest; all have the same prefix, byte for byte", async () => {
  const answers = Promise.withResolvers<void>();
  let sent = 0;
  const atFirstAnswer: number[] = [];
  const { handler, of } = teamOf({
    parent: ({ responses }) =>
      responses.length === 0
        ? spawning("scan", { inputs: { files: [1, 2, 3, 4, 5, 6, 7, 8] } }, "SPAWN")
        : "done",
    each: async () => {
      sent += 1;
      if (sent > 1) return "done";
      await answers.promise;
      atFirstAnswer.push(sent);
      return "done";
    },
  });
  const scan = template("scan", {
    each: template("each"),
    over: "files",
    max_parallel: 8,
    context_management: { inherit_context: "full" },
  });
  const running = executeTask(
    template("parent"),
    { text: "word ".repeat(40_000) }, // 50,000 tokens.
    { handler, registry: registryOf(scan) },
  );
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  assert.equal(sent, 1);
  answers.resolve();
  await running;
  assert.deepEqual([sent, atFirstAnswer], [8, [1]]);
  const prefixes = of("each").map(({ context }) => JSON.stringify(context.inherited));
  assert.equal(new Set(prefixes).size, 1);
  assert.ok(prefixes[0]!.length > 200_000);
  assert.doesNotMatch(prefixes[0]!, /SPAWN/);
});

test("a first sibling that fails at once does not hold up the rest of the engine", async () => {
  const { handler } = teamOf({ each: () => failing("no") });
  const result = await executeTask(
    mapped({ context_management: { inherit_context: "full" } }),
    { files: [1, 2] },
    { handler },
  );
  assert.equal(reasonOf(result), "subtask_failure");
});

test("a group is a subtask like any other, and its tasks are one level below it", async () => {
  const { handler, of } = teamOf({ parent: once("all"), one: () => "first", two: () => "second" });
  const result = await executeTask(
    template("parent"),
    {},
    { handler, registry: registryOf(steps("one", "two")) },
  );
  assert.equal(result.content, "with second");
  assert.deepEqual([of("one")[0]!.task.id, of("one")[0]!.task.depth], ["t.1.1", 2]);
  const shallow = await executeTask(steps("one"), {}, { handler, limits: { maxDepth: 1 } });
  assert.ok(detailsOf(shallow).originalError?.message.includes("deeper"));
});

test("a cancel ends a group with all of its tasks, and keeps what was done", async () => {
  const stop = new AbortController();
  const { handler, of } = teamOf({
    one: () => "first",
    two: () => {
      stop.abort();
      return new Promise<string>(() => {});
    },
  });
  const result = await executeTask(steps("one", "two"), {}, { handler, signal: stop.signal });
  assert.equal(reasonOf(result), "execution_halted");
  assert.ok(of("two")[0]!.signal.aborted);
  assert.match(JSON.stringify(detailsOf(result).partialResults), /first/);
});
