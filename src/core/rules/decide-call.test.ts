/** Tests subtasks and questions of workers, from the call to the response. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, MINUTE, task } from "../../../test/support/core-run.ts";
import { failure } from "../failure.ts";
import type { JobId, Outcome } from "../job.ts";
import type { QuestionOrder, SubtaskOrder, WorkerCall } from "../subtask.ts";
import { UNANSWERED } from "../subtask.ts";
import type { TaskId } from "../task.ts";

const order = (fields: Partial<SubtaskOrder> = {}): SubtaskOrder => ({
  ...{ type: "review", subtype: "subtask", template: "", description: "Look at it", inputs: "{}" },
  ...{ signature: "s1", filePaths: [] },
  context: {
    inherit_context: "none",
    accumulate_data: false,
    accumulation_format: "notes_only",
    fresh_context: "enabled",
  },
  ...fields,
});

/** The task's newest job ends with a call. */
const spawns = (run: CoreRun, id: string, fields: Partial<SubtaskOrder> = {}, start = `${id} so far`) =>
  run.answer(newest(run, id), calls(run, id, { is: "subtask", order: order(fields) }, start));
const asks = (run: CoreRun, id: string, question: QuestionOrder) =>
  run.answer(newest(run, id), calls(run, id, { is: "question", question }));
const calls = (run: CoreRun, id: string, call: WorkerCall, start = `${id} so far`): Outcome => ({
  ...{ is: "called", call, start },
  session: newest(run, id) as JobId,
});
/** A task answers the question of its subtask. */
const answers = (run: CoreRun, id: string, question: string, text: string) =>
  run.answer(newest(run, id), { is: "answered", question, text });
const newest = (run: CoreRun, id: string) => `work:${id}#${run.task(id).tries.attempts}`;
const errorOf = (run: CoreRun, id: string) =>
  run.brief("work", id).goOn!.response.result.notes["error"] as {
    readonly reason?: string;
    readonly resource?: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };

describe("a worker that delegates", () => {
  test("waits without a job or a lease; the subtask starts from its snapshot, with its scope", () => {
    const run = CoreRun.planned([task("a")], { capacity: { work: 1 } });
    spawns(run, "t.1");
    assert.equal(run.is("t.1"), "waiting");
    assert.deepEqual(run.running("work"), ["work:t.1.1#1"]);
    const brief = run.brief("work", "t.1.1");
    assert.equal(brief.base, "t.1 so far");
    assert.deepEqual(brief.spec.scope, ["a.ts"]);
    assert.equal(brief.spec.spawn?.session, "work:t.1#1");
    run.wait(50 * MINUTE);
    assert.equal(run.is("t.1"), "waiting", "no lease of its own runs out");
  });

  test("goes on with the conversation of the attempt that made the call, if a later one has taken it over", () => {
    const run = CoreRun.planned([task("a")]);
    run.fail("work", "t.1", "repository");
    run.wait(MINUTE);
    const call = { is: "subtask", order: order() } as const;
    const session = "work:t.1#1" as JobId;
    run.answer("work:t.1#2", { is: "called", call, start: "so far", session });
    assert.equal(run.brief("work", "t.1.1").spec.spawn?.session, session);
    run.work("t.1.1");
    assert.equal(run.brief("work", "t.1").goOn?.session, session);
  });

  test("goes on with the whole result, from what the subtask made, judged from where it began; both land as one", () => {
    const run = CoreRun.planned([task("a")]);
    spawns(run, "t.1");
    run.work("t.1.1", { summary: "it is fine", concerns: ["slow"] });
    assert.equal(run.is("t.1.1"), "done");
    assert.deepEqual(run.running("land"), []);
    const { goOn, base, attempt } = run.brief("work", "t.1");
    assert.deepEqual([base, attempt, goOn?.start, goOn?.session], ["base", 2, "t.1.1 made", "work:t.1#1"]);
    const { result } = goOn!.response;
    assert.deepEqual(
      [result.status, result.content, result.notes["task_id"]],
      ["COMPLETE", "it is fine", "t.1.1"],
    );
    run.work("t.1");
    assert.deepEqual(run.candidate(), ["t.1"]);
    run.land();
    assert.equal(run.is("t.1"), "done");
    assert.equal(run.brief("plan", "t").news.length, 1, "its planner hears of one task");
    assert.deepEqual(run.brief("plan", "t").concerns, []);
  });

  test("a subtask that only answers changes nothing: its parent goes on from its own snapshot", () => {
    const run = CoreRun.planned([task("a")]);
    spawns(run, "t.1");
    run.work("t.1.1", { filesChanged: [] });
    assert.equal(run.brief("work", "t.1").goOn?.start, "t.1 so far");
  });

  test("is told of a subtask that failed, with its partial results, and may recover", () => {
    const run = CoreRun.planned([task("a")]);
    spawns(run, "t.1");
    for (let n = 0; n < 3; n += 1) run.work("t.1.1", { status: "partial", summary: "half of it" });
    assert.equal(run.is("t.1.1"), "failed");
    const { reason, details } = errorOf(run, "t.1");
    assert.equal(reason, "subtask_failure");
    assert.deepEqual([details!["subtaskType"], details!["partialResults"]], ["review", "half of it"]);
    run.work("t.1");
    run.land();
    run.plan("t", []);
    run.check();
    assert.equal(run.state.closed?.how, "done", "what its parent made good is not left");
  });

  test("delegates again and again, but not for ever", () => {
    const run = CoreRun.planned([task("a")], { subtasks: { maxContinuations: 2 } });
    for (const signature of ["1", "2"]) {
      spawns(run, "t.1", { signature });
      run.work(`t.1.${signature}`);
    }
    spawns(run, "t.1", { signature: "3" });
    assert.equal(run.task("t.1").past.at(-1)?.failure.kind, "agent-failed");
    assert.equal(run.brief("work", "t.1").goOn, undefined, "the next attempt is made anew");
  });

  test("goes on where it was after a loss, and anew after a failure of its own", () => {
    const run = CoreRun.planned([task("a")]);
    spawns(run, "t.1");
    run.work("t.1.1");
    run.say({ type: "interrupted", job: newest(run, "t.1") as never });
    assert.equal(run.brief("work", "t.1").goOn?.start, "t.1.1 made");
    run.fail("work", "t.1");
    assert.equal(run.brief("work", "t.1").goOn, undefined);
    assert.equal(run.brief("work", "t.1").base, "base");
  });

  for (const [what, reason, policy, fields] of [
    ["deeper than allowed", "max_depth_exceeded", { subtasks: { maxDepth: 2 } }, {}],
    ["deeper than its request allows", "max_depth_exceeded", {}, { maxDepth: 0 }],
    ["what an ancestor is doing", "cycle_detected", {}, { signature: "s1" }],
  ] as const)
    test(`a subtask that would be ${what} is refused, and the worker goes on with the reason`, () => {
      const run = CoreRun.planned([task("a")], policy);
      spawns(run, "t.1");
      spawns(run, "t.1.1", { signature: "s2", ...fields });
      assert.equal(run.is("t.1.1"), "open");
      assert.equal(errorOf(run, "t.1.1").reason, reason);
      assert.equal(run.state.tasks.has("t.1.1.1" as never), false);
    });

  test("a chain that has used up its tasks or its time begins no more subtasks; siblings may be equal", () => {
    const run = CoreRun.planned([task("a")], { subtasks: { maxTasks: 2, maxMs: 10 * MINUTE } });
    for (const id of ["t.1.1", "t.1.2"]) {
      spawns(run, "t.1");
      run.work(id);
    }
    spawns(run, "t.1");
    assert.equal(errorOf(run, "t.1").resource, "tasks");
    const late = CoreRun.planned([task("a")], { subtasks: { maxMs: 10 * MINUTE } });
    spawns(late, "t.1");
    late.wait(11 * MINUTE);
    late.work("t.1.1");
    spawns(late, "t.1");
    assert.equal(errorOf(late, "t.1").resource, "time");
  });

  test("a budget of one task is for all its subtasks together", () => {
    const budget = { task: { maxTokens: 100_000 }, reserveTokens: 40_000 };
    const run = CoreRun.planned([task("a")], { budget });
    run.answer(newest(run, "t.1"), calls(run, "t.1", { is: "subtask", order: order() }), { tokens: 50_000 });
    run.work("t.1.1", { spent: { tokens: 20_000 } });
    assert.equal(run.is("t.1"), "failed");
    assert.equal((run.task("t.1").state as { failure: { kind: string } }).failure.kind, "budget");
  });

  test("a cancel reaches the third level; cancelled alone, a subtask has failed for its parent", () => {
    const run = CoreRun.planned([task("a")]);
    spawns(run, "t.1");
    spawns(run, "t.1.1", { signature: "s2" });
    spawns(run, "t.1.1.1", { signature: "s3" });
    run.say({ type: "cancel", task: "t.1.1.1" as never, reason: "enough" });
    assert.equal(run.is("t.1.1.1.1"), "cancelled");
    const { details } = errorOf(run, "t.1.1");
    assert.match(JSON.stringify(details), /execution_halted.*enough/);
    run.say({ type: "cancel", task: "t.1" as never });
    assert.deepEqual(
      ["t.1", "t.1.1", "t.1.1.1"].map((id) => run.is(id)),
      ["cancelled", "cancelled", "cancelled"],
    );
    assert.deepEqual(run.running("work"), []);
  });
});

describe("a worker that asks", () => {
  test("waits for a person while all else goes on, and goes on with the answer", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    asks(run, "t.1", { text: "Which database?" });
    assert.deepEqual(run.running("work"), ["work:t.2#1"]);
    const refused = run.say({ type: "answer", question: "q7", text: "x" });
    assert.match(JSON.stringify(refused), /open are: q1/);
    run.say({ type: "answer", question: "q1", text: "SQLite" });
    const { response, isAnswering } = run.brief("work", "t.1").goOn!;
    assert.deepEqual([response.name, response.result.content, isAnswering], ["answer", "SQLite", undefined]);
    assert.match(JSON.stringify(run.say({ type: "answer", question: "q1", text: "x" })), /no question waits/);
  });

  test("gets its default after its time, and without one is told to choose", () => {
    const run = CoreRun.planned([task("a"), task("b")], { questions: { waitMs: 30 * MINUTE } });
    asks(run, "t.1", { text: "Which?", default: "the first", waitMs: 5 * MINUTE });
    asks(run, "t.2", { text: "Which?", waitMs: 900 * MINUTE });
    run.wait(5 * MINUTE);
    assert.equal(run.brief("work", "t.1").goOn!.response.result.content, "the first");
    run.wait(25 * MINUTE);
    const { status, content, notes } = run.brief("work", "t.2").goOn!.response.result;
    assert.deepEqual([status, content, notes], ["FAILED", UNANSWERED, { answered_by: "nobody" }]);
  });

  test("a subtask asks its parent first, whose words are the answer, and who changes no file meanwhile", () => {
    const run = CoreRun.planned([task("a")]);
    spawns(run, "t.1");
    asks(run, "t.1.1", { text: "Which?" });
    const { goOn } = run.brief("work", "t.1");
    assert.deepEqual([goOn?.isAnswering, goOn?.response.result.content], [true, "Which?"]);
    answers(run, "t.1", "q1", "the second");
    assert.equal(run.is("t.1"), "waiting");
    assert.deepEqual(run.running("work"), ["work:t.1.1#2"]);
    assert.equal(run.brief("work", "t.1.1").goOn!.response.result.content, "the second");
    run.work("t.1.1");
    assert.equal(
      run.brief("work", "t.1").goOn?.session,
      "work:t.1#2",
      "the answer is part of its conversation",
    );
  });

  test("a question that its parent passes on, or fails to answer, reaches a person at last", () => {
    const run = CoreRun.planned([task("a")]);
    spawns(run, "t.1");
    spawns(run, "t.1.1", { signature: "s2" });
    asks(run, "t.1.1.1", { text: "Which?" });
    run.fail("work", "t.1.1");
    run.answer(newest(run, "t.1"), { is: "passed-on", question: "q1", text: "Which one do you want?" });
    const [question] = [...run.state.questions.values()];
    assert.deepEqual([question?.to, question?.text], ["person", "Which one do you want?"]);
    run.say({ type: "answer", question: "q1", text: "the third" });
    assert.equal(run.brief("work", "t.1.1.1").goOn!.response.result.content, "the third");
    assert.deepEqual(run.running("work"), ["work:t.1.1.1#2"]);
  });

  test("a parent whose turn was lost is asked again, and is stopped when a person is faster", () => {
    const run = CoreRun.planned([task("a")]);
    spawns(run, "t.1");
    asks(run, "t.1.1", { text: "Which?" });
    run.say({ type: "interrupted", job: newest(run, "t.1") as never });
    assert.deepEqual(run.running("work"), ["work:t.1#3"]);
    const facts = run.say({ type: "answer", question: "q1", text: "mine" });
    assert.equal(facts.find((fact) => fact.type === "job.ended")?.how, "aborted");
    assert.deepEqual(run.running("work"), ["work:t.1.1#2"]);
  });

  test("a question of a task that is cancelled is no longer open, and nobody is asked any more", () => {
    const run = CoreRun.planned([task("a")]);
    spawns(run, "t.1");
    asks(run, "t.1.1", { text: "Which?" });
    run.say({ type: "cancel", task: "t.1.1" as never });
    assert.equal(run.state.questions.size, 0);
    assert.deepEqual(run.running("work"), ["work:t.1#3"], "its parent goes on, by a new turn alone");
    assert.equal(run.brief("work", "t.1").goOn?.isAnswering, undefined);
  });

  test("a question's time and the lease of the turn that answers it may be over in one moment", () => {
    const run = CoreRun.planned([task("a")], {
      leaseMs: { plan: 900 * MINUTE, work: 30 * MINUTE },
      questions: { waitMs: 30 * MINUTE },
    });
    spawns(run, "t.1");
    asks(run, "t.1.1", { text: "Which?", default: "the first" });
    run.wait(30 * MINUTE);
    assert.equal(run.brief("work", "t.1.1").goOn!.response.result.content, "the first");
    assert.deepEqual(run.running("work"), ["work:t.1.1#2"]);
  });

  test("a turn that answers too late is neither the task's result nor the answer to another question", () => {
    const run = CoreRun.planned([task("a")], { leaseMs: { plan: 900 * MINUTE, work: 5 * MINUTE } });
    spawns(run, "t.1");
    asks(run, "t.1.1", { text: "Which?" });
    run.say({ type: "pause" });
    run.wait(6 * MINUTE); // The turn expires, and no other job replaces it.
    run.say({ type: "answer", question: "q1", text: "mine" });
    run.answer("work:t.1#2", { is: "answered", question: "q1", text: "the second" });
    run.say({ type: "resume" });
    assert.equal(run.brief("work", "t.1.1").goOn!.response.result.content, "mine");
    asks(run, "t.1.1", { text: "May I delete the data?" });
    answers(run, "t.1", "q1", "the second");
    assert.equal(
      run.state.questions.get("q2")?.to,
      "person",
      "who speaks of another question has not answered",
    );
  });

  test("a parent whose budget is spent is not asked, and does not fail before its subtask has ended", () => {
    const budget = { task: { maxTokens: 100_000 }, reserveTokens: 40_000 };
    const run = CoreRun.planned([task("a")], { budget });
    run.answer(newest(run, "t.1"), calls(run, "t.1", { is: "subtask", order: order() }), { tokens: 10_000 });
    run.answer(newest(run, "t.1.1"), calls(run, "t.1.1", { is: "question", question: { text: "?" } }), {
      tokens: 60_000,
    });
    assert.equal(run.is("t.1"), "waiting");
    assert.equal(run.state.questions.get("q1")?.to, "person");
  });

  test("a lost turn is asked for again after a wait, and a restart does not count", () => {
    const run = CoreRun.planned([task("a")], { retry: { firstMs: MINUTE } });
    spawns(run, "t.1");
    asks(run, "t.1.1", { text: "Which?" });
    for (let n = 0; n < 9; n += 1) run.say({ type: "interrupted", job: newest(run, "t.1") as never });
    assert.equal(run.state.questions.get("q1")?.to, "t.1");
    run.fail("work", "t.1", "agent-unreachable");
    assert.deepEqual(run.running("work"), []);
    run.wait(MINUTE);
    assert.equal(run.running("work").length, 1);
  });
});

describe("the place of a subtask", () => {
  test("is before all that are as urgent as the task that waits for it, at every level", () => {
    const run = CoreRun.planned(
      ["a", "b", "c"].map((id) => task(id)),
      { capacity: { work: 1 } },
    );
    spawns(run, "t.1");
    assert.deepEqual(run.running("work"), ["work:t.1.1#1"]);
    spawns(run, "t.1.1", { signature: "s2" });
    assert.deepEqual(run.running("work"), ["work:t.1.1.1#1"]);
    run.work("t.1.1.1");
    assert.deepEqual(run.running("work"), ["work:t.1.1#2"]);
  });

  test("after the run's budget is spent, a worker that waits keeps its files from nobody", () => {
    const budget = { maxTokens: 10_000_000, reserveTokens: 100_000, landingShare: 0.3 };
    const loose = task("b", { scope: ["./"], terms: { loose: true } });
    const run = CoreRun.planned([task("a"), loose, task("c")], { budget });
    run.work("t.2", { filesChanged: ["a.ts"] });
    while (run.is("t.2") === "landing") run.running("check").length > 0 ? run.check() : run.landRed();
    assert.equal(run.state.heldBack.get("t.2" as TaskId), "t.1");
    const spent = { ...failure("budget", "spent"), budget: "run" } as const;
    run.answer("work:t.3#1", { is: "failed", failure: spent });
    spawns(run, "t.1");
    assert.deepEqual(run.running("work"), ["work:t.2#2"], "what was refused a landing is made again");
  });
});
