/** Tests plain functions as agents: their input, their answers, thrown errors, time limits and stops. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failureOf, planAsk, textOf, workAsk } from "../../../test/contracts/agent.ts";
import { isLoss } from "../../core/failure.ts";
import { UnreachableError, type WorkFunction } from "../../ports/agent-functions.ts";
import { FunctionAgent } from "./functions.ts";

const quiet = new AbortController().signal;

/** Runs a work function that may return anything, whatever its type says. */
const worked = (work: (...given: Parameters<WorkFunction>) => unknown, signal = quiet, maxMs = 30_000) =>
  new FunctionAgent({ work: work as WorkFunction }).turn({ ...workAsk("a folder"), maxMs }, signal);

const waiting = ({ signal }: { readonly signal: AbortSignal }) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

describe("a function as an agent", () => {
  it("gets its brief, its folder and its environment, and its value becomes words with their cost", async () => {
    const said = await worked(({ task, attempt }, { folder, environment }) => ({
      status: "complete",
      summary: `${task}.${attempt} in ${folder} with ${Object.keys(environment)}`,
      spent: { tokens: 7 },
    }));
    assert.deepEqual(JSON.parse(textOf(said)), {
      status: "complete",
      summary: "t.1.1 in a folder with PATH",
      spent: { tokens: 7 },
    });
    assert.deepEqual(said.spent, { tokens: 7 });
  });

  it("says a text as it is, and nothing where nothing was returned", async () => {
    assert.equal(textOf(await worked(async () => "Done!")), "Done!");
    assert.equal(textOf(await worked(() => undefined)), "");
    const planner = new FunctionAgent({ plan: ({ goal }) => ({ scratchpad: goal, tasks: [] }) });
    assert.equal(textOf(await planner.turn(planAsk(""), quiet)), '{"scratchpad":"make a","tasks":[]}');
  });

  it("is to blame for what it throws, now or later, and for values that are no answer", async () => {
    const circle: Record<string, unknown> = {};
    circle["itself"] = circle;
    const odd: readonly [() => unknown, RegExp][] = [
      [() => assert.fail("oh no"), /the work function threw: oh no/],
      [() => Promise.reject(new Error("later")), /threw: later/],
      [() => Promise.reject(undefined), /threw: undefined/],
      [() => 42, /returned a number/],
      [() => [{ status: "complete" }], /returned a list/],
      [() => circle, /cannot be written as JSON/],
      [() => ({ toJSON: () => undefined }), /cannot be written as JSON/],
    ];
    for (const [work, words] of odd) {
      const { kind, message } = failureOf(await worked(work));
      assert.equal(kind, "agent-failed");
      assert.match(message, words);
    }
  });

  it("tells an outage from a failure", async () => {
    const { kind, message } = failureOf(await worked(() => Promise.reject(new UnreachableError("no route"))));
    assert.deepEqual(
      [kind, message],
      ["agent-unreachable", "the work function could not reach its model: no route"],
    );
  });

  it("is told when its time is up, which is nobody's fault", async () => {
    const { kind } = failureOf(await worked((_, place) => waiting(place), quiet, 20));
    assert.equal(kind, "timed-out");
  });

  it("is told to stop, and what it says then is not believed: it may have been cut off", async () => {
    const stop = new AbortController();
    const ended = worked(async (_, place) => {
      const told = waiting(place).catch((reason) => reason);
      stop.abort("enough");
      assert.equal(await told, "enough");
      return { status: "complete", summary: "half of it" };
    }, stop.signal);
    assert.equal(failureOf(await ended).kind, "interrupted");
  });

  it("does not begin when it was stopped before", async () => {
    let calls = 0;
    const said = await worked(() => {
      calls += 1;
    }, AbortSignal.abort());
    assert.ok(isLoss(failureOf(said)));
    assert.equal(calls, 0);
  });

  it("is let go some seconds after it was stopped, if it goes on", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const stop = new AbortController();
    const ended = worked(() => new Promise(() => {}), stop.signal);
    stop.abort();
    t.mock.timers.tick(9_999);
    assert.equal(
      await Promise.race([ended.then(() => "let go"), Promise.resolve("waited for")]),
      "waited for",
    );
    t.mock.timers.tick(1);
    assert.equal(failureOf(await ended).kind, "interrupted");
  });

  it("has nothing to give to the next engine", async () => {
    assert.equal(await new FunctionAgent({}).collect(), undefined);
  });

  it("says so where there is no function for what is asked", async () => {
    assert.match(failureOf(await new FunctionAgent({}).turn(planAsk(""), quiet)).message, /there is none/);
  });
});
