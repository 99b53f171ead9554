/** Runs a sample of `npm run chaos`, because all of it takes minutes. */
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { clockTrial } from "./clock.ts";
import { overload } from "./overload.ts";
import { type Truth, trial, undisturbed } from "./trial.ts";

describe("a run that is killed with SIGKILL and resumed", () => {
  let truth: Truth;
  before(async () => {
    truth = await undisturbed();
  });

  it("is a real one: a conflict, a red gate, a worker that died, a batch, a bisection, a sweep, a pause, a steer", async () => {
    assert.ok(truth.events >= 60, `only ${truth.events} events`);
    assert.deepEqual(truth.failures, ["conflict", "gate-red", "incomplete", "interrupted"]);
    assert.ok(truth.batch >= 2, `at most ${truth.batch} in a batch`);
    assert.deepEqual(truth.moments, [
      ...["again", "base", "bisect", "open"].map((phase) => `landing: ${phase}`),
      ...["repair.planned", "run.closed", "run.opened", "run.paused", "run.resumed", "run.steered"],
    ]);
  });

  it("comes to the same end when it dies twice", async () => {
    const deaths = [0.35, 0.8].map((part) => ({ afterEvent: Math.ceil(truth.events * part) }));
    const { kills, violations } = await trial(deaths, truth);
    assert.deepEqual(violations, []);
    assert.equal(kills, 2);
  });

  it("comes to the same end when the clock is a month ahead for a while, and it dies in that time", async () => {
    const away = { afterMs: truth.ms * 0.4, setMs: 30 * 24 * 3_600_000 };
    const plan = [away, { afterMs: 1_500, kill: true } as const, { afterMs: 1_500, setMs: 0 }];
    assert.deepEqual((await clockTrial(plan, truth)).violations, []);
  });
});

it("loses no answer of workers that all say at once how far they came", async () => {
  const { violations, answers } = await overload({ workers: 6, waves: 1, loops: 1 });
  assert.deepEqual(violations, []);
  assert.equal(answers, 6);
});
