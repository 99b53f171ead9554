/** `skein show`: the tasks of a run as a tree, or everything about one of them. */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { askGit, type Project, salvageList } from "../../../compose.ts";
import type { Handoff } from "../../../core/handoff.ts";
import { taskOf } from "../../../core/state.ts";
import { ROOT, type Task, type TaskId } from "../../../core/task.ts";
import {
  findTask,
  type RunView,
  rowsOf,
  type SetbackView,
  type TaskRow,
  viewOf,
} from "../../../core/view.ts";
import { hasFailed } from "../../../ports/repository.ts";
import type { Owner, RunHome } from "../../../ports/runs.ts";
import { type Act, type Context, say, usage, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { paint, type Tone } from "../output.ts";
import { type Budget, budgetTexts, callTexts, costRows, spentText, unaccountedTexts } from "../spent-text.ts";
import { lossRows, tookTexts } from "../tally-text.ts";
import type { ShowOptions } from "../verbs/options.ts";
import { firstLine, fit, harmless, harmlessLines, onPage, plural, short } from "../words.ts";
import { type BaseMoved, baseMoved, baseMovedText } from "./base-moved.ts";
import { readEnd } from "./configuration.ts";
import { type FlakyOfRun, flakyOfRun, listFlaky, sayFlaky } from "./flaky.ts";
import { unknownTask } from "./logs.ts";
import { budgetOf, prefixOf } from "./names.ts";
import { hasExit, NEVER, openHere, openNamed, type SeenRun } from "./project.ts";
import { type RunWord, runText, runWord } from "./run-state.ts";
import { proposedIn, termLines, termsOf } from "./show-plan.ts";

export const show: Act<ShowOptions> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  if (options.flaky) return listFlaky(context, project);
  const run = await openNamed(context, project, options.run);
  if (hasExit(run)) return run.exit;
  const owner = await run.home.owner();
  if (options.task === undefined) {
    const flaky = await flakyOfRun(project, run.seen.state);
    const isOver = run.seen.state.closed !== undefined;
    return showTree(context, run, owner, { flaky, moved: await baseMoved(project, run.home.record, isOver) });
  }
  const { state } = run.seen;
  const task = options.task === "the goal" ? ROOT : findTask(state, options.task);
  if (typeof task === "object")
    return usage(context, unknownTask(options.task, task.several), `skein show ${options.run} lists them`);
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
  const state = runWord(view, owner);
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
  if (home.record.plan !== undefined) say(context, "it follows a plan: nobody plans");
  if (state === "stopped") say(context, `nobody is at work now; skein resume ${run} goes on`);
  if (proposed.size > 0)
    say(context, `its plan waits for your approval: skein approve ${run}, or --decline "<reason>"`);
  if (moved) say(context, harmless(baseMovedText(moved)));
  for (const line of setup ? harmlessLines([setup.message, setup.next].filter(Boolean).join("\n")) : [])
    say(context, paint(context.out, "bad", line));
  for (const thing of left) say(context, paint(context.out, "bad", `left: ${harmless(thing)}`));
  say(context);
  const names = rows.map(
    ({ depth, key, task }) => `${"  ".repeat(depth)}${harmless(key, 60)}${task === ROOT ? "" : `  ${task}`}`,
  );
  const wide = Math.min(60, Math.max(0, ...names.map(({ length }) => length)));
  const columns = context.out.size?.().columns ?? MAX_COLUMNS;
  for (const [i, row] of rows.entries()) {
    const again = row.attempts > 1 ? `, ${row.attempts} attempts` : "";
    const what = fit(firstLine(row.description, 70), columns - wide - STATE_COLUMNS - 5);
    const word = wordIn(row.word, state);
    const about = paint(context.out, TONES[row.word] ?? "plain", `${word}${again}`.padEnd(STATE_COLUMNS));
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
    ...(tally.costs.length > 0 ? [spentText(spent)] : []),
    ...callTexts(tally),
    ...unaccountedTexts(spent),
    ...budgetTexts({ spent }, budget),
    ...tookTexts(tally),
  ];
  const took = told.map((text) => onPage(context.out, `  ${text}`, "    "));
  const costs = tally.costs.length > 1 ? costRows(tally, MAX_COSTS).map((row) => `  ${row}`) : [];
  const cost = lossRows(tally).map((row) => `  ${row}`);
  for (const [heading, lines] of [
    ["What it took", took],
    ["What each task has cost", costs],
    ["What came to nothing has cost", cost],
  ] as const) {
    if (lines.length > 0) say(context, `\n${paint(context.out, "strong", heading)}`);
    for (const line of lines) say(context, line);
  }
}

const MAX_COSTS = 50;

/** In a run that nobody drives, nobody is at work, whatever the log says was going on. */
const wordIn = (word: TaskRow["word"], state: RunWord): string =>
  state === "stopped" && AT_WORK.has(word) ? "was at work" : word;
const AT_WORK: ReadonlySet<TaskRow["word"]> = new Set(["planning", "working", "gating"]);

/** Why it was made again, and why it is not done, in a few words, and each of them once. */
function reasonsOf({ setbacks, undone, givenUp }: RunView, id: TaskId): readonly string[] {
  const end = undone.find(({ task }) => task === id);
  const instead = end?.replacedBy === undefined ? [] : [`replaced by ${end.replacedBy}`];
  const ofIt = setbacks.filter(
    ({ task, charge, failure }) =>
      task === id && charge !== "nothing" && !(end?.reason.startsWith(failure.message) ?? false),
  );
  const groups = [...Map.groupBy(ofIt, ({ of, failure }) => `${of} ${failure.message}`).values()];
  const shown = groups.slice(-MAX_REASONS).map((group) => {
    const [{ of, failure }] = group as [SetbackView];
    const attempts = group.map(({ attempt }) => attempt).join(", ");
    const who = of === "plan" ? "planner" : `attempt ${attempts}`;
    return `${who}: ${failure.message}`;
  });
  const whys = givenUp.flatMap(({ task, reason }) => (task === id ? [`given up: ${reason}`] : []));
  return [...shown, ...(end === undefined ? [] : [`${end.end}: ${end.reason}`]), ...instead, ...whys];
}

const MAX_REASONS = 3;
const MAX_REASON_CHARS = 120;

/** "cancelled, 9 attempts", with room to spare. */
const STATE_COLUMNS = 20;
/** Where there is no terminal, lines may be as long as they get. */
const MAX_COLUMNS = 1_000;

const TONES: Readonly<Partial<Record<TaskRow["word"], Tone>>> = {
  done: "good",
  failed: "bad",
  skipped: "bad",
  cancelled: "bad",
  waiting: "quiet",
  parked: "quiet",
};

type Details = {
  readonly task: TaskId;
  readonly name: string;
  readonly word: TaskRow["word"];
  /** Of its run. */
  readonly run: RunWord;
  readonly reason?: string;
  readonly next?: string;
  readonly replacedBy?: string;
  readonly givenUp: readonly string[];
  /** By name. */
  readonly after: readonly string[];
  readonly spec: Task["spec"];
  readonly state: Task["state"];
  readonly tries: Task["tries"];
  readonly setbacks: readonly SetbackView[];
  readonly branches: readonly string[];
  readonly commit?: string;
  /** Where its result is, if its plan asks for one and it is there. */
  readonly output?: string;
  readonly transcripts: readonly string[];
  /** Of the landings that had it in their candidate. */
  readonly gates: readonly string[];
  /** The attempt that a gate refused last, and the end of what that gate wrote. */
  readonly refusedAttempt?: number;
  readonly gateOutput: readonly string[];
  readonly salvaged: readonly string[];
  /** What its own jobs have cost, all attempts and turns together; null: nothing was reported. */
  readonly cost: RunView["tally"]["costs"][number] | null;
};

async function detailsOf(
  project: Project,
  { home, seen }: SeenRun,
  id: TaskId,
  owner: Owner | undefined,
): Promise<Details> {
  const { spec, state, tries } = taskOf(seen.state, id);
  const row = rowsOf(seen.state).find(({ task }) => task === id)!;
  const view = viewOf(seen);
  const { run } = home.record;
  const kept = await salvageList(project, NEVER);
  const { reason, next, replacedBy } = view.undone.find(({ task }) => task === id) ?? {};
  const refusedAttempt = refusedIn(seen, id);
  const refusing = gatesOf(home, seen, id, refusedAttempt).at(-1);
  const landing = view.landings.find(({ members }) => members.some(({ task }) => task === id));
  return {
    task: id,
    name: row.name,
    word: row.word,
    run: runWord(view, owner),
    ...(reason === undefined ? {} : { reason }),
    ...(next === undefined ? {} : { next }),
    ...(replacedBy === undefined ? {} : { replacedBy }),
    givenUp: view.givenUp.flatMap((one) => (one.task === id ? [one.reason] : [])),
    after: termsOf(seen.state, id).after,
    spec,
    state,
    tries,
    setbacks: view.setbacks.filter(({ task }) => task === id),
    branches: await branchesOf(project, `${prefixOf(home.record)}${run}/task/${id}.`),
    ...(landing === undefined ? {} : { commit: landing.commit }),
    ...outputOf(home, spec),
    transcripts: transcriptsOf(
      home,
      (file) => file.startsWith(`work_${id}_`) || file.startsWith(`plan_${id}_`),
    ),
    gates: gatesOf(home, seen, id),
    ...(refusedAttempt === undefined ? {} : { refusedAttempt }),
    gateOutput: refusedAttempt !== undefined && refusing !== undefined ? await endOf(refusing) : [],
    cost: view.tally.costs.find(({ task }) => task === id) ?? null,
    salvaged: hasFailed(kept)
      ? []
      : kept.filter((one) => one.run === run && one.task === id).map(({ ref }) => ref),
  };
}

/** Those that are there: an attempt that made nothing, or whose work was only kept aside, has none. */
async function branchesOf({ located }: Project, start: string): Promise<readonly string[]> {
  const args = ["for-each-ref", "--format=%(refname:short)", `refs/heads/${start}*`];
  const names = (await askGit(located.top, args))?.split("\n") ?? [];
  // After the task comes the attempt; another dot would make it a task below this one.
  return names.filter((name) => name.startsWith(start) && /^\d+-/.test(name.slice(start.length)));
}

function outputOf({ folder }: RunHome, { terms }: Task["spec"]): Pick<Details, "output"> {
  const output = path.join(folder, "scratchpad", terms?.output ?? "");
  return terms?.output !== undefined && existsSync(output) ? { output } : {};
}

/** "work_t.2_1-….log": as the transcripts of its jobs are called. */
function transcriptsOf({ folder }: RunHome, isIts: (file: string) => boolean): readonly string[] {
  const place = path.join(folder, "transcripts");
  return existsSync(place)
    ? readdirSync(place)
        .filter(isIts)
        .sort()
        .map((file) => path.join(place, file))
    : [];
}

/** The newest attempt that a red gate refused, whatever came after it. */
function refusedIn({ state, story }: SeenRun["seen"], id: TaskId): number | undefined {
  const { state: now, tries } = taskOf(state, id);
  if (now.is === "failed" && now.failure.kind === "gate-red") return tries.attempts;
  return story.setbacks.findLast(({ task, failure }) => task === id && failure.kind === "gate-red")?.attempt;
}

/** Oldest first: "land_12-….log" is of the twelfth landing. Of one attempt, or of all. */
function gatesOf(home: RunHome, { story }: SeenRun["seen"], id: TaskId, attempt?: number): readonly string[] {
  const jobs = story.candidates.filter(({ members }) =>
    members.some((one) => one.task === id && (attempt === undefined || one.attempt === attempt)),
  );
  return jobs.flatMap(({ job }) =>
    transcriptsOf(home, (file) => file.startsWith(`${job.replace("#", "_")}-`)),
  );
}

async function endOf(file: string): Promise<readonly string[]> {
  const lines = harmlessLines((await readEnd(file, MAX_END_BYTES)).trimEnd(), Number.MAX_SAFE_INTEGER);
  return lines.slice(-MAX_END_LINES);
}

const MAX_END_LINES = 20;
const MAX_END_BYTES = 20_000;

function showTask(context: Context, details: Details): void {
  const { task, name, word, run, spec, state, tries, setbacks, branches, commit, transcripts, salvaged } =
    details;
  const now = run === "stopped" && AT_WORK.has(word) ? "was at work when the run stopped" : word;
  const heading = (text: string) => say(context, `\n${paint(context.out, "strong", text)}`);
  const list = (title: string, lines: readonly string[]) => {
    if (lines.length > 0) heading(title);
    for (const line of lines) say(context, `  ${harmless(line)}`);
  };
  const { out } = context;
  say(
    context,
    `${paint(out, "strong", harmless(name))}  ${task}  ${paint(out, TONES[word] ?? "plain", now)}`,
  );
  for (const line of harmlessLines(spec.description, 60)) say(context, `  ${line}`);
  list("Accepted if", spec.acceptance === "" ? [] : harmlessLines(spec.acceptance, 40));
  list("By", spec.agent === undefined ? [] : [spec.agent]);
  list("May touch", spec.terms?.loose ? ["any file"] : spec.scope);
  list("After", details.after);
  if (setbacks.length > 0) heading(`Came to nothing (${setbacks.length})`);
  for (const { of, attempt, failure } of setbacks) {
    say(
      context,
      `  ${of === "plan" ? "planner" : `attempt ${attempt}`}: ${harmless(`${failure.kind}: ${failure.message}`)}`,
    );
    if (failure.next !== undefined) say(context, `    try: ${harmless(failure.next)}`);
  }
  if (state.is === "failed")
    list("Failed", [
      details.reason ?? state.failure.message,
      ...(details.next === undefined ? [] : [`try: ${details.next}`]),
    ]);
  list("Replaced by", details.replacedBy === undefined ? [] : [details.replacedBy]);
  list("Given up", details.givenUp);
  if (state.is === "cancelled") list("Cancelled", [state.reason]);
  if ("handoff" in state && state.handoff) showHandoff(context, state.handoff, list);
  list("Its result", details.output === undefined ? [] : [details.output]);
  if (commit !== undefined) list("Landed as", [short(commit)]);
  if (details.cost) list("Has cost", [spentText(details.cost), ...unaccountedTexts(details.cost)]);
  list(`Branches (${plural(tries.attempts, "attempt")})`, branches);
  list("Transcripts", transcripts);
  list("Gated in", details.gates);
  list(`The end of what the gate wrote that refused attempt ${details.refusedAttempt}`, details.gateOutput);
  list("Kept work (skein salvage)", salvaged);
}

function showHandoff(
  context: Context,
  { status, summary, metrics, filesChanged, concerns, suggestions, flags = [] }: Handoff,
  list: (title: string, lines: readonly string[]) => void,
): void {
  say(context, `\n${paint(context.out, "strong", `Handed in: ${status}`)}`);
  for (const line of harmlessLines(summary, 40)) say(context, `  ${line}`);
  const { linesAdded, linesRemoved } = metrics;
  if (filesChanged.length > 0)
    list(
      `Changed ${plural(filesChanged.length, "file")}, +${linesAdded} −${linesRemoved}`,
      filesChanged.slice(0, 50),
    );
  list("Concerns", concerns);
  list("Suggestions", suggestions);
  list("Changes what the gate runs, or what steers agents", flags);
}
