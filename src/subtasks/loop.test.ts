/** Tests the loop of director, script and evaluator. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { failing, reasonOf, type Turn, teamOf, template } from "../../test/support/subtasks.ts";
import { failure } from "../core/failure.ts";
import type { Iteration, ScriptRunner } from "../ports/subtasks.ts";
import { executeTask } from "./execute.ts";
import type { TaskTemplate } from "./template.ts";

const loop = (more: Partial<TaskTemplate> = {}) =>
  template("loop", { director: template("director"), evaluator: template("evaluator"), ...more });

const director: Turn = ({ task: { inputs } }) => `draft ${String(inputs["iteration"])}`;

/** An evaluator that accepts the draft of this iteration. */
const contentWith =
  (good: number): Turn =>
  ({ task: { inputs } }) => ({
    content: `seen ${String(inputs["director_result"])}`,
    status: "COMPLETE",
    notes: { success: inputs["iteration"] === good },
  });

test("the director hears the feedback each round, until the evaluator is content", async () => {
  const { handler, of } = teamOf({ director, evaluator: contentWith(3) });
  const { status, content, notes } = await executeTask(loop(), { goal: "poem" }, { handler });
  assert.deepEqual(
    [status, content, notes["success"], notes["iterations"]],
    ["COMPLETE", "draft 3", true, 3],
  );
  assert.deepEqual(
    of("director").map(({ task }) => task.inputs),
    [
      { goal: "poem", iteration: 1 },
      { goal: "poem", iteration: 2, previous: "draft 1", feedback: "seen draft 1" },
      { goal: "poem", iteration: 3, previous: "draft 2", feedback: "seen draft 2" },
    ],
  );
  const history = notes["history"] as readonly Iteration[];
  assert.deepEqual(history[1], {
    iteration: 2,
    director: "draft 2",
    evaluator: "seen draft 2",
    success: false,
  });
});

test("after 5 rounds that were not good enough the loop has failed, with its last draft and its history", async () => {
  const { handler, of } = teamOf({ director, evaluator: contentWith(99) });
  const result = await executeTask(loop(), {}, { handler });
  assert.equal(reasonOf(result), "iterations");
  assert.equal(result.content, "draft 5");
  assert.equal(result.notes.error?.details?.partialResults, "draft 5");
  assert.equal((result.notes["history"] as unknown[]).length, 5);
  assert.equal(of("director").length, 5);
});

test("max_iterations 0 calls nobody", async () => {
  let scripts = 0;
  const { handler, record } = teamOf({});
  const runScript: ScriptRunner = async () => ({ exit_code: ++scripts, stdout: "", stderr: "" });
  const result = await executeTask(loop({ max_iterations: 0, script: "test" }), {}, { handler, runScript });
  assert.deepEqual(
    [record.length, scripts, result.notes["iterations"], result.notes["history"]],
    [0, 0, 0, []],
  );
  assert.equal(reasonOf(result), "iterations");
});

test("a script's exit code is data: the evaluator and the next director see it", async () => {
  const { handler, of } = teamOf({
    director,
    evaluator: ({ task: { inputs } }) => ({
      content: "see the script",
      status: "COMPLETE",
      notes: { success: (inputs["script"] as { exit_code: number }).exit_code === 0 },
    }),
  });
  const runs: string[] = [];
  const runScript: ScriptRunner = async (script, input) => {
    runs.push(`${script} < ${input}`);
    return { exit_code: runs.length === 1 ? 1 : 0, stdout: `run ${runs.length}`, stderr: "" };
  };
  const { status, notes } = await executeTask(loop({ script: "npm test" }), {}, { handler, runScript });
  assert.equal(status, "COMPLETE");
  assert.deepEqual(runs, ["npm test < draft 1", "npm test < draft 2"]);
  assert.deepEqual(of("director")[1]!.task.inputs["script"], { exit_code: 1, stdout: "run 1", stderr: "" });
  assert.equal((notes["history"] as readonly Iteration[])[0]!.script?.exit_code, 1);
});

test("every failing step names its phase and iteration, and the history so far is there", async () => {
  const second =
    (turn: Turn): Turn =>
    (given) =>
      given.task.inputs["iteration"] === 2 ? failing("broke down") : turn(given);
  const ok: ScriptRunner = async () => ({ exit_code: 0, stdout: "", stderr: "" });
  let runs = 0;
  const breaking: ScriptRunner = async () =>
    ++runs === 2
      ? { failure: failure("repository", "broke down") }
      : { exit_code: 0, stdout: "", stderr: "" };
  for (const [phase, team, runScript] of [
    ["director", { director: second(director), evaluator: contentWith(9) }, ok],
    ["script", { director, evaluator: contentWith(9) }, breaking],
    ["evaluator", { director, evaluator: second(contentWith(9)) }, ok],
  ] as const) {
    const { handler } = teamOf(team);
    const result = await executeTask(loop({ script: "test" }), {}, { handler, runScript });
    const { details, message } = result.notes.error!;
    assert.deepEqual([details!["failedPhase"], details!["failedIteration"]], [phase, 2]);
    assert.match(message, new RegExp(`^${phase} of iteration 2 failed .*broke down`));
    assert.equal((result.notes["history"] as unknown[]).length, 1);
    assert.equal(result.content, phase === "evaluator" ? "draft 2" : "draft 1");
  }
});

test("a script that nothing may run fails in its phase before the director is asked, and says why", async () => {
  const { handler, record } = teamOf({ director, evaluator: contentWith(1) });
  const result = await executeTask(loop({ script: "test" }), {}, { handler });
  assert.equal(result.notes.error!.details!["failedPhase"], "script");
  assert.match(result.notes.error!.message, /options\.runScript is missing/);
  const whyNoScripts = "allow it: --allow-code";
  const refused = await executeTask(loop({ script: "test" }), {}, { handler, whyNoScripts });
  assert.equal(refused.notes.error!.message, whyNoScripts);
  assert.equal(record.length, 0);
});

test("an evaluator's verdict counts, however long its other notes are", async () => {
  const { handler, record } = teamOf({
    director,
    evaluator: () => ({
      content: "good",
      status: "COMPLETE",
      notes: { success: true, findings: "x".repeat(100_000) },
    }),
  });
  const result = await executeTask(loop(), {}, { handler });
  assert.deepEqual([result.status, result.notes.iterations, record.length], ["COMPLETE", 1, 2]);
});

test("a script that hangs ends with the loop's turn", async () => {
  const stop = new AbortController();
  const { handler } = teamOf({ director, evaluator: contentWith(1) });
  let given: AbortSignal | undefined;
  const runScript: ScriptRunner = (_, __, signal) => {
    given = signal;
    stop.abort();
    return new Promise(() => {});
  };
  const result = await executeTask(loop({ script: "test" }), {}, { handler, runScript, signal: stop.signal });
  assert.equal(reasonOf(result), "execution_halted");
  assert.ok(given?.aborted);
});
