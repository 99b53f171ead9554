/** Tests the lines that people read about a run's events. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import { failure } from "../failure.ts";
import { jobId } from "../job.ts";
import type { Event, EventOf } from "../log/event.ts";
import { evolve } from "../log/evolve.ts";
import { emptyState } from "../log/state.ts";
import { ROOT } from "../task.ts";
import { narrate } from "./narrate.ts";

/** The lines about a run from its beginning. */
function linesOf({ log }: Pick<CoreRun, "log">, how: Parameters<typeof narrate>[2] = {}): readonly string[] {
  const state = emptyState();
  return log.flatMap((event) => narrate(event, evolve(state, event), how)?.text ?? []);
}

function opened() {
  const state = emptyState();
  const spec = {
    key: "t",
    description: "g",
    acceptance: "",
    scope: ["./"],
    after: [],
    priority: 5,
    delivers: "change",
    shape: "plan",
    slug: "g",
  } as const;
  evolve(state, { type: "run.opened", request: { run: "r1", goal: "g", base: "c0" }, spec, at: 0 });
  return state;
}

test("a planner that could not be reached is told of with the reason", () => {
  const event: Event = {
    type: "plan.rejected",
    task: ROOT,
    failure: failure("agent-unreachable", "the server did not answer"),
    reasons: [],
    retryAt: 0,
    charge: "unreachable",
    at: 0,
  };
  assert.match(narrate(event, opened())!.text, /the server did not answer$/);
});

test("of a fleet, who has begun a job is told with its machine, and what becomes of machines", () => {
  const run = new CoreRun({ offerMs: 1_000 });
  const machine = { type: "machine", machine: "m1", state: "ready", capacity: 2, labels: [] } as const;
  const taken = (job: string) =>
    ({ type: "taken", machine: "m1", tries: 0, agoMs: 0, job: job as ReturnType<typeof jobId> }) as const;
  run.check();
  run.say(machine, taken("plan:t#1"));
  run.plan("t", [task("one")]);
  run.say(taken("work:t.1#1"));
  run.work("t.1");
  run.say(taken("land#1"));
  for (const state of ["draining", "silent", "gone"] as const) run.say({ ...machine, state });
  run.say({ type: "held", machine: "m1", heldMs: 5_000 });
  const told = linesOf(run).filter((line) => /machine|m1|Worker|Planning/i.test(line));
  assert.deepEqual(told, [
    "The planner waits for a machine",
    "Machine m1 is ready for 2 jobs at once",
    "Planning (turn 1) on m1",
    "m1 starts one",
    "m1 runs the gate",
    "Machine m1 takes no more jobs",
    "Machine m1 gives no sign of life; others take its jobs over",
    "Machine m1 has left the fleet",
    "Machine m1 kept the fleet's database waiting for 5 s; its session was ended. If that happens again: skein fleet revoke",
  ]);
});

test("what an agent wrote cannot move the cursor, change colours or fill the screen", () => {
  const hostile = `\u001b]0;owned\u0007\u001b[2J${"x".repeat(100_000)}`;
  const event: Event = { type: "task.failed", task: ROOT, failure: failure("agent-failed", hostile), at: 0 };
  const { text } = narrate(event, opened())!;
  assert.doesNotMatch(text, /\p{C}/u);
  assert.ok(text.length <= 500);
});

test("what people did and what a restart interrupted is told, and nobody is blamed for it", () => {
  const state = opened();
  const said = (event: Event) => narrate(event, evolve(state, event))?.text;
  assert.equal(said({ type: "run.paused", at: 1 }), "Paused: no new work starts");
  assert.equal(said({ type: "run.resumed", at: 2 }), "Resumed after a pause");
});

test("what a restart interrupted is told once, by the name of the task", () => {
  const run = CoreRun.planned([task("a")]);
  run.now = 5_000;
  const before = run.log.length;
  run.say({ type: "interrupted", job: run.running("work")[0] as never });
  const told = linesOf(run).slice(linesOf({ ...run, log: run.log.slice(0, before) }).length);
  assert.deepEqual(told, [
    "a: interrupted by a restart; retrying (not counted as an attempt)",
    "Worker started on a (attempt 2)",
  ]);
});

test("a goal of which a part is missing is partly done, and the run says what once", () => {
  const run = CoreRun.planned([task("a"), task("b")]);
  run.finish("t.1");
  run.failForGood("t.2");
  for (let n = 0; n < 5 && !run.closed; n += 1) {
    if (run.running("plan").length > 0) run.plan("t", []);
    else run.check();
  }
  const told = linesOf(run);
  assert.deepEqual(told.slice(-2), ["The goal is partly done", "The run is incomplete: not done: b"]);
});

test("a red base is said in plain words, first as what it may be, then as what it is", () => {
  const run = new CoreRun();
  run.check(["test: adds"]);
  assert.ok(linesOf(run).includes("Gate failed on the base; re-running in case it is flaky: test: adds"));
  run.check(["test: adds"]);
  assert.ok(linesOf(run).includes("Gate fails on the base: test: adds"));
  run.wait(3_600_000);
  run.check(["test: adds"]);
  assert.ok(linesOf(run).includes("Gate still fails on the base: test: adds"));
});

test("a task that has only a number is begun with what it is", () => {
  const run = CoreRun.planned([task("2", { description: "Write b.\nAnd more." }), task("a")]);
  const begun = linesOf(run).filter((text) => text.startsWith("Worker started"));
  assert.deepEqual(begun, ["Worker started on 2: Write b", "Worker started on a"]);
});

test("without a planner nobody speaks of one, and without a gate nothing is gated", () => {
  const run = CoreRun.green();
  assert.ok(linesOf(run).some((text) => text.startsWith("Planning (turn ")));
  const ended: Event = { type: "plan.ended", task: ROOT, over: "finished", at: 0 };
  assert.match(narrate(ended, run.state)!.text, /^The planner has no further tasks/);
  assert.equal(narrate(ended, run.state, { hasPlanner: false }), undefined);
  assert.ok(!linesOf(run, { hasPlanner: false }).some((text) => text.includes("planner")));
  const kept: Event = { type: "plan.kept-whole", task: ROOT, at: 0 };
  assert.equal(
    narrate(kept, run.state, { hasPlanner: false })!.text,
    "No planner: one worker does the whole goal",
  );
  const ungated = new CoreRun();
  const report = { commands: [] };
  ungated.answer("check#1", { is: "checked", tip: "base", report, problems: [] });
  ungated.plan("t", [task("a")]);
  ungated.work("t.1");
  assert.ok(linesOf(ungated).includes("Landing a on top of base"));
});

test("a planner that gave up is called by the name of its task", () => {
  const run = CoreRun.green();
  for (let n = 0; n < 50 && run.is("t") !== "failed"; n += 1) {
    run.fail("plan", "t");
    run.wait(3_600_000);
  }
  assert.ok(
    linesOf(run).some((text) => /^the goal failed: the planner of the goal failed \d+ times/.test(text)),
  );
});

test("a commit is told by its first digits", () => {
  const state = opened();
  const event: Event = {
    type: "batch.landed",
    members: [{ task: ROOT, attempt: 1 }],
    commit: "0123456789abcdef0123456789abcdef01234567",
    proof: "green",
    flaky: [],
    at: 1,
  };
  assert.equal(narrate(event, state)!.text, "the goal landed as 0123456789");
});

/** The lines about what `happens`. */
function told(run: CoreRun, happens: () => unknown): readonly string[] {
  const before = linesOf(run).length;
  happens();
  return linesOf(run).slice(before);
}

test("a bisection that begins with the one whose files were named says so", () => {
  const run = CoreRun.planned(["first", "a", "b", "c"].map((id) => task(id)));
  for (const id of ["t.1", "t.2", "t.3", "t.4"]) run.work(id);
  run.land();
  const red = () => run.landRed(["test: adds"], [], ["b.ts"]);
  red();
  assert.equal(told(run, red)[0], "Gate failed again, in files that only b changed: testing that alone");
  assert.equal(told(run, red)[0], "Gate failed again; checking whether the target itself fails");
  assert.equal(told(run, () => run.check())[0], "Gate failed with b; re-running to be sure");
});

test("a bisection is told step by step: how many, once more, the target, these, found", () => {
  const run = CoreRun.planned(["first", "a", "b", "c"].map((id) => task(id)));
  for (const id of ["t.1", "t.2", "t.3", "t.4"]) run.work(id);
  run.land();
  const red = () => run.landRed(["test: adds"]);
  const gating = (names: string, tip: string) => `Running the gate: ${names} on top of ${tip}`;
  assert.deepEqual(told(run, red), [
    "Gate failed with 3 tasks; re-running in case it is flaky: test: adds",
    gating("a + b + c", "commit-1"),
  ]);
  assert.deepEqual(told(run, red), [
    "Gate failed again; checking whether the target itself fails",
    "Running the gate on the target commit-1",
  ]);
  assert.deepEqual(
    told(run, () => run.check()),
    ["Bisecting: one of these 3 breaks the gate: a, b, c", gating("a + b", "commit-1")],
  );
  assert.equal(told(run, red)[0], "Bisecting: one of these 2 breaks the gate: a, b");
  assert.equal(told(run, red)[0], "Gate failed with a; re-running to be sure");
  assert.match(told(run, red)[0]!, /^a, attempt 1: breaks the gate: test: adds; retrying$/);
  assert.deepEqual(run.candidate(), ["t.3", "t.4"]);
});

test("who is left when all others are green is told, and one that was red alone is called by its name", () => {
  const run = CoreRun.planned(["first", "a", "b"].map((id) => task(id)));
  for (const id of ["t.1", "t.2", "t.3"]) run.work(id);
  run.land();
  run.landRed();
  run.landRed();
  run.check();
  assert.deepEqual(told(run, () => run.land()).slice(0, 2), [
    "a landed as commit-2",
    "Bisecting: the others pass, only b is left",
  ]);
  const alone = CoreRun.planned([task("a")]);
  alone.work("t.1");
  assert.match(told(alone, () => alone.landRed())[0]!, /^Gate failed with a; re-running/);
});

test("a flaky test is told with the landing that it held up", () => {
  const run = CoreRun.planned([task("a")]);
  run.work("t.1");
  run.landRed(["test: odd"]);
  assert.equal(
    told(run, () => run.land())[0],
    "a landed as commit-1; flaky, failed and then passed on the same tree: test: odd",
  );
});

test("a fix is told when it is created, and when it has repaired the target", () => {
  const run = new CoreRun();
  const made = told(run, () => run.checkRed(["test: adds"], "src/sum.ts"));
  assert.ok(
    made.includes("Created fix-tests-1 to repair the base; landing is blocked until then"),
    `${made}`,
  );
  const id = run.running("work")[0]!.slice("work:".length, -2);
  run.work(id);
  const { members } = run.landing();
  const landed = () =>
    run.answer("land#1", { is: "landed", commit: "c1", members, conflicts: [], proof: "green" });
  assert.equal(told(run, landed)[0], "fix-tests-1 landed as c1: the target is repaired");
});

test("a cancel that comes while the task is landing is told of, whichever of the two comes first", () => {
  const run = CoreRun.planned([task("a"), task("b")]);
  run.work("t.1");
  run.say({ type: "cancel", task: run.task("t.1").id });
  run.land();
  const lines = linesOf(run);
  const told = lines.indexOf("Cancelling a, unless the landing in progress succeeds");
  assert.ok(told >= 0, lines.join("\n"));
  assert.ok(lines.slice(told).some((line) => line.startsWith("a landed as ")));
});

test("a quota is told with its account and its end, a refused key with its words, and both without blame", () => {
  const state = opened();
  const say = (event: Event) => narrate(event, evolve(state, event))?.text ?? "";
  const quota = failure("quota", "429: slow down");
  const minute = 60_000;
  assert.match(
    say({ type: "account.parked", account: "anthropic", until: 42 * minute, failure: quota, at: 0 }),
    /^anthropic is rate limited until \d\d:42:00 \(for 42 min 00 s\): 429: slow down$/,
  );
  assert.match(
    say({ type: "account.parked", account: "anthropic", until: 1_800 * minute, failure: quota, at: 0 }),
    /limited until 1970-01-0[12] \d\d:\d\d:00 \(for 1 d 6 h\): /,
  );
  assert.equal(say({ type: "account.woken", account: "anthropic", at: 1 }), "anthropic is available again");
  assert.equal(
    say({ type: "account.refused", account: "openai", failure: failure("authentication", "401"), at: 2 }),
    "The credentials of openai were refused: 401",
  );
});

test("a set-up that failed, and what a probe of the gate came to, are told once each", () => {
  const state = opened();
  const say = (event: Event) => narrate(event, evolve(state, event))?.text;
  const why = failure("setup", "npm test:\nmocha: not found");
  assert.equal(
    say({ type: "setup.failed", failure: why, at: 0 }),
    "No new work starts: npm test: mocha: not found",
  );
  const stopped = { ...opened(), redBase: { choice: "stop", offer: [], repaired: [] } } as const;
  const asStopped = narrate({ type: "setup.failed", failure: why, at: 0 }, stopped)?.text;
  assert.equal(asStopped, "No new work starts: npm test:");
  assert.equal(say({ type: "setup.retried", at: 1 }), "Retrying the set-up");
  const probed = (found: EventOf<"gate.probed">["probed"]) =>
    say({ type: "gate.probed", probed: found, at: 2 });
  assert.match(
    probed({ is: "not-probed", why: "there are no tests" }) ?? "",
    /was not probed \(there are no tests\)/,
  );
  assert.match(probed({ is: "proved" }) ?? "", /as it should$/);
  assert.equal(probed({ is: "unproven", failure: why }), undefined, "the next event says it");
});

test("a clock that was set is told, and what comes after is told by what it shows then", () => {
  const state = opened();
  const say = (event: Event) => narrate(event, evolve(state, event))?.text ?? "";
  const day = 86_400_000;
  assert.match(
    say({ type: "clock.jumped", ms: 30 * day, at: 0 }),
    /^The system clock jumped forward by 30 d 0 h: /,
  );
  const quota = failure("quota", "429");
  assert.match(
    say({ type: "account.parked", account: "a", until: 2 * day, failure: quota, at: 0 }),
    /limited until 1970-02-0[12] /,
  );
  assert.match(say({ type: "clock.jumped", ms: -30 * day, at: 0 }), /jumped back by 30 d 0 h/);
});

test("an agent that gives no sign of life is told of, and so is its next one", () => {
  const state = opened();
  const job = jobId({ kind: "plan", task: ROOT, turn: 1 });
  const say = (ms: number) => narrate({ type: "job.quiet", job, ms, at: 0 }, state)?.text;
  assert.equal(say(600_000), "The planner has shown no activity for 10 min 00 s");
  assert.equal(say(0), "The planner is active again");
  const copying = { type: "job.quiet", job, ms: 2_000, doing: "copying node_modules", at: 0 } as const;
  assert.equal(narrate(copying, state)?.text, "copying node_modules");
});

test("a gate that has nothing to run yet is told of once, with the base", () => {
  const report = { commands: [{ name: "test", green: true, failures: [], nothingYet: true }] } as const;
  const checked = (tip: string): Event => ({ type: "target.checked", tip, report, at: 1 });
  const said = (tip: string) => {
    const state = opened();
    return narrate(checked(tip), evolve(state, checked(tip)))?.text;
  };
  assert.equal(
    said("c0"),
    "The gate has nothing to run yet (test); it applies from the first test that lands",
  );
  assert.equal(said("c1"), undefined);
});

test("an agent that cannot be reached is reported once for all tasks, and then rarely", () => {
  const run = CoreRun.planned([task("a"), task("b"), task("c")]);
  for (let n = 1; n <= 6; n += 1) {
    for (const id of ["t.1", "t.2", "t.3"]) run.fail("work", id, "agent-unreachable", "no route to it");
    run.wait(20 * 60_000);
  }
  assert.deepEqual(
    linesOf(run).filter((text) => text.includes("no route to it")),
    [
      "Agent unreachable; retrying a: no route to it",
      "Agent unreachable; retrying 3 tasks (5 tries so far): no route to it",
    ],
  );
});

test("a gate that takes long is told of with its command, a slow model once for all who wait for it", () => {
  const run = CoreRun.planned([task("a"), task("b"), task("c")]);
  run.work("t.1");
  const slow = (job: string, ms: number, doing: string) =>
    run.say({ type: "quiet", job: job as ReturnType<typeof jobId>, ms, doing });
  slow("land#1", 300_000, "the gate runs npm test");
  for (const id of ["t.2", "t.3"]) slow(`work:${id}#1`, 60_000, "p/m answers very slowly");
  for (const id of ["t.2", "t.3"]) slow(`work:${id}#1`, 0, "p/m answers very slowly");
  assert.deepEqual(linesOf(run).slice(-3), [
    "the gate runs npm test (for 5 min 00 s)",
    "p/m answers very slowly (for 1 min 00 s)",
    "No longer: p/m answers very slowly",
  ]);
});

test("a look at the target is called a run of the gate only where it is known that there is one", () => {
  const job = { id: "root/check#1", kind: "check", commit: "c0" } as unknown as EventOf<"job.started">["job"];
  const told = (change: (state: ReturnType<typeof opened>) => void) => {
    const state = opened();
    change(state);
    return narrate({ type: "job.started", job, until: 0, at: 0 }, state)?.text;
  };
  const command = { name: "test", green: true, failures: [] };
  assert.match(told(() => {})!, /^Checking /);
  assert.match(
    told((state) => Object.assign(state.target, { health: "green", report: { commands: [command] } }))!,
    /^Running the gate on /,
  );
  assert.match(
    told((state) => Object.assign(state.target, { health: "green", report: { commands: [] } }))!,
    /^Looking for conflict markers, as there is no gate, in /,
  );
});
