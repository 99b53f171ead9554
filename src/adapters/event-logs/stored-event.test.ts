/** Tests that a log of an older version reads the same at once and while it is still being written. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { type StoredEvent, StoredEvents } from "./stored-event.ts";

const failure = { kind: "conflict", message: "conflicts with the target" };
const phase = { is: "bisect", guilty: [], rest: [], suspects: ["test: x"], reds: 1 };
const turned = { type: "landing.turned", phase, errors: 0, retryAt: 0, requeue: [] };
const retried = { type: "task.retried", task: "t.1", attempt: 1, charge: "refused", failure };
const ended = (turn: number) => ({ type: "job.ended", job: `land#${turn}`, how: "answered" });

/** Two decisions: a landing whose gate failed, and one with a conflict in the same bisection. */
const DECISIONS: readonly (readonly object[])[] = [
  [ended(1), turned].map((event) => ({ ...event, at: 1 })),
  [ended(2), retried, turned].map((event) => ({ ...event, at: 2 })),
];

const rowsFrom = (events: readonly object[], first: number): readonly StoredEvent[] =>
  events.map((event, at) => ({ seq: first + at, version: 3, body: JSON.stringify(event) }));

it("an older log reads the same at once and while it is written, with no event held back", () => {
  const whole = new StoredEvents("log", 0);
  const atOnce = [...whole.read(rowsFrom(DECISIONS.flat(), 1)), ...whole.rest()];
  const outcomes = atOnce.flatMap((event) => (event.type === "job.ended" ? [event.outcome] : []));
  assert.deepEqual(outcomes, [{ is: "red" }, { is: "conflict" }]);

  const stored = new StoredEvents("log", 0);
  const followed = DECISIONS.flatMap((events) => {
    const read = [...stored.read(rowsFrom(events, stored.seq + 1)), ...stored.rest()];
    assert.equal(read.length, events.length);
    return read;
  });
  assert.deepEqual(followed, atOnce);
});

it("a check of a tip that had passed before ran its gate if the log has the run", () => {
  const report = { commands: [{ name: "test", green: true, failures: [] }] };
  const run = { output: "check", ms: 1_000 };
  const check = (turn: number, gates?: readonly object[]) => [
    { type: "job.ended", job: `check#${turn}`, how: "answered", ...(gates && { gates }), at: turn },
    { type: "target.checked", tip: "tip", report, at: turn },
  ];
  const stored = new StoredEvents("log", 0);
  const rows = rowsFrom([...check(1, [run]), ...check(2, [run]), ...check(3)], 1);
  const events = [...stored.read(rows), ...stored.rest()];
  const outcomes = events.flatMap((event) => (event.type === "job.ended" ? [event.outcome?.is] : []));
  assert.deepEqual(outcomes, ["passed", "passed", "known"]);
});
