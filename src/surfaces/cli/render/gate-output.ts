/** `skein show --gates` and `--diff`: prints gate output, failures first, and the changes of failed attempts. */
import { type AttemptDiff, attemptDiff, type GateOutput, gateOutput } from "../../../app/gate-output.ts";
import type { SeenRun } from "../../../app/see-run.ts";
import { hasFailed } from "../../../core/result.ts";
import { ROOT, type TaskId } from "../../../core/task.ts";
import { type GateRunView, gateRunLabel, gateRunsOf, gateRunsOfTask } from "../../../core/view/gate-runs.ts";
import { failedAttemptsOf } from "../../../core/view/task-facts.ts";
import type { RunFiles } from "../../../ports/run-files.ts";
import { harmless } from "../../../text/words.ts";
import { NEVER } from "../acts/project.ts";
import { type Context, say, writeJson } from "../context.ts";
import { paint } from "../output.ts";

export type OutputOptions = {
  readonly gates?: true;
  readonly diff?: true;
  /** The whole stored output, not only the failures. */
  readonly whole?: true;
  readonly attempt?: number;
};

type Shown = { readonly run: SeenRun; readonly task: TaskId | undefined; readonly files: RunFiles };

export async function showOutputs(
  context: Context,
  { run, task, files }: Shown,
  { gates, diff, whole, attempt }: OutputOptions,
): Promise<void> {
  const runs = gates ? gateRunsAbout(run, task, attempt) : [];
  const attempts = diff && task !== undefined ? failedOf(run, task, attempt) : [];
  const outputs: (GateRunView & { readonly text: GateOutput })[] = [];
  for (const one of runs)
    outputs.push({
      ...one,
      text: await gateOutput(
        { home: run.home, output: one.output, hasPassed: one.green === true },
        { files },
        NEVER,
      ),
    });
  const diffs: AttemptOf[] = [];
  for (const one of attempts) diffs.push(await diffOf(run, task!, one, files));
  if (context.json) {
    writeJson(context, {
      run: run.home.record.run,
      ...(task !== undefined && { task }),
      ...(gates && { gateRuns: outputs }),
      ...(diff && { attempts: diffs }),
    });
    return;
  }
  for (const one of outputs) sayGateRun(context, one, whole === true);
  for (const one of diffs) sayDiff(context, one);
  if (gates && outputs.length === 0) say(context, "No gate has run for it.");
  if (diff && diffs.length === 0) say(context, "No attempt at it has failed.");
}

const gateRunsAbout = (
  { seen }: SeenRun,
  task: TaskId | undefined,
  attempt: number | undefined,
): readonly GateRunView[] =>
  task === undefined || task === ROOT ? gateRunsOf(seen) : gateRunsOfTask(seen, task, attempt);

function sayGateRun(
  context: Context,
  { text, ...run }: GateRunView & { readonly text: GateOutput },
  isWhole: boolean,
): void {
  const tone = run.green === false ? "bad" : "strong";
  say(context, paint(context.out, tone, harmless(gateRunLabel(run))));
  if (text.is === "missing") {
    say(context, `  ${text.why}\n`);
    return;
  }
  const parts = isWhole ? [{ lines: text.lines }] : text.excerpt;
  for (const [i, { lines }] of parts.entries()) {
    if (i > 0) say(context, paint(context.out, "quiet", "  …"));
    for (const line of lines) say(context, `  ${line}`);
  }
  say(context);
}

type AttemptOf = { readonly attempt: number; readonly why: string; readonly change: AttemptDiff };

function failedOf({ seen }: SeenRun, task: TaskId, only: number | undefined) {
  const failed = new Map(
    failedAttemptsOf(seen, task).flatMap(({ attempt, failure }) =>
      attempt === undefined ? [] : [[attempt, failure.message] as const],
    ),
  );
  const { state } = seen.state.tasks.get(task)!;
  const { attempts } = seen.state.tasks.get(task)!.tries;
  if (state.is === "failed" && attempts > 0) failed.set(attempts, state.failure.message);
  return [...failed]
    .filter(([attempt]) => only === undefined || attempt === only)
    .map(([attempt, why]) => ({ attempt, why }));
}

async function diffOf(
  { home }: SeenRun,
  task: TaskId,
  { attempt, why }: Pick<AttemptOf, "attempt" | "why">,
  files: RunFiles,
): Promise<AttemptOf> {
  const change = await attemptDiff({ home, task, attempt }, { files }, NEVER);
  return {
    attempt,
    why,
    change: hasFailed(change) ? { is: "missing", why: change.failure.message } : change,
  };
}

function sayDiff(context: Context, { attempt, why, change }: AttemptOf): void {
  const from = change.is === "kept" ? `  ${change.ref}` : "";
  say(context, paint(context.out, "strong", `attempt ${attempt}: ${harmless(why, 200)}`));
  if (change.is === "missing") {
    say(context, `  ${harmless(change.why)}\n`);
    return;
  }
  say(context, paint(context.out, "quiet", from));
  for (const line of change.lines) {
    const tone = line.startsWith("+") ? "good" : line.startsWith("-") ? "bad" : "plain";
    say(context, paint(context.out, tone, line));
  }
  say(context);
}
