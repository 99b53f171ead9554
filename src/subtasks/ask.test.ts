/** Tests how a task's question reaches its parents and a person, and when its default is used. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { once, reasonOf, registryOf, type Turn, teamOf, template } from "../../test/support/subtasks.ts";
import { ManualClock } from "../adapters/clocks/manual.ts";
import { executeTask } from "./execute.ts";
import type { SubtaskEvent, TaskQuestion } from "./live-task.ts";

/** A turn that asks once, then reports the answer. */
const asking =
  (text: string, question: unknown = undefined): Turn =>
  ({ responses }) => {
    const answer = responses.at(-1)?.result;
    if (answer === undefined)
      return { content: text, status: "NEEDS_INPUT", notes: question === undefined ? {} : { question } };
    return answer.status === "COMPLETE"
      ? `${answer.content} (by ${answer.notes["answered_by"]})`
      : reasonOf(answer);
  };

const isQuestion = ({ responses }: { readonly responses: readonly { readonly name: string }[] }) =>
  responses.at(-1)?.name.startsWith("question:");

/** A turn that spawns a subtask, treats the subtask's question as `meet` says, and completes with its result. */
const parentOf =
  (type: string, meet: Turn): Turn =>
  (turn) => {
    if (turn.responses.length === 0) return once(type)(turn);
    if (isQuestion(turn)) return meet(turn);
    return `heard ${turn.responses.at(-1)!.result.content}`;
  };

const registry = registryOf(template("middle"), template("child"));

test("a child asks, its parent answers, and the same child session goes on", async () => {
  const { handler, of } = teamOf({
    parent: parentOf("child", ({ responses }) => `blue, for ${responses.at(-1)!.result.notes["task_id"]}`),
    child: asking("Which colour?"),
  });
  const asked: TaskQuestion[] = [];
  const ask = async (question: TaskQuestion) => String(asked.push(question));
  const { content } = await executeTask(template("parent"), {}, { handler, registry, ask });
  assert.equal(content, "heard blue, for t.1 (by t)");
  assert.equal(asked.length, 0); // No person was asked.
  const [first, second] = of("child");
  assert.equal(first!.context, second!.context);
  const met = of("parent")[1]!;
  assert.deepEqual(
    [met.responses[0]!.name, met.responses[0]!.result.content],
    ["question:t.1", "Which colour?"],
  );
});

test("a parent passes the question on, in its own words, up to a person; all above hear the answer", async () => {
  const { handler, of } = teamOf({
    parent: parentOf("middle", () => ({ status: "NEEDS_INPUT", content: "" })),
    middle: parentOf("child", () => ({ status: "NEEDS_INPUT", content: "Which colour has the login page?" })),
    child: asking("Which colour?"),
  });
  const asked: TaskQuestion[] = [];
  const ask = async (question: TaskQuestion) => {
    asked.push(question);
    return "green";
  };
  const { content } = await executeTask(template("parent"), {}, { handler, registry, ask });
  assert.equal(content, "heard heard green (by person)");
  assert.deepEqual(asked, [
    { task: "t.1.1", text: "Which colour has the login page?", waitMs: 600_000, passedOnBy: ["t.1", "t"] },
  ]);
  for (const name of ["parent", "middle"])
    assert.deepEqual(
      of(name)
        .at(-1)!
        .responses.map(({ name }) => name)
        .slice(0, 2),
      [name === "parent" ? "question:t.1.1" : "question:t.1.1", "ask"],
    );
});

test("a question that nobody answers gets its default after its time, and not before", async () => {
  const clock = new ManualClock();
  const events: SubtaskEvent[] = [];
  const { handler } = teamOf({ child: asking("Which colour?", { default: "red", wait_ms: 30_000 }) });
  let given: AbortSignal | undefined;
  const ask = (_: TaskQuestion, signal: AbortSignal) => {
    given = signal;
    return new Promise<string>(() => {});
  };
  const onEvent = (event: SubtaskEvent) => events.push(event);
  const running = executeTask(template("child"), {}, { handler, clock, ask, onEvent });
  await new Promise(setImmediate);
  assert.equal(given?.aborted, false);
  assert.equal(clock.next(), 30_000);
  clock.step();
  assert.equal((await running).content, "red (by default)");
  assert.ok(given?.aborted);
  assert.deepEqual(
    events.map(({ is }) => is),
    ["spawned", "asked", "answered", "ended"],
  );
});

test("without a person to ask the default counts at once, and without a default the task hears that there is no answer", async () => {
  const withDefault = teamOf({ child: asking("Which colour?", { default: "red" }) });
  assert.equal(
    (await executeTask(template("child"), {}, { handler: withDefault.handler })).content,
    "red (by default)",
  );
  const without = teamOf({ child: asking("Which colour?") });
  assert.equal(
    (await executeTask(template("child"), {}, { handler: without.handler })).content,
    "execution_timeout",
  );
});

test("a person who cannot be reached is no answer, and said", async () => {
  const { handler } = teamOf({ child: asking("Which colour?") });
  const ask = async () => Promise.reject(new Error("no terminal"));
  const { content, notes } = await executeTask(template("child"), {}, { handler, ask });
  assert.equal(content, "execution_timeout");
  assert.match(String(notes["warnings"]), /could not be put: no terminal/);
});

test("a parent that fails to answer leaves the child its default", async () => {
  const { handler } = teamOf({
    parent: parentOf("child", () => ({ status: "FAILED", content: "no idea" })),
    child: asking("Which colour?", { default: "red" }),
  });
  assert.equal(
    (await executeTask(template("parent"), {}, { handler, registry })).content,
    "heard red (by default)",
  );
});

test("a parent may spawn another subtask to find the answer, which may ask as well", async () => {
  const { handler } = teamOf({
    parent: (turn) => {
      const last = turn.responses.at(-1);
      if (last?.name === "question:t.1") return once("middle")({ ...turn, responses: [] });
      if (last?.name === "question:t.2") return "on page 3";
      if (last?.name === "subtask:middle") return `looked up: ${last.result.content}`;
      return last === undefined ? once("child")(turn) : last.result.content;
    },
    middle: asking("Where?"),
    child: asking("Which colour?"),
  });
  const { content } = await executeTask(template("parent"), {}, { handler, registry });
  assert.equal(content, "looked up: on page 3 (by t) (by t)");
});

test("siblings in a group ask their parent one after the other", async () => {
  let atOnce = 0;
  let most = 0;
  const { handler } = teamOf({
    parent: async (turn) => {
      if (turn.responses.length === 0) return once("map", { inputs: { items: [1, 2, 3] } })(turn);
      if (!isQuestion(turn)) return turn.responses.at(-1)!.result.content;
      most = Math.max(most, ++atOnce);
      await new Promise(setImmediate);
      atOnce -= 1;
      return turn.responses.at(-1)!.result.content.toUpperCase();
    },
    each: (turn) => asking(`colour ${String(turn.task.inputs["item"])}`)(turn),
  });
  const map = template("map", { each: template("each"), over: "items" });
  const { content } = await executeTask(template("parent"), {}, { handler, registry: registryOf(map) });
  assert.deepEqual(JSON.parse(content), ["COLOUR 1 (by t)", "COLOUR 2 (by t)", "COLOUR 3 (by t)"]);
  assert.equal(most, 1);
});

test("a cancel while a person is asked ends the task", async () => {
  const stop = new AbortController();
  const { handler } = teamOf({
    parent: parentOf("child", () => ({ status: "NEEDS_INPUT" })),
    child: asking("Which colour?", { default: "red" }),
  });
  const ask = () => {
    stop.abort(new Error("enough"));
    return new Promise<string>(() => {});
  };
  const result = await executeTask(template("parent"), {}, { handler, registry, signal: stop.signal, ask });
  assert.equal(reasonOf(result), "execution_halted");
});
