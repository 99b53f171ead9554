/** Tests retries, timeouts, aborts and the shared context of delegated tasks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { TaskGraph } from "../graph/task-graph.ts";
import type { Attempt, Timing } from "./attempt.ts";
import { DelegationEngine, type DelegationOptions } from "./delegation-engine.ts";

const TASK = { id: "t1", description: "Debug it" };
const fail = (error: string, output = "") => ({ success: false, output, duration: 1, error });
const succeed = (output: string) => ({ success: true, output, duration: 1 });

/** A clock that a test moves: a sleep ends when `pass` has gone beyond it. */
class ManualTime implements Timing {
  #now = 0;
  #sleepers: { readonly until: number; readonly wake: () => void }[] = [];
  readonly asked: number[] = [];
  #onSleep: (() => void) | undefined;

  now = () => this.#now;
  sleep = (ms: number) => {
    this.asked.push(ms);
    this.#onSleep?.();
    return new Promise<void>((wake) => this.#sleepers.push({ until: this.#now + ms, wake }));
  };
  pass(ms: number) {
    this.#now += ms;
    for (const { until, wake } of this.#sleepers) if (until <= this.#now) wake();
  }
  nextSleep = () =>
    new Promise<void>((resolve) => {
      this.#onSleep = resolve;
    });
}

/** An engine whose waits take no time and are recorded. */
function instant(options: DelegationOptions = {}) {
  const delays: number[] = [];
  const sleep = async (ms: number) => void delays.push(ms);
  const timing = { now: () => 0, sleep };
  const engine = new DelegationEngine({ timing, random: () => 0, attemptTimeoutMs: Infinity, ...options });
  return { engine, delays };
}

test("a success at once has no retries, and its output is shared", async () => {
  const { engine, delays } = instant();
  const outcome = await engine.executeWithRetry(TASK, () => succeed("found it"));
  assert.deepEqual(outcome, {
    taskId: "t1",
    subagent: "debugger",
    result: { success: true, output: "found it", duration: 1 },
    retries: 0,
    failedAttempts: [],
  });
  assert.deepEqual(delays, []);
  assert.equal(engine.getSharedContext().get("t1"), "found it");
});

test("retries are counted, not attempts, and each waits longer than the one before", async () => {
  const { engine, delays } = instant();
  const attempts: number[] = [];
  const { result, retries } = await engine.executeWithRetry(TASK, ({ attempt }) => {
    attempts.push(attempt);
    return attempt < 4 ? fail("not yet") : succeed("done");
  });
  assert.equal(result.success, true);
  assert.equal(retries, 3);
  assert.deepEqual(attempts, [1, 2, 3, 4]);
  assert.deepEqual(delays, [1000, 2000, 4000]);
});

test("after the last retry the last failure is the result, and nothing is shared", async () => {
  const { engine } = instant({ maxRetries: 2 });
  const { result, retries, failedAttempts } = await engine.executeWithRetry(TASK, ({ attempt }) =>
    fail(`no ${attempt}`, attempt === 3 ? "" : `part ${attempt}`),
  );
  assert.deepEqual({ retries, result }, { retries: 2, result: fail("no 3", "part 2") });
  assert.deepEqual(failedAttempts, [
    { attempt: 1, error: "no 1", output: "part 1", duration: 1 },
    { attempt: 2, error: "no 2", output: "part 2", duration: 1 },
    { attempt: 3, error: "no 3", output: "", duration: 1 },
  ]);
  assert.equal(engine.getSharedContext().has("t1"), false);
});

test("with maxRetries 0 there is one attempt", async () => {
  const { engine, delays } = instant({ maxRetries: 0 });
  const { retries, failedAttempts } = await engine.executeWithRetry(TASK, () => fail("no"));
  assert.deepEqual([retries, failedAttempts.length, delays.length], [0, 1, 0]);
});

test("an attempt sees what the earlier ones left, as it was when it began", async () => {
  const { engine } = instant();
  const seen: Attempt[] = [];
  await engine.executeWithRetry(TASK, (attempt) => {
    seen.push(attempt);
    return attempt.attempt === 3 ? succeed("") : fail("no", `part ${attempt.attempt}`);
  });
  assert.deepEqual(
    seen.map(({ earlier }) => earlier.map(({ output }) => output)),
    [[], ["part 1"], ["part 1", "part 2"]],
  );
});

for (const [how, executor] of [
  [
    "throws",
    () => {
      throw new Error("boom");
    },
  ],
  ["rejects", () => Promise.reject(new Error("boom"))],
] as const)
  test(`an executor that ${how} has failed an attempt`, async () => {
    const { engine } = instant({ maxRetries: 1 });
    const { result, retries } = await engine.executeWithRetry(TASK, executor);
    assert.deepEqual(
      { success: result.success, error: result.error, retries },
      { success: false, error: "boom", retries: 1 },
    );
  });

test("what a thrown error carries as output is kept", async () => {
  const { engine } = instant({ maxRetries: 0 });
  const thrown = Object.assign(new Error("boom"), { output: "half of it" });
  const { result } = await engine.executeWithRetry(TASK, () => Promise.reject(thrown));
  assert.equal(result.output, "half of it");
});

test("a failure that is returned without output has what was kept", async () => {
  const { engine } = instant({ maxRetries: 0 });
  const { result } = await engine.executeWithRetry(TASK, ({ keep }) => {
    keep("so far");
    return fail("no");
  });
  assert.equal(result.output, "so far");
});

test("a failure marked permanent, returned or thrown, is not tried again", async () => {
  for (const executor of [
    () => ({ ...fail("no access"), permanent: true }),
    () => Promise.reject(Object.assign(new Error("no access"), { permanent: true })),
  ]) {
    const { engine, delays } = instant();
    const { result, retries } = await engine.executeWithRetry(TASK, executor);
    assert.deepEqual([result.error, retries, delays.length], ["no access", 0, 0]);
  }
});

test("an answer that is no result is a failed attempt", async () => {
  const { engine } = instant({ maxRetries: 0 });
  const { result } = await engine.executeWithRetry(TASK, () => undefined as never);
  assert.match(result.error ?? "", /must answer \{success, output\}; got undefined/);
});

test("whatever is thrown or answered is a failed result, also what cannot be shown", async () => {
  const { engine } = instant({ maxRetries: 0 });
  const hostile: object = Object.create(null, { permanent: { get: () => assert.fail("asked for") } });
  const thrown = await engine.executeWithRetry(TASK, () => Promise.reject(hostile));
  const answered = await engine.executeWithRetry(TASK, () => hostile as never);
  for (const { result } of [thrown, answered]) assert.match(result.error ?? "", /cannot be shown/);
});

test("a failure always has a reason, and an answer without duration gets the measured one", async () => {
  const time = new ManualTime();
  const engine = new DelegationEngine({ timing: time, maxRetries: 0 });
  const { result } = await engine.executeWithRetry(TASK, () => {
    time.pass(40);
    return { success: false };
  });
  assert.deepEqual(result, { success: false, output: "", duration: 40, error: "failed without a reason" });
});

test("an attempt that takes too long is told, fails with what it kept, and is tried again", async () => {
  const time = new ManualTime();
  const engine = new DelegationEngine({
    timing: time,
    attemptTimeoutMs: 500,
    retryDelayMs: 10,
    random: () => 0,
  });
  const signals: AbortSignal[] = [];
  const limited = time.nextSleep();
  const outcome = engine.executeWithRetry(TASK, ({ attempt, signal, keep }) => {
    signals.push(signal);
    if (attempt === 2) return succeed("in time");
    keep("first");
    keep("first and second");
    return new Promise(() => {});
  });
  await limited;
  const pausing = time.nextSleep();
  time.pass(500);
  await pausing;
  time.pass(10);
  const { result, retries, failedAttempts } = await outcome;
  assert.deepEqual([result.output, retries], ["in time", 1]);
  assert.deepEqual(failedAttempts, [
    { attempt: 1, error: "no answer within 500 ms", output: "first and second", duration: 500 },
  ]);
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, false],
  );
  assert.deepEqual(time.asked, [500, 10, 500]);
});

test("an answer after the timeout changes nothing, not even by being a rejection", async () => {
  const time = new ManualTime();
  const engine = new DelegationEngine({ timing: time, attemptTimeoutMs: 500, maxRetries: 0 });
  const late = Promise.withResolvers<never>();
  const limited = time.nextSleep();
  const outcome = engine.executeWithRetry(TASK, () => late.promise);
  await limited;
  time.pass(500);
  assert.match((await outcome).result.error ?? "", /no answer within/);
  late.reject(new Error("too late"));
});

test("an abort during an attempt ends it with what it kept and why; the executor hears of it", async () => {
  const { engine } = instant();
  const caller = new AbortController();
  const started = Promise.withResolvers<AbortSignal>();
  const outcome = engine.executeWithRetry(
    TASK,
    ({ signal, keep }) => {
      keep("so far");
      started.resolve(signal);
      return new Promise(() => {});
    },
    { signal: caller.signal },
  );
  const heard = await started.promise;
  caller.abort(new Error("the user left"));
  const { result, retries } = await outcome;
  assert.deepEqual(
    [result.success, result.error, result.output, retries],
    [false, "cancelled: the user left", "so far", 0],
  );
  assert.equal(heard.reason, caller.signal.reason);
});

test("an abort while waiting for a retry starts no further attempt, and keeps the last output", async () => {
  const time = new ManualTime();
  const engine = new DelegationEngine({ timing: time, attemptTimeoutMs: Infinity });
  const caller = new AbortController();
  const pausing = time.nextSleep();
  let attempts = 0;
  const outcome = engine.executeWithRetry(
    TASK,
    () => {
      attempts += 1;
      return fail("no", "part");
    },
    { signal: caller.signal },
  );
  await pausing;
  caller.abort("enough");
  const { result, retries } = await outcome;
  assert.deepEqual([attempts, retries, result.error, result.output], [1, 0, "cancelled: enough", "part"]);
});

test("an abort that comes with the failure itself does not wait for the retry", async () => {
  const time = new ManualTime();
  const engine = new DelegationEngine({ timing: time, attemptTimeoutMs: Infinity });
  const caller = new AbortController();
  const executor = async () => {
    queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => caller.abort("now"))));
    return fail("no");
  };
  const { retries } = await engine.executeWithRetry(TASK, executor, { signal: caller.signal });
  assert.equal(retries, 0);
});

test("a signal that is aborted already starts nothing", async () => {
  const { engine } = instant();
  const { result, retries } = await engine.executeWithRetry(TASK, () => assert.fail("started"), {
    signal: AbortSignal.abort("never mind"),
  });
  assert.deepEqual([result.error, retries], ["cancelled: never mind", 0]);
});

test("options that make no sense are refused when the engine is made", () => {
  assert.throws(() => new DelegationEngine({ maxRetries: -1 }), /maxRetries must be/);
  assert.throws(() => new DelegationEngine({ backoffMultiplier: Number.NaN }), /backoffMultiplier must be/);
  assert.throws(() => new DelegationEngine({ maxContextChars: 10 }), /maxContextChars must be .* got 10/);
  assert.throws(() => new DelegationEngine({ maxContextChars: Number.NaN }), /maxContextChars/);
});

test("the shared context is one live map, and a dependent is handed its part of it", async () => {
  const { engine } = instant({ maxContextChars: 300 });
  engine.getSharedContext().set("seen by all", 1);
  await engine.executeWithRetry(TASK, () => succeed("x".repeat(1000)));
  assert.equal(engine.getSharedContext(), engine.getSharedContext());
  const { text, cut, missing } = engine.contextFor({ dependencies: ["t1", "t0"] });
  assert.ok(text.length <= 300 && text.startsWith("--- output of t1 ---\nxxx"));
  assert.deepEqual({ cut, missing }, { cut: ["t1"], missing: ["t0"] });
});

test("with the default clock a wait is real, and ends with an abort", async () => {
  const engine = new DelegationEngine({ retryDelayMs: 60_000, jitter: 0 });
  const caller = new AbortController();
  const executor = () => {
    setImmediate(() => caller.abort("enough"));
    return fail("no");
  };
  const { retries } = await engine.executeWithRetry(TASK, executor, { signal: caller.signal });
  assert.equal(retries, 0);
});

test("a graph of tasks runs through it, each told what those before it found", async () => {
  const { engine } = instant();
  const graph = new TaskGraph([
    { id: "find", description: "Debug the crash" },
    { id: "check", description: "Review the change", dependencies: ["find"] },
  ]);
  const told: string[] = [];
  const summary = await graph.execute(async (task, { signal }) => {
    const executor = ({ subagent, attempt }: Attempt) => {
      told.push(`${subagent}: ${engine.contextFor(task).text}`);
      return attempt === 1 ? fail("flaky") : succeed(`${task.id} done`);
    };
    return (await engine.executeWithRetry(task, executor, { signal })).result;
  });
  assert.equal(summary.success, true);
  assert.deepEqual(told, [
    "debugger: ",
    "debugger: ",
    "code-reviewer: --- output of find ---\nfind done\n",
    "code-reviewer: --- output of find ---\nfind done\n",
  ]);
});
