/** Lists flaky tests: those of one run, or all that were seen in the repository. */
import { flakyTestsOf } from "../../../compose/project.ts";
import type { RunState } from "../../../core/log/state.ts";
import type { FlakyHistory } from "../../../ports/flaky-tests.ts";
import type { Project } from "../../../ports/project.ts";
import { ago, harmless, plural } from "../../../text/words.ts";
import { table } from "../columns.ts";
import { type Context, say, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { paint } from "../output.ts";

/** `skein show --flaky`. */
export async function listFlaky(context: Context, project: Project): Promise<ExitCode> {
  const history = await flakyTestsOf(project).list();
  const { tests } = history;
  if (context.json) {
    writeJson(context, history);
    return EXIT.done;
  }
  sayDamage(context, history);
  if (tests.length === 0) {
    say(context, "No test of this repository has been seen to fail and pass on the same tree.");
    return EXIT.done;
  }
  const now = context.now();
  const rows = tests.map(({ name, times, lastAt, lastRun }) => [
    `${times}`,
    ago(now - lastAt),
    lastRun,
    harmless(name),
  ]);
  const [head = "", ...lines] = table([
    ["TIMES", "LAST", "IN RUN", "FAILED AND PASSED ON THE SAME TREE"],
    ...rows,
  ]);
  say(context, paint(context.out, "quiet", head));
  for (const line of lines) say(context, line);
  return EXIT.done;
}

export type FlakyOfRun = {
  readonly name: string;
  readonly times: number;
  /** How often it was flaky in all runs of the repository. */
  readonly timesInRepository: number;
};

/** The tests that were flaky in this run, the most frequent first. */
export async function flakyOfRun(project: Project, { flaky }: RunState): Promise<readonly FlakyOfRun[]> {
  const seen = [...flaky].filter(([, times]) => times > 0);
  if (seen.length === 0) return [];
  const { tests } = await flakyTestsOf(project).list();
  const known = new Map(tests.map(({ name, times }) => [name, times]));
  return seen
    .map(([name, times]) => ({ name, times, timesInRepository: Math.max(times, known.get(name) ?? 0) }))
    .sort((a, b) => b.timesInRepository - a.timesInRepository || b.times - a.times);
}

export function sayFlaky(context: Context, tests: readonly FlakyOfRun[]): void {
  if (tests.length === 0) return;
  say(context, `\n${paint(context.out, "strong", "Flaky: failed and passed on the same tree")}`);
  for (const { name, times, timesInRepository } of tests.slice(0, MAX_SHOWN))
    say(
      context,
      `  ${harmless(name)}: ${plural(times, "time")} here, ${timesInRepository} in this repository`,
    );
  if (tests.length > MAX_SHOWN) say(context, `  and ${tests.length - MAX_SHOWN} more: skein show --flaky`);
}

const MAX_SHOWN = 20;

/** One line for an overview; nothing if no flaky test is known. */
export function sayFlakyCount(context: Context, history: FlakyHistory): void {
  sayDamage(context, history);
  const { length } = history.tests;
  if (length > 0)
    say(context, `\n${plural(length, "flaky test is", "flaky tests are")} known here: skein show --flaky`);
}

const sayDamage = (context: Context, { damage }: FlakyHistory): void => {
  if (damage !== undefined) say(context, paint(context.out, "bad", harmless(damage)));
};
