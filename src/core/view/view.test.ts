/** Tests the whole view of a run: counts, landings, failed attempts, concerns, and what is left. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, large, task } from "../../../test/support/core-run.ts";
import type { Event } from "../log/event.ts";
import type { TaskId } from "../task.ts";
import { emptyStory } from "./story.ts";
import { findTask, nothingSeen, rowsOf, see, viewOf } from "./view.ts";

const seenOf = (events: readonly Event[]) => events.reduce(see, nothingSeen());
const viewOfRun = (run: CoreRun) => viewOf(seenOf(run.log));

/** Four tasks: one is refused once, one fails, and one waits for the failed one. */
function eventful(): CoreRun {
  const run = CoreRun.planned([task("a"), task("b"), task("c"), task("d", { after: ["c"] })]);
  run.now = 1_000;
  run.work("t.1", { concerns: ["a is odd"] });
  run.now = 3_000;
  run.work("t.2");
  run.land();
  run.land([{ task: "t.2" as TaskId, files: ["b.ts"], against: "target" }]);
  run.failForGood("t.3");
  return run;
}

test("counts tasks by what they are about, the goal not among them", () => {
  const run = CoreRun.planned([task("a"), task("b"), task("c", { after: ["a"] })]);
  run.work("t.1");
  const { counts, is } = viewOfRun(run);
  assert.equal(is, "working");
  assert.deepEqual(counts, {
    total: 3,
    done: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
    landing: 1,
    running: 1,
    waiting: 1,
  });
});

test("a goal that is not split is the one task that counts", () => {
  const run = CoreRun.planned([]);
  assert.equal(viewOfRun(run).counts.total, 1);
});

test("shows what is running, with the time since when and the tasks of a candidate", () => {
  const run = CoreRun.planned([task("a"), task("b")]);
  run.now = 5_000;
  run.work("t.1");
  const { running, queue } = viewOfRun(run);
  assert.deepEqual(
    running.map(({ kind, since, tasks }) => [kind, since, tasks.map(({ name }) => name)]),
    [
      ["work", 0, ["b"]],
      ["land", 5_000, ["a"]],
    ],
  );
  assert.deepEqual(queue, [{ task: "t.1", name: "a" }]);
});

test("tells landings with their proofs, and setbacks with what became of the task", () => {
  const { landings, setbacks, undone, concerns } = viewOfRun(eventful());
  assert.deepEqual(
    landings.map(({ members, proof }) => [members.map(({ name }) => name), proof]),
    [[["a"], "green"]],
  );
  const [conflict] = setbacks.filter(({ task: id }) => id === "t.2");
  assert.deepEqual([conflict?.name, conflict?.charge, conflict?.end], ["b", "refused", "working"]);
  assert.deepEqual(
    undone.map(({ name, end, reason }) => [name, end, reason]),
    [
      ["c", "failed", "agent-failed (3 times)"],
      ["d", "skipped", "c did not land"],
    ],
  );
  assert.ok(concerns.some(({ name, text }) => name === "a" && text === "a is odd"));
});

test("the view of a replayed log is that of the live run, after every event", () => {
  const { log } = eventful();
  const live = nothingSeen();
  for (const [i, event] of log.entries()) {
    see(live, event);
    assert.deepEqual(viewOf(live), viewOf(seenOf(log.slice(0, i + 1))));
  }
});

test("a view is a picture: what happens later does not change it, and it survives JSON", () => {
  const { log } = eventful();
  const live = seenOf(log.slice(0, 10));
  const view = viewOf(live);
  const before = JSON.stringify(view);
  for (const event of log.slice(10)) see(live, event);
  assert.equal(JSON.stringify(view), before);
  assert.deepEqual(JSON.parse(before), view);
});

test("counts the time of jobs, but not that between two engines", () => {
  const run = CoreRun.planned([task("a")]);
  run.now = 2_000;
  run.say({ type: "pause" });
  run.now = 60_000;
  run.say({ type: "interrupted", job: run.running("work")[0] as never });
  run.say({ type: "resume" });
  run.now = 63_000;
  run.work("t.1");
  const { times } = viewOfRun(run);
  assert.equal(times.idleMs, 58_000);
  assert.deepEqual(times.jobs.work, { count: 2, ms: 3_000 });
});

test("finds a task by its id, its whole name, or its own where only one has it", () => {
  const run = CoreRun.planned([large("parser"), large("printer")]);
  for (const parent of ["t.1", "t.2"]) {
    const name = parent === "t.1" ? "parser" : "printer";
    const only = name === "parser" ? [task("grammar", { scope: ["parser/b.ts"] })] : [];
    run.plan(parent, [task("lexer", { scope: [`${name}/a.ts`] }), ...only]);
  }
  const { state } = run;
  assert.equal(findTask(state, "t.1"), "t.1");
  assert.equal(findTask(state, "parser/lexer"), "t.1.1");
  assert.equal(findTask(state, "grammar"), "t.1.2");
  assert.deepEqual(findTask(state, "lexer"), {
    several: [
      { task: "t.1.1", name: "parser/lexer" },
      { task: "t.2.1", name: "printer/lexer" },
    ],
  });
  assert.deepEqual(findTask(state, "nobody"), { several: [] });
});

test("lists tasks as a tree: children below their parent, in the order in which they were made", () => {
  const run = CoreRun.planned([large("parser"), task("docs")]);
  run.plan("t.1", [task("lexer", { scope: ["parser/a.ts"] })]);
  assert.deepEqual(
    rowsOf(run.state).map(({ key, depth, word }) => [key, depth, word]),
    [
      ["the goal", 0, "split"],
      ["parser", 1, "split"],
      ["lexer", 2, "working"],
      ["docs", 1, "working"],
    ],
  );
});

test("a goal that one worker has counts among its fixes", () => {
  const run = new CoreRun();
  run.checkRed();
  run.plan("t", []);
  const { total, done } = viewOf({ state: run.state, story: emptyStory() }).counts;
  assert.deepEqual([total, done], [2, 0]);
});

test("a concern is told of who said it, through all planners that handed it up, in its own words", () => {
  const run = CoreRun.planned([large("m")]);
  run.plan("t.1", [task("x", { scope: ["m/a.ts"] }), task("y", { scope: ["m/b.ts", "m/c.ts", "m/d.ts"] })]);
  const words = ["[y] is odd: the planner of t.1 failed", "[t.1.2] skipped, because t.1.1 did not land"];
  run.work("t.1.1", { concerns: words });
  run.land();
  run.plan("t.1", []);
  run.finish("t.1.2");
  run.plan("t.1", []);
  assert.equal(run.is("t.1"), "done");
  assert.deepEqual(
    viewOfRun(run).concerns.map(({ name, text, isOpen }) => [name, text, isOpen]),
    words.map((text) => ["m/x", text, true]),
  );
});

test("what was given up is there with its reason, and what was replaced with the name of what took its place", () => {
  const run = CoreRun.planned([task("a"), task("b"), task("c")]);
  for (const id of ["t.1", "t.2"]) run.failForGood(id);
  run.finish("t.3");
  const addressed = [
    { concern: "c1", by: "a2" },
    { concern: "c2", because: "nobody uses it" },
  ];
  run.plan("t", [task("a2")], { addressed });
  const reason = "nobody uses it";
  const failure = "agent-failed (3 times)";
  assert.deepEqual(viewOfRun(run).givenUp, [{ task: "t.2", name: "b", key: "b", failure, reason }]);
  run.finish("t.4");
  run.plan("t", []);
  run.check();
  const { undone, givenUp, left, is } = viewOfRun(run);
  assert.deepEqual(
    undone.map(({ name, replacedBy }) => [name, replacedBy]),
    [
      ["a", "a2"],
      ["b", undefined],
    ],
  );
  assert.deepEqual(
    [is, left],
    ["incomplete", [`given up: b failed: ${failure}; the planner's reason: ${reason}`]],
  );
  assert.deepEqual(run.events("run.closed")[0]?.givenUp, givenUp);
});

test("says since when an agent cannot be reached, for how many tasks, and no longer once it answers", () => {
  const run = CoreRun.planned([task("a"), task("b")]);
  const unreachable = () => viewOfRun(run).unreachable;
  assert.equal(unreachable(), undefined);
  run.now = 5;
  run.fail("work", "t.1", "agent-unreachable", "no route");
  run.wait(10 * 60_000);
  for (const id of ["t.1", "t.2"]) run.fail("work", id, "agent-unreachable", "still no route");
  assert.deepEqual(unreachable(), { tasks: 2, since: 5, reason: "still no route" });
  run.wait(10 * 60_000);
  for (const id of ["t.1", "t.2"]) run.work(id);
  assert.equal(unreachable(), undefined);
});
