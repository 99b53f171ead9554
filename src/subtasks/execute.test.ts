/** Tests `executeTask`: spawning, depth, cycles, continuations, failures, refused input and long results. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  failing,
  once,
  reasonOf,
  registryOf,
  spawning,
  type Turn,
  teamOf,
  template,
} from "../../test/support/subtasks.ts";
import type { HandledTaskResult } from "../ports/subtasks.ts";
import { MemoryArtefacts } from "./artefacts.ts";
import { executeTask } from "./execute.ts";
import type { SubtaskEvent } from "./live-task.ts";

test("a subtask's whole result comes back into its parent's own session, with the child's id", async () => {
  const { handler, of } = teamOf({
    parent: once("child", { inputs: { n: 1 } }),
    child: ({ task }) => ({
      content: `did ${JSON.stringify(task.inputs)}`,
      status: "COMPLETE",
      notes: { score: 7 },
    }),
  });
  const registry = registryOf(template("child"));
  const result = await executeTask(template("parent"), {}, { handler, registry });
  assert.deepEqual([result.status, result.content], ["COMPLETE", 'with did {"n":1}']);
  const [first, second] = of("parent");
  assert.equal(first!.context, second!.context); // One session, not two.
  const [response] = second!.responses;
  assert.equal(response!.name, "subtask:child");
  assert.equal(response!.result.status, "COMPLETE");
  assert.deepEqual([response!.result.notes["task_id"], response!.result.notes["score"]], ["t.1", 7]);
  assert.deepEqual(
    second!.transcript.map(({ is }) => is),
    ["input", "answer", "tool"],
  );
});

/** A turn at each level that spawns the next one with other inputs, as long as it is allowed. */
const digging: Turn = ({ task, responses }) =>
  responses.length > 0
    ? `${task.depth}:${responses[0]!.result.notes.error?.message ?? responses[0]!.result.content}`
    : spawning("dig", { inputs: { depth: task.depth + 1 } });

const digDown = (more: Parameters<typeof spawning>[1] = {}, maxDepth?: number) => {
  const { handler, of } = teamOf({
    dig: (turn) => digging(turn),
    top: once("dig", { inputs: { depth: 1 }, ...more }),
  });
  const registry = registryOf(template("dig"));
  const limits = maxDepth === undefined ? {} : { maxDepth };
  return { run: executeTask(template("top"), {}, { handler, registry, limits }), of };
};

test("a chain has 10 levels, the eleventh is refused, and all above go on", async () => {
  const { run, of } = digDown();
  const { status, content } = await run;
  assert.equal(status, "COMPLETE");
  assert.equal(Math.max(...of("dig").map(({ task }) => task.depth)), 9);
  assert.match(content, /^with 1:2:3:4:5:6:7:8:9:t(?:\.1){10} would be deeper than is allowed$/);
});

test("a request's max_depth lowers what is left, and raises nothing", async () => {
  for (const [max_depth, maxDepth, deepest] of [
    [1, 10, 1],
    [3, 10, 3],
    [50, 4, 3],
  ] as const) {
    const { run, of } = digDown({ max_depth }, maxDepth);
    await run;
    assert.equal(Math.max(...of("dig").map(({ task }) => task.depth)), deepest);
  }
});

test("max_depth 0 in a request, a template or the limits lets nothing begin", async () => {
  const seen: HandledTaskResult[] = [];
  const parent = once("child", { max_depth: 0 }, (result) => String(seen.push(result)));
  const { handler, of } = teamOf({ parent, child: () => "never", none: () => "never" });
  const registry = registryOf(template("child"));
  assert.equal((await executeTask(template("parent"), {}, { handler, registry })).content, "1");
  assert.equal(reasonOf(seen[0]!), "max_depth_exceeded");
  assert.equal(seen[0]!.notes.error?.details?.subtaskType, "child");
  const none = await executeTask(template("none", { max_depth: 0 }), {}, { handler });
  const limited = await executeTask(template("none"), {}, { handler, limits: { maxDepth: 0 } });
  assert.deepEqual([reasonOf(none), reasonOf(limited)], ["max_depth_exceeded", "max_depth_exceeded"]);
  assert.equal(of("child").length + of("none").length, 0);
});

test("a template that requests itself with the same inputs is stopped as a cycle", async () => {
  const asked: string[] = [];
  const { handler } = teamOf({
    self: ({ responses }) => {
      if (responses.length === 0) return spawning("self", { inputs: { b: 2, a: [1] } });
      asked.push(reasonOfResponse(responses[0]!.result));
      return "done";
    },
  });
  const registry = registryOf(template("self"));
  const result = await executeTask(template("self"), {}, { handler, registry });
  assert.equal(result.status, "COMPLETE");
  assert.deepEqual(asked, ["cycle_detected", ""]); // The first request has other inputs, the second the task's own.
});

const reasonOfResponse = (result: HandledTaskResult) => (result.status === "FAILED" ? reasonOf(result) : "");

test("siblings with equal signatures are allowed, and signatures do not depend on the order of keys", async () => {
  const events: SubtaskEvent[] = [];
  const { handler, of } = teamOf({
    parent: ({ responses }) =>
      responses.length === 2
        ? "both"
        : spawning("child", { inputs: responses.length === 0 ? { a: 1, b: 2 } : { b: 2, a: 1 } }),
    child: () => "done",
  });
  const options = {
    handler,
    registry: registryOf(template("child")),
    onEvent: (e: SubtaskEvent) => events.push(e),
  };
  assert.equal((await executeTask(template("parent"), {}, options)).content, "both");
  assert.equal(of("child").length, 2);
  const signatures = events.flatMap((event) => (event.is === "spawned" ? [event.signature] : []));
  assert.equal(signatures[1], signatures[2]);
  assert.notEqual(signatures[0], signatures[1]);
  assert.match(signatures[1]!, /^[\da-f]{64}$/);
});

test("one task goes on 50 times, and not a 51st time", async () => {
  for (const [times, end] of [
    [50, "COMPLETE"],
    [51, "FAILED"],
  ] as const) {
    const { handler } = teamOf({
      parent: ({ responses }) => (responses.length < times ? spawning("child") : "enough"),
      child: () => "part",
    });
    const result = await executeTask(
      template("parent"),
      {},
      { handler, registry: registryOf(template("child")) },
    );
    assert.equal(result.status, end);
    if (end === "COMPLETE") continue;
    assert.equal(reasonOf(result), "continuations");
    const { partialResults } = result.notes.error!.details!;
    assert.equal((partialResults as { subtasks: unknown[] }).subtasks.length, 50);
  }
});

test("a parent recovers from a failed subtask by its partial results", async () => {
  const { handler } = teamOf({
    parent: once("child", {}, (result) => {
      const { error } = result.notes;
      assert.ok(error?.type === "TASK_FAILURE" && error.reason === "subtask_failure");
      const { subtaskType, subtaskId, partialResults, originalError } = error.details!;
      assert.deepEqual([subtaskType, subtaskId], ["child", "t.1"]);
      assert.match(originalError!.message, /out of ideas/);
      return `rescued: ${String(partialResults)}`;
    }),
    child: () => failing("out of ideas", "the first half"),
  });
  const result = await executeTask(
    template("parent"),
    {},
    { handler, registry: registryOf(template("child")) },
  );
  assert.deepEqual([result.status, result.content], ["COMPLETE", "rescued: the first half"]);
});

test("a subtask that was stopped leaves its parent what its own subtasks had done", async () => {
  const { handler } = teamOf({
    parent: once("child", {}, ({ notes }) => JSON.stringify(notes.error?.details?.partialResults)),
    child: ({ responses }) =>
      spawning("leaf", { inputs: { n: responses.length } }, `so far ${responses.length}`),
    leaf: ({ task }) => `leaf ${String(task.inputs["n"])}`,
  });
  const registry = registryOf(template("child"), template("leaf"));
  const { content } = await executeTask(
    template("parent"),
    {},
    { handler, registry, limits: { maxContinuations: 2 } },
  );
  const subtasks = [0, 1].map((n) => ({
    id: `t.1.${n + 1}`,
    type: "leaf",
    status: "COMPLETE",
    content: `leaf ${n}`,
  }));
  assert.deepEqual(JSON.parse(content), { content: "so far 1", subtasks });
});

test("an error goes up level by level, each with the one below it", async () => {
  const { handler } = teamOf({
    a: ({ responses }) =>
      responses.length === 0 ? spawning("b") : { status: "FAILED", notes: responses[0]!.result.notes },
    b: ({ responses }) =>
      responses.length === 0 ? spawning("c") : { status: "FAILED", notes: responses[0]!.result.notes },
    c: () => {
      throw new Error("the disk is full");
    },
  });
  const result = await executeTask(
    template("a"),
    {},
    { handler, registry: registryOf(template("b"), template("c")) },
  );
  const chain: string[] = [];
  for (let at = result.notes.error; at !== undefined; at = at.details?.originalError)
    chain.push(at.type === "TASK_FAILURE" ? at.reason : at.resource);
  assert.deepEqual(chain, ["subtask_failure", "subtask_failure", "unexpected_error"]);
  assert.match(result.notes.error!.message, /the disk is full/);
});

test("what a handler answers that is no result fails its task, and a FAILED without an error gets one", async () => {
  for (const answer of [
    undefined,
    null,
    7,
    {},
    { content: "x", status: "DONE" },
    { content: "x", status: "COMPLETE", notes: [] },
  ]) {
    const handler = { open: () => 1, prompt: () => answer as never, addToolResponse: () => undefined };
    assert.equal(reasonOf(await executeTask(template("a"), {}, { handler })), "unexpected_error");
  }
  const { handler } = teamOf({ a: () => ({ status: "FAILED", content: "no luck" }) });
  const result = await executeTask(template("a"), {}, { handler });
  assert.equal(result.notes.error?.message, "no luck");
});

test("a request without a template that fits, and one with mistakes, are told to the parent", async () => {
  const { handler, of } = teamOf({
    parent: ({ responses }) =>
      responses.length === 0
        ? spawning("unknown", { description: "zzz" })
        : responses.length === 1
          ? spawning("child", { typo: 1, max_depth: -1 } as never)
          : responses.length === 2
            ? { status: "CONTINUATION", content: "and now?" }
            : "done",
    child: () => "never",
  });
  await executeTask(template("parent"), {}, { handler, registry: registryOf(template("child")) });
  const told = of("parent")
    .at(-1)!
    .responses.map(({ result }) => [reasonOf(result), result.notes.error!.message]);
  assert.deepEqual(
    told.map(([reason]) => reason),
    ["template_not_found", "input_validation_failure", "input_validation_failure"],
  );
  assert.match(told[1]![1]!, /Unrecognized key: "typo"/);
  assert.match(told[1]![1]!, /max_depth/);
  assert.match(told[2]![1]!, /CONTINUATION needs notes\.subtask_request/);
});

test("inputs that are huge, endless, or no JSON are refused before the child begins", async () => {
  const endless: Record<string, unknown> = {};
  endless["self"] = endless;
  for (const [inputs, why] of [
    [{ text: "x".repeat(2_000_000) }, /longer than 1,000,000 characters/],
    [endless, /deeper than JSON/],
    [{ when: { at: Number.NaN } }, /at is NaN/],
    [{ f: () => 1 }, /f is function/],
    [{ m: new Map() }, /m is a Map/],
  ] as const) {
    const seen: HandledTaskResult[] = [];
    const { handler, of } = teamOf({
      parent: once("child", { inputs }, (result) => String(seen.push(result))),
      child: () => "never",
    });
    await executeTask(template("parent"), {}, { handler, registry: registryOf(template("child")) });
    assert.equal(reasonOf(seen[0]!), "input_validation_failure");
    assert.match(seen[0]!.notes.error!.message, why);
    assert.equal(of("child").length, 0);
  }
});

test("inputs that a template needs must be there", async () => {
  const { handler } = teamOf({ a: () => "done" });
  const needing = template("a", { inputs: { code: { required: true } } });
  assert.match(
    (await executeTask(needing, {}, { handler })).notes.error!.message,
    /code is missing, which a needs/,
  );
  assert.equal((await executeTask(needing, { code: 1 }, { handler })).status, "COMPLETE");
});

test("a result that is too long is cut, and the whole is kept as an artefact", async () => {
  const artefacts = new MemoryArtefacts();
  const whole = `${"päge ".repeat(5_000)}the end`;
  const { handler, of } = teamOf({
    parent: once("child", {}, () => "done"),
    child: () => ({ content: whole, status: "COMPLETE", notes: { log: whole } }),
  });
  const registry = registryOf(template("child"));
  await executeTask(template("parent"), {}, { handler, registry, artefacts, limits: { resultTokens: 100 } });
  const { content, notes } = of("parent")[1]!.responses[0]!.result;
  assert.ok(content.length < 600);
  assert.match(
    content,
    /\[cut: about 100 of [\d,]+ tokens are shown; the whole is kept as artefact-[\da-f]{16}\]$/,
  );
  assert.equal(artefacts.get(String(notes["artefact"])), whole);
  assert.match(String(notes["notes_left_out"]), /the whole is kept as artefact-/);
  assert.doesNotMatch(content, /\uFFFD/);
});

test("another handler answers for templates that name it; one that is not there is refused", async () => {
  const main = teamOf({ parent: once("review") });
  const reviewer = teamOf({ review: () => "looks good" });
  const registry = registryOf(template("review", { handler: "reviewer" }));
  const options = { handler: main.handler, registry };
  const result = await executeTask(
    template("parent"),
    {},
    { ...options, handlers: { reviewer: reviewer.handler } },
  );
  assert.equal(result.content, "with looks good");
  await executeTask(template("parent"), {}, options);
  assert.match(main.record.at(-1)!.responses[0]!.result.notes.error!.message, /no handler "reviewer"/);
});

test("a session is told by its signal that its task has ended, so that it lets go of what it holds", async () => {
  const signals: AbortSignal[] = [];
  const { handler } = teamOf({ parent: once("child"), child: () => "done" });
  const noting = {
    ...handler,
    open: (...given: Parameters<typeof handler.open>) => {
      signals.push(given[2]);
      return handler.open(...given);
    },
    prompt: (...given: Parameters<typeof handler.prompt>) => {
      assert.equal(signals[0]?.aborted, false);
      return handler.prompt(...given);
    },
  };
  const registry = registryOf(template("child"));
  const result = await executeTask(template("parent"), {}, { handler: noting, registry });
  assert.equal(result.status, "COMPLETE");
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, true],
  );
});

test("a child that changes its inputs changes none of its parent's, nor of its siblings'", async () => {
  const given = { list: ["a"], deep: { n: 1 } };
  const { handler, of } = teamOf({
    parent: ({ task, responses }) => {
      const inputs = task.inputs;
      return responses.length < 2 ? spawning("child", { inputs }) : JSON.stringify(inputs);
    },
    child: ({ task }) => {
      const seen = JSON.stringify(task.inputs);
      (task.inputs["list"] as string[]).push("b");
      (task.inputs["deep"] as { n: number }).n = 2;
      return seen;
    },
  });
  const { content } = await executeTask(template("parent"), given, {
    handler,
    registry: registryOf(template("child")),
  });
  assert.deepEqual(JSON.parse(content), { list: ["a"], deep: { n: 1 } });
  assert.deepEqual(given, { list: ["a"], deep: { n: 1 } });
  assert.equal(of("parent")[2]!.responses[1]!.result.content, of("parent")[1]!.responses[0]!.result.content);
});

test("a type that no template has is answered with those that may have been meant", async () => {
  const { handler, of } = teamOf({ parent: once("verifcation") });
  const registry = registryOf(template("verification"));
  await executeTask(template("parent"), {}, { handler, registry });
  const { error } = of("parent")[1]!.responses[0]!.result.notes;
  assert.match(error!.message, /no template fits type "verifcation": .*; did you mean verification\?/);
  assert.deepEqual(error!.details!["near"], ["verification"]);
});
