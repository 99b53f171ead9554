/** Improves a draft in rounds until it is accepted: a director writes, a script may test, an evaluator judges. */
import { hasFailed } from "../core/result.ts";
import type { HandledTaskResult, Iteration, ScriptOutcome, TaskInputs } from "../ports/subtasks.ts";
import { exhausted, failedResult, taskFailure, withDetails } from "./errors.ts";
import { complete, groupFailure, isDone, runPart } from "./group.ts";
import type { LiveTask, Ran } from "./live-task.ts";
import { cutTo } from "./tokens.ts";

export const DEFAULT_ITERATIONS = 5;

/** Complete if the evaluator's notes say `success: true`, failed if no round was good enough. */
export async function runLoop(task: LiveTask): Promise<HandledTaskResult> {
  const { template, spawned, chain } = task.known;
  const max = template.max_iterations ?? DEFAULT_ITERATIONS;
  // Checked before the director is paid for.
  if (max > 0 && template.script !== undefined && chain.runScript === undefined)
    return failedResult(
      taskFailure("input_validation_failure", chain.whyNoScripts ?? NO_SCRIPTS, {
        ...{ subtaskType: spawned.type, failedPhase: "script", failedIteration: 1 },
      }),
    );
  const history: Iteration[] = [];
  for (let iteration = 1; iteration <= max; iteration += 1) {
    const round = await runRound(task, iteration, history);
    if (task.over) return task.over;
    if ("failure" in round) return round.failure;
    history.push(round.done);
    task.partial = round.done.director;
    if (round.done.success)
      return complete(round.done.director, { success: true, iterations: iteration, history });
  }
  const error = withDetails(exhausted("iterations", { used: history.length, limit: max }), {
    subtaskType: spawned.type,
    partialResults: task.partial,
  });
  return {
    ...failedResult(error, task.partial),
    notes: { error, success: false, iterations: history.length, history },
  };
}

type Round = { readonly done: Iteration } | { readonly failure: HandledTaskResult };
type Phase = "director" | "script" | "evaluator";

async function runRound(task: LiveTask, iteration: number, history: readonly Iteration[]): Promise<Round> {
  const { template, spawned } = task.known;
  const failed = (phase: Phase, ran: Ran): Round => ({
    failure: roundFailure(task, phase, iteration, history, ran),
  });
  const directed = await runPart(task, template.director!, {
    ...spawned.inputs,
    iteration,
    ...toldOf(history.at(-1)),
  });
  if (!isDone(directed)) return failed("director", directed);
  task.ended.push({ ...directed, type: `director ${iteration}` });
  const made = directed.result.content;
  const script = template.script === undefined ? undefined : await runScript(task, template.script, made);
  if (script !== undefined && "result" in script) return failed("script", script);
  const inputs: TaskInputs = {
    ...spawned.inputs,
    iteration,
    director_result: made,
    ...(script && { script }),
  };
  const judged = await runPart(task, template.evaluator!, inputs);
  if (!isDone(judged)) {
    task.partial = made;
    return failed("evaluator", judged);
  }
  task.ended.push({ ...judged, type: `evaluator ${iteration}` });
  const success = judged.result.notes.success === true;
  return {
    done: { iteration, director: made, ...(script && { script }), evaluator: judged.result.content, success },
  };
}

const NO_SCRIPTS = "the template has a script, and nothing runs scripts here: options.runScript is missing";

const toldOf = (last: Iteration | undefined): TaskInputs =>
  last === undefined
    ? {}
    : { previous: last.director, feedback: last.evaluator, ...(last.script && { script: last.script }) };

/** The exit code is data for the evaluator; only a script that could not be run is a failure. */
async function runScript(task: LiveTask, script: string, input: string): Promise<ScriptOutcome | Ran> {
  const { chain } = task.known;
  const failed = (message: string): Ran => ({
    id: `${task.id}.script`,
    result: failedResult(taskFailure("unexpected_error", message)),
    isRefused: false,
  });
  const { runScript: run } = chain;
  if (run === undefined) return failed(NO_SCRIPTS); // Checked before the first round.
  const got = await task.within({
    what: "the script",
    ms: chain.limits.turnMs,
    work: () => run(script, input, task.signal),
  });
  if ("over" in got) return { ...failed(""), result: got.over };
  if (hasFailed(got.value)) return failed(got.value.failure.message);
  const { exit_code, stdout, stderr } = got.value;
  const most = chain.limits.resultTokens / 2;
  return { exit_code, stdout: cutTo(stdout, most), stderr: cutTo(stderr, most) };
}

function roundFailure(
  task: LiveTask,
  phase: Phase,
  iteration: number,
  history: readonly Iteration[],
  ran: Ran,
): HandledTaskResult {
  const policy = { failedPhase: phase, failedIteration: iteration, partialResults: task.partial };
  const error = groupFailure(`${phase} of iteration ${iteration}`, ran, task.known.spawned.type, policy);
  return {
    ...failedResult(error, task.partial),
    notes: { error, success: false, iterations: history.length, history },
  };
}
