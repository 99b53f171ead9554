/** Tests the limits of subtasks: time, tasks, tokens, budgets and cancellation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { once, reasonOf, registryOf, spawning, teamOf, template } from "../../test/support/subtasks.ts";
import { ManualClock } from "../adapters/clocks/manual.ts";
import { executeTask } from "./execute.ts";
import { limitsOf } from "./limits.ts";
import type { SubtaskEvent } from "./live-task.ts";

test("a cancel reaches the third level, and a result that comes later is shown", async () => {
  const events: SubtaskEvent[] = [];
  const stop = new AbortController();
  const answer = Promise.withResolvers<string>();
  const { handler, of } = teamOf({
    a: once("b"),
    b: once("c"),
    c: () => {
      stop.abort(new Error("enough"));
      return answer.promise;
    },
  });
  const registry = registryOf(template("b"), template("c"));
  const options = { handler, registry, signal: stop.signal, onEvent: (e: SubtaskEvent) => events.push(e) };
  const result = await executeTask(template("a"), {}, options);
  assert.equal(reasonOf(result), "execution_halted");
  assert.match(result.notes.error!.message, /enough/);
  for (const name of ["a", "b", "c"]) assert.ok(of(name)[0]!.signal.aborted, name);
  assert.deepEqual([of("a").length, of("b").length], [1, 1]); // No task was prompted again.
  answer.resolve("too late");
  await answer.promise;
  await new Promise(setImmediate);
  const late = events.find((event) => event.is === "late");
  assert.deepEqual([late?.id, late?.result.content], ["t.1.1", "too late"]);
});

test("a task that is cancelled before it begins calls nobody", async () => {
  const { handler, record } = teamOf({ a: () => "never" });
  const result = await executeTask(template("a"), {}, { handler, signal: AbortSignal.abort() });
  assert.equal(reasonOf(result), "execution_halted");
  assert.equal(record.length, 0);
});

test("a turn that takes too long is over for its task alone; its parent goes on", async () => {
  const clock = new ManualClock();
  const { handler, of } = teamOf({
    parent: once("child", {}, (result) => `heard: ${result.notes.error?.details?.originalError?.message}`),
    child: () => new Promise(() => {}),
  });
  const registry = registryOf(template("child"));
  const running = executeTask(
    template("parent"),
    {},
    { handler, registry, clock, limits: { turnMs: 5_000 } },
  );
  await new Promise(setImmediate);
  assert.equal(clock.next(), 5_000);
  clock.step();
  assert.equal((await running).content, "heard: the handler of t.1: no answer within 5000 ms");
  assert.ok(of("child")[0]!.signal.aborted);
});

test("a chain that has used its tasks or its tokens gets no more, and says how many", async () => {
  const { handler } = teamOf({
    parent: ({ responses }) => (responses.length < 5 ? spawning("child") : "done"),
    child: () => ({ content: "x", status: "COMPLETE", notes: { usage: { tokens: 100 } } }),
  });
  const registry = registryOf(template("child"));
  const few = await executeTask(
    template("parent"),
    {},
    { handler, registry, limits: { chain: { tasks: 3 } } },
  );
  assert.equal(few.status, "COMPLETE"); // The parent was told of it and continued.
  const poor = await executeTask(
    template("parent"),
    {},
    { handler, registry, limits: { chain: { tokens: 250 } } },
  );
  assert.equal(reasonOf(poor), "tokens");
  assert.match(poor.notes.error!.message, /no tokens left: \d+ of 250 used/);
});

test("a chain's time is over for all of its tasks at once", async () => {
  const clock = new ManualClock();
  const { handler } = teamOf({ parent: once("child"), child: () => new Promise(() => {}) });
  const registry = registryOf(template("child"));
  const limits = { turnMs: 60_000, chain: { ms: 1_000 } };
  const running = executeTask(template("parent"), {}, { handler, registry, clock, limits });
  await new Promise(setImmediate);
  assert.equal(clock.next(), 1_000);
  clock.step();
  assert.equal(reasonOf(await running), "time");
});

test("a template's budget is taken from what its parent has left, and counts there", async () => {
  const seen: string[] = [];
  const { handler } = teamOf({
    parent: ({ responses }) => {
      if (responses.length === 2) return "done";
      return spawning("child", { inputs: { n: responses.length } });
    },
    child: ({ task, responses }) => {
      if (responses.length < 3) return spawning("leaf", { inputs: { n: responses.length } });
      const refused = responses.filter(({ result }) => result.status === "FAILED").length;
      seen.push(`${task.inputs["n"]}: ${refused} refused`);
      return "done";
    },
    leaf: () => "leaf",
  });
  const registry = registryOf(template("child", { budget: { tasks: 3 } }), template("leaf"));
  await executeTask(template("parent"), {}, { handler, registry, limits: { chain: { tasks: 5 } } });
  // Each child may run 2 leaves of its own budget; the second child finds 1 task left in the chain, which is itself.
  assert.deepEqual(seen, ["0: 1 refused", "1: 3 refused"]);
});

test("zero is a limit, and what is no number is a mistake of the program", () => {
  assert.equal(limitsOf({ maxDepth: 0 }).maxDepth, 0);
  assert.equal(limitsOf({ chain: { tasks: 1 } }).chain.ms, 3_600_000);
  assert.throws(() => limitsOf({ turnMs: Number.NaN }), /turnMs must be a number from 0 on, not NaN/);
  assert.throws(() => limitsOf({ chain: { tokens: -1 } }), /tokens must be a number/);
});

test("a limit that does not exist is named with those that may be meant, and so is a missing handler", async () => {
  assert.throws(
    () => limitsOf({ maxDeph: 3 } as never),
    /limits: there is no maxDeph; did you mean maxDepth\?/,
  );
  assert.throws(
    () => limitsOf({ chain: { seconds: 1 } } as never),
    /limits\.chain: there is no seconds; there are/,
  );
  assert.throws(() => limitsOf(null as never), /limits: must be an object, not null/);
  assert.throws(() => limitsOf({ chain: 5 } as never), /limits\.chain: must be an object, not 5/);
  await assert.rejects(executeTask(template("a"), {}, {} as never), /options\.handler is missing/);
  await assert.rejects(executeTask(template("a"), {}, undefined as never), /options\.handler is missing/);
  const handler = { open: () => ({}) } as never;
  await assert.rejects(
    executeTask(template("a"), {}, { handler }),
    /options\.handler\.prompt must be a function/,
  );
});

test("a child that was given all the time that its parent has ends with it, also if its timer is early", async () => {
  for (const ms of [1_000, 5_000, undefined]) {
    const clock = new ManualClock(0.1);
    const early = {
      now: () => clock.now(),
      wakeAt: (time: number, wake: () => void) => clock.wakeAt(time - 0.4, wake),
    };
    const { handler, of } = teamOf({ parent: once("child"), child: () => new Promise(() => {}) });
    const registry = registryOf(
      template("child", { budget: { ...(ms !== undefined && { ms }), tokens: 10_000 } }),
    );
    const limits = { turnMs: 60_000, chain: { ms: 1_000 } };
    const running = executeTask(template("parent"), {}, { handler, registry, clock: early, limits });
    await new Promise(setImmediate);
    clock.sleep(0);
    clock.step();
    assert.equal(reasonOf(await running), "time", `budget ${ms}`);
    assert.ok(clock.now() < 1_001, `it ended at ${clock.now()}`);
    assert.equal(of("parent").length, 1, "its parent is not prompted again");
  }
});

test("a child that was given less time than its parent has ends alone", async () => {
  const clock = new ManualClock();
  const { handler, of } = teamOf({
    parent: once("child", {}, () => "went on"),
    child: () => new Promise(() => {}),
  });
  const registry = registryOf(template("child", { budget: { ms: 500 } }));
  const running = executeTask(
    template("parent"),
    {},
    { handler, registry, clock, limits: { chain: { ms: 1_000 } } },
  );
  await new Promise(setImmediate);
  clock.step();
  assert.deepEqual([(await running).content, of("parent").length], ["went on", 2]);
});
