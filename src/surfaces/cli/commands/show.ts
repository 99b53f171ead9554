/** `skein show`: prints the tasks of a run as a tree, or one of them in full. */

import { type Command, InvalidArgumentError } from "commander";
import { type BaseMoved, baseMoved } from "../../../app/deliverable.ts";
import type { SeenRun } from "../../../app/see-run.ts";
import { taskIn } from "../../../app/which-run.ts";
import { filesOf, gitIn, pullFiles } from "../../../compose/project.ts";
import { ROOT, type TaskId } from "../../../core/task.ts";
import { type Budget, budgetOf, budgetTexts } from "../../../core/view/budget-left.ts";
import { runWord, spentLabel, taskLabel } from "../../../core/view/labels.ts";
import { failedAttempts } from "../../../core/view/task-facts.ts";
import { type FailedAttemptView, type RunView, rowsOf, viewOf } from "../../../core/view/view.ts";
import type { Owner } from "../../../ports/runs.ts";
import { firstLine, harmless, harmlessLines, plural } from "../../../text/words.ts";
import { hasExit, openHere, openNamed } from "../acts/project.ts";
import { runText } from "../acts/run-state.ts";
import { baseMovedText } from "../base-text.ts";
import { fit, onPage, table } from "../columns.ts";
import { type Act, type Context, say, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { paint } from "../output.ts";
import { sayRefused } from "../refusals.ts";
import { callTexts, costRows, lossRows, tookTexts, unaccountedTexts } from "../render/cost.ts";
import { type FlakyOfRun, flakyOfRun, listFlaky, sayFlaky } from "../render/flaky.ts";
import { type OutputOptions, showOutputs } from "../render/gate-output.ts";
import { showResult } from "../render/result.ts";
import { detailsOf, proposedIn, showTask, TASK_TONES, termLines, termsOf } from "../render/task.ts";
import { type AddTo, addRepo, examples, type RepoOption } from "./options.ts";

export const addShow: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Shows the tasks of a run as a tree, or one task in full: its description, its attempts and why they failed, " +
        "the worker's report, and where its branches, transcripts and unfinished work are. " +
        "Name a task by its id (t.2.1), its full name (parser/lexer), or its own name. " +
        "Without a run: the open one, else the newest.",
    )
    .option("--gates", "show what the gate wrote in each of its runs, what failed first")
    .option("--diff", "show what the failed attempts of a task had changed")
    .option("--result", "print the whole result of a task and nothing else")
    .option("--attempt <n>", "with --gates or --diff: of this attempt only", attemptNumber)
    .option("--whole", "with --gates: all of the output")
    .option("--flaky", "list the flaky tests of all runs instead: failed and passed on the same tree")
    .addHelpText(
      "after",
      examples(
        "skein show",
        "skein show 1115-k7qd",
        "skein show 1115-k7qd parser/lexer",
        "skein show 1115-k7qd --gates                    # of all landings and checks",
        "skein show 1115-k7qd parser/lexer --gates --diff",
        "skein show 1115-k7qd parser/lexer --gates --attempt 2 --whole",
        "skein show 1115-k7qd parser/lexer --result > lexer.md",
        "skein show --flaky",
      ),
    )
    .action((run: string | undefined, task: string | undefined, options: FlagOptions, command: Command) => {
      if (options.flaky && run !== undefined)
        command.error("error: --flaky is about all runs: do not name one");
      const ofTask = options.diff ? "--diff" : options.result ? "--result" : undefined;
      if (ofTask !== undefined && task === undefined)
        command.error(`error: ${ofTask} is about a task: name the run and the task`);
      return perform((context) => show(context, { ...options, run, task }));
    });
};

type FlagOptions = RepoOption & OutputOptions & { readonly flaky?: true; readonly result?: true };
type ShowOptions = FlagOptions & { readonly run: string | undefined; readonly task: string | undefined };

function attemptNumber(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("It must be a number, such as 2.");
  return Number(text);
}

const show: Act<ShowOptions> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  if (options.flaky) return listFlaky(context, project);
  const run = await openNamed(context, project, options.run);
  if (hasExit(run)) return run.exit;
  const owner = await run.home.owner();
  if (options.task === undefined && !options.gates) {
    const flaky = await flakyOfRun(project, run.seen.state);
    const isOver = run.seen.state.closed !== undefined;
    return showTree(context, run, owner, {
      flaky,
      moved: await baseMoved(run.home.record, isOver, gitIn(project)),
    });
  }
  const task = options.task === undefined || options.task === "the goal" ? ROOT : taskIn(run, options.task);
  if (typeof task === "object") return sayRefused(context, task);
  await pullFiles(run.home);
  if (options.result) return (await showResult(context, run, task)) ? EXIT.done : EXIT.notAllDone;
  if (options.gates || options.diff) {
    await showOutputs(context, { run, task, files: filesOf(project) }, options);
    return EXIT.done;
  }
  const details = await detailsOf(project, run, task, owner);
  if (context.json) writeJson(context, details);
  else showTask(context, details);
  return EXIT.done;
};

function showTree(
  context: Context,
  { home, seen }: SeenRun,
  owner: Owner | undefined,
  { flaky, moved }: { readonly flaky: readonly FlakyOfRun[]; readonly moved: BaseMoved | undefined },
): ExitCode {
  const rows = rowsOf(seen.state);
  const view = viewOf(seen);
  const state = runWord(view, owner !== undefined);
  const { run, goal } = home.record;
  const proposed = proposedIn(seen.state);
  if (context.json) {
    writeJson(context, {
      run,
      goal,
      state,
      tasks: rows.map((row) => ({ ...row, ...termsOf(seen.state, row.task) })),
      ...(proposed.size === 0 ? {} : { proposed: [...proposed] }),
      givenUp: view.givenUp,
      flaky,
      ...(moved === undefined ? {} : { baseMoved: moved }),
      ...(view.setup && { setup: view.setup }),
      ...(view.probed && { probed: view.probed }),
      ...(view.leftovers && { leftovers: view.leftovers }),
      spent: view.spent,
      tally: view.tally,
    });
    return EXIT.done;
  }
  const { counts, left, setup } = view;
  say(
    context,
    `run ${run}, ${runText(state, owner)}: ${counts.done} of ${plural(counts.total, "task")} done`,
  );
  if (home.record.plan !== undefined) say(context, "It follows a plan file: there is no planner.");
  if (state === "stopped") say(context, `No agent is working. To continue: skein resume ${run}`);
  if (proposed.size > 0)
    say(context, `Its plan needs your approval: skein approve ${run}, or --decline "<reason>"`);
  if (moved) say(context, harmless(baseMovedText(moved)));
  for (const line of setup ? harmlessLines([setup.message, setup.next].filter(Boolean).join("\n")) : [])
    say(context, paint(context.out, "bad", line));
  for (const thing of left) say(context, paint(context.out, "bad", `unfinished: ${harmless(thing)}`));
  say(context);
  const names = rows.map(
    ({ depth, key, task }) => `${"  ".repeat(depth)}${harmless(key, 60)}${task === ROOT ? "" : `  ${task}`}`,
  );
  const wide = Math.min(60, Math.max(0, ...names.map(({ length }) => length)));
  const columns = context.out.size?.().columns ?? MAX_COLUMNS;
  for (const [i, row] of rows.entries()) {
    const again = row.attempts > 1 ? `, ${row.attempts} attempts` : "";
    const what = fit(firstLine(row.description, 70), columns - wide - STATE_COLUMNS - 5);
    const word = taskLabel(row.word, state, row);
    const about = paint(
      context.out,
      TASK_TONES[row.word] ?? "plain",
      `${word}${again}`.padEnd(STATE_COLUMNS),
    );
    say(context, `${names[i]!.padEnd(wide)}  ${about}  ${paint(context.out, "quiet", what)}`.trimEnd());
    for (const why of reasonsOf(view, row.task))
      say(context, `${"  ".repeat(row.depth + 2)}${harmless(why, MAX_REASON_CHARS)}`);
    for (const term of proposed.has(row.task) ? termLines(seen.state, row.task) : [])
      say(context, `${"  ".repeat(row.depth + 2)}${term}`);
  }
  sayFlaky(context, flaky);
  showTally(context, view, budgetOf(home.record));
  return EXIT.done;
}

function showTally(context: Context, { tally, spent }: RunView, budget: Budget): void {
  const told = [
    ...(tally.costs.length > 0 ? [`cost: ${spentLabel(spent)}`] : []),
    ...callTexts(tally),
    ...unaccountedTexts(spent),
    ...budgetTexts({ spent }, budget),
    ...tookTexts(tally),
  ];
  const took = told.map((text) => onPage(context.out, `  ${text}`, "    "));
  const costs = tally.costs.length > 1 ? table(costRows(tally, MAX_COSTS)).map((row) => `  ${row}`) : [];
  const cost = table(lossRows(tally)).map((row) => `  ${row}`);
  for (const [heading, lines] of [
    ["Time and cost", took],
    ["Cost by task", costs],
    ["Cost of failed attempts", cost],
  ] as const) {
    if (lines.length > 0) say(context, `\n${paint(context.out, "strong", heading)}`);
    for (const line of lines) say(context, line);
  }
}

const MAX_COSTS = 50;

/** Why the task was retried and why it is not done, in a few words, each reason once. */
function reasonsOf(view: RunView, id: TaskId): readonly string[] {
  const { undone, givenUp } = view;
  const end = undone.find(({ task }) => task === id);
  const instead = end?.replacedBy === undefined ? [] : [`replaced by ${end.replacedBy}`];
  const ofIt = failedAttempts(view).filter(
    ({ task, failure }) => task === id && !(end?.reason.startsWith(failure.message) ?? false),
  );
  const groups = [...Map.groupBy(ofIt, ({ of, failure }) => `${of} ${failure.message}`).values()];
  const shown = groups.slice(-MAX_REASONS).map((group) => {
    const [{ of, failure }] = group as [FailedAttemptView];
    const attempts = group.map(({ attempt }) => attempt).join(", ");
    const who = of === "plan" ? "planner" : `attempt ${attempts}`;
    return `${who}: ${failure.message}`;
  });
  const whys = givenUp.flatMap(({ task, reason }) => (task === id ? [`given up: ${reason}`] : []));
  return [...shown, ...(end === undefined ? [] : [`${end.end}: ${end.reason}`]), ...instead, ...whys];
}

const MAX_REASONS = 3;
const MAX_REASON_CHARS = 120;

/** Wide enough for "ready to land, 9 attempts". */
const STATE_COLUMNS = 25;
/** Without a terminal, lines may have any length. */
const MAX_COLUMNS = 1_000;
