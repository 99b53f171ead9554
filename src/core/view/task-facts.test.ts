/** Tests that all views say the same about a task. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import { failure } from "../failure.ts";
import { taskOf } from "../log/state.ts";
import type { TaskId } from "../task.ts";
import {
  changeOf,
  failedAttempts,
  givenUpTexts,
  jobsOf,
  landingOf,
  scopeLabel,
  stateAndWhy,
} from "./task-facts.ts";
import { nothingSeen, rowsOf, see, viewOf } from "./view.ts";

const A = "t.1" as TaskId;
const seenOf = (run: CoreRun) => run.log.reduce(see, nothingSeen());

test("a task may change any file where none is named, where the whole repository is, and where it is only a hint", () => {
  assert.equal(scopeLabel({ scope: [] }), "any file");
  assert.equal(scopeLabel({ scope: ["./"] }), "any file");
  assert.equal(scopeLabel({ scope: ["src/"], terms: { loose: true } as never }), "any file");
  assert.equal(scopeLabel({ scope: ["src/", "a.ts"] }), "src/, a.ts");
});

test("has the jobs of its workers, and a change once one has handed off", () => {
  const run = CoreRun.planned([task("a")]);
  assert.deepEqual(
    jobsOf(seenOf(run), A).map(({ job }) => job),
    ["work:t.1#1"],
  );
  assert.equal(changeOf(taskOf(run.state, A)), undefined);
  run.work(A);
  const { base, state } = taskOf(run.state, A);
  assert.ok(state.is === "landing" && base !== "");
  assert.deepEqual(changeOf(taskOf(run.state, A)), { from: base, to: state.handoff.commit });
});

test("a task that had to land twice has its last landing", () => {
  const run = CoreRun.planned([task("a")]);
  assert.equal(landingOf(seenOf(run), A), undefined);
  run.finish(A);
  const seen = seenOf(run);
  assert.deepEqual(landingOf(seen, A), viewOf(seen).landings[0]);
  const [first] = seen.story.landings;
  const story = { ...seen.story, landings: [first!, { ...first!, commit: "again" }] };
  assert.equal(landingOf({ ...seen, story }, A)?.commit, "again");
});

test("an attempt that was interrupted is no failed attempt", () => {
  const one = {
    at: 0,
    task: A,
    of: "work",
    failure: failure("setup", "no"),
    name: "a",
    end: "ready",
  } as const;
  const counted = { ...one, attempt: 1, charge: "failed" } as never;
  assert.deepEqual(failedAttempts({ setbacks: [counted, { ...one, attempt: 2, charge: "nothing" }] }), [
    counted,
  ]);
});

test("what was given up is listed until the run is closed, and is part of what is left then", () => {
  const { times } = viewOf(nothingSeen());
  const givenUp = [{ task: A, name: "a", reason: "not worth it" }] as never;
  assert.deepEqual(givenUpTexts({ givenUp, times }), ["a: not worth it"]);
  assert.deepEqual(givenUpTexts({ givenUp, times: { ...times, closedAt: 1 } }), []);
});

test("a task that was tried again says why, also once it is done", () => {
  const run = CoreRun.planned([task("a"), task("b")]);
  run.fail("work", "t.1", "agent-failed", "killed by SIGKILL: writing");
  const said = () => rowsOf(run.state).map((row) => stateAndWhy(seenOf(run), row, "running"));
  assert.ok(said().includes("working, attempt 2; attempt 1 failed: killed by SIGKILL"), said().join());
  assert.ok(said().includes("working"), said().join());
  run.finish("t.1");
  assert.ok(said().includes("done, attempt 2; attempt 1 failed: killed by SIGKILL"), said().join());
});
