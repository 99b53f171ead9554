/** Tests that events of every older version are read as events of today. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import { givenUpOf } from "../rules/given-up.ts";
import { ROOT } from "../task.ts";
import { replay } from "./evolve.ts";
import { EVENT_VERSION, migrate } from "./migrate.ts";

const paused = { type: "run.paused", at: 7 };

test("an event of today's version is taken as it is", () => {
  assert.equal(migrate(EVENT_VERSION, paused), paused);
});

test("an older event goes through every step from its version on, and no other", () => {
  const of = (version: number) =>
    migrate(version, { ...paused, said: { addressed: ["c1"] }, phase: { is: "hunt" } });
  const [said, phase] = [{ addressed: [{ concern: "c1" }] }, { is: "bisect" }];
  assert.deepEqual(of(1), { ...paused, said, phase });
  assert.deepEqual(of(2), { ...paused, said: { addressed: ["c1"] }, phase });
  assert.deepEqual(of(3), { ...paused, said: { addressed: ["c1"] }, phase: { is: "hunt" } });
});

test("a newer event asks for a newer Skein, with both numbers", () => {
  assert.throws(
    () => migrate(EVENT_VERSION + 1, paused),
    /newer Skein \(version 5, this one knows 4\); update/,
  );
});

const REFUSED: readonly [number, unknown, RegExp][] = [
  [0, paused, /has no version, but 0/],
  [Number.NaN, paused, /has no version/],
  [1.5, paused, /has no version/],
  [1, null, /not an object/],
  [1, [], /not an object/],
  [1, "run.paused", /not an object/],
  [1, { at: 1 }, /has no type/],
  [1, { type: "run.sung", at: 1 }, /unknown type, "run\.sung"/],
  [1, { type: "constructor", at: 1 }, /unknown type/],
  [1, { type: "run.paused" }, /\(run\.paused\) has no time/],
  [1, { type: "run.paused", at: "1" }, /has no time/],
  [1, { type: "run.paused", at: Number.NaN }, /has no time/],
];
for (const [version, body, message] of REFUSED)
  test(`version ${version} of ${JSON.stringify(body)} is no event`, () => {
    assert.throws(() => migrate(version, body), message);
  });

test("a log in which planners named concerns by their ids alone is replayed to the end that it had", () => {
  const run = CoreRun.planned([task("a"), task("b")]);
  run.work("t.1", { concerns: ["odd"] });
  run.land();
  run.failForGood("t.2");
  run.plan("t", [], { addressed: [{ concern: "c1" }, { concern: "c2", because: "x" }] });
  run.check();
  const older = run.log.map((event) => {
    if (event.type === "run.closed") return { ...event, how: "done", left: [] }; // As an older Skein closed it.
    if (event.type !== "plan.ended" || !event.said) return event;
    return { ...event, said: { ...event.said, addressed: ["c1", "c2"] } };
  });
  const state = replay(older.map((body) => migrate(1, structuredClone(body))));
  assert.deepEqual(state.closed, { how: "done", left: [] });
  assert.equal(state.planners.get(ROOT)?.concerns.size, 0);
  assert.deepEqual(
    givenUpOf(state).map(({ name, reason }) => [name, reason]),
    [["b", "no reason given"]],
  );
});

test("a bisection that an older Skein called a hunt goes on as one", () => {
  const phase = { is: "hunt", guilty: [], next: [], suspects: ["test: adds"], reds: 1 };
  const turned = { type: "landing.turned", phase, requeue: [], errors: 0, retryAt: 0, at: 7 };
  assert.deepEqual(migrate(2, turned), { ...turned, phase: { ...phase, is: "bisect" } });
  const open = { ...turned, phase: { is: "open" } };
  assert.deepEqual(migrate(2, open), open);
});

test("a log from before accounts, unaccounted calls and budgets of tasks is replayed as it was", () => {
  const spec = {
    key: "t",
    description: "make it",
    acceptance: "",
    scope: ["./"],
    after: [],
    priority: 5,
    delivers: "change",
    shape: "plan",
    slug: "make-it",
  };
  const log = [
    { type: "run.opened", request: { run: "r", goal: "make it", base: "c0" }, spec, at: 0 },
    { type: "job.started", job: { kind: "plan", task: "t", turn: 1 }, until: 9, at: 1 },
    { type: "job.ended", job: "plan:t#1", how: "answered", spent: { tokens: 7 }, at: 2 },
    { type: "plan.kept-whole", task: "t", at: 2 },
    { type: "budget.exhausted", spent: { tokens: 7, microdollars: 0 }, at: 3 },
  ];
  const state = replay(log.map((body) => migrate(1, body)));
  assert.deepEqual(state.spent, {
    tokens: 7,
    microdollars: 0,
    unpriced: 1,
    unaccounted: { calls: 0, tokens: 0, microdollars: 0 },
    exhausted: true,
    landingSpent: false,
  });
  assert.equal(state.accounts.size, 0);
});
