/** `skein show`: the tasks of a run as a tree, or everything about one of them. */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { type Project, salvageList } from "../../../compose.ts";
import type { Handoff } from "../../../core/handoff.ts";
import { taskOf } from "../../../core/state.ts";
import { ROOT, type Task, type TaskId } from "../../../core/task.ts";
import { findTask, rowsOf, type SetbackView, type TaskRow, viewOf } from "../../../core/view.ts";
import { hasFailed } from "../../../ports/repository.ts";
import type { RunHome } from "../../../ports/runs.ts";
import { type Act, type Context, say, usage, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { paint, type Tone } from "../output.ts";
import type { ShowOptions } from "../verbs/options.ts";
import { firstLine, fit, harmless, harmlessLines, plural, short } from "../words.ts";
import { git } from "./git.ts";
import { unknownTask } from "./logs.ts";
import { prefixOf } from "./names.ts";
import { hasExit, NEVER, openHere, openSeen, type SeenRun } from "./project.ts";

export const show: Act<ShowOptions> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const run = await openSeen(context, project, options.run);
  if (hasExit(run)) return run.exit;
  if (options.task === undefined) return showTree(context, run);
  const { state } = run.seen;
  const task = options.task === "the goal" ? ROOT : findTask(state, options.task);
  if (typeof task === "object")
    return usage(context, unknownTask(options.task, task.several), `skein show ${options.run} lists them`);
  const details = await detailsOf(project, run, task);
  if (context.json) writeJson(context, details);
  else showTask(context, details);
  return EXIT.done;
};

function showTree(context: Context, { home, seen }: SeenRun): ExitCode {
  const rows = rowsOf(seen.state);
  if (context.json) {
    writeJson(context, { run: home.record.run, goal: home.record.goal, tasks: rows });
    return EXIT.done;
  }
  const names = rows.map(
    ({ depth, key, task }) => `${"  ".repeat(depth)}${harmless(key, 60)}${task === ROOT ? "" : `  ${task}`}`,
  );
  const wide = Math.min(60, Math.max(0, ...names.map(({ length }) => length)));
  const columns = context.out.size?.().columns ?? MAX_COLUMNS;
  for (const [i, row] of rows.entries()) {
    const again = row.attempts > 1 ? `, ${row.attempts} attempts` : "";
    const what = fit(firstLine(row.description, 70), columns - wide - STATE_COLUMNS - 5);
    const state = paint(context.out, TONES[row.word] ?? "plain", `${row.word}${again}`.padEnd(STATE_COLUMNS));
    say(context, `${names[i]!.padEnd(wide)}  ${state}  ${paint(context.out, "quiet", what)}`.trimEnd());
  }
  return EXIT.done;
}

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
  readonly spec: Task["spec"];
  readonly state: Task["state"];
  readonly tries: Task["tries"];
  readonly setbacks: readonly SetbackView[];
  readonly branches: readonly string[];
  readonly commit?: string;
  readonly transcripts: readonly string[];
  readonly salvaged: readonly string[];
};

async function detailsOf(project: Project, { home, seen }: SeenRun, id: TaskId): Promise<Details> {
  const { spec, state, tries } = taskOf(seen.state, id);
  const row = rowsOf(seen.state).find(({ task }) => task === id)!;
  const view = viewOf(seen);
  const { run } = home.record;
  const kept = await salvageList(project, NEVER);
  const landing = view.landings.find(({ members }) => members.some(({ task }) => task === id));
  return {
    task: id,
    name: row.name,
    word: row.word,
    spec,
    state,
    tries,
    setbacks: view.setbacks.filter(({ task }) => task === id),
    branches: await branchesOf(project, `${prefixOf(home.record)}${run}/task/${id}.`),
    ...(landing === undefined ? {} : { commit: landing.commit }),
    transcripts: transcriptsOf(home, id),
    salvaged: hasFailed(kept)
      ? []
      : kept.filter((one) => one.run === run && one.task === id).map(({ ref }) => ref),
  };
}

/** Those that are there: an attempt that made nothing, or whose work was only kept aside, has none. */
async function branchesOf({ located }: Project, start: string): Promise<readonly string[]> {
  const args = ["for-each-ref", "--format=%(refname:short)", `refs/heads/${start}*`];
  const names = (await git(located.top, args))?.split("\n") ?? [];
  // After the task comes the attempt; another dot would make it a task below this one.
  return names.filter((name) => name.startsWith(start) && /^\d+-/.test(name.slice(start.length)));
}

/** "work_t.2_1-….log": as the transcripts of its jobs are called. */
function transcriptsOf({ folder }: RunHome, id: TaskId): readonly string[] {
  const place = path.join(folder, "transcripts");
  const isIts = (file: string) => file.startsWith(`work_${id}_`) || file.startsWith(`plan_${id}_`);
  return existsSync(place)
    ? readdirSync(place)
        .filter(isIts)
        .sort()
        .map((file) => path.join(place, file))
    : [];
}

function showTask(context: Context, details: Details): void {
  const { task, name, word, spec, state, tries, setbacks, branches, commit, transcripts, salvaged } = details;
  const heading = (text: string) => say(context, `\n${paint(context.out, "strong", text)}`);
  const list = (title: string, lines: readonly string[]) => {
    if (lines.length > 0) heading(title);
    for (const line of lines) say(context, `  ${harmless(line)}`);
  };
  const { out } = context;
  say(
    context,
    `${paint(out, "strong", harmless(name))}  ${task}  ${paint(out, TONES[word] ?? "plain", word)}`,
  );
  for (const line of harmlessLines(spec.description, 60)) say(context, `  ${line}`);
  list("Accepted if", spec.acceptance === "" ? [] : harmlessLines(spec.acceptance, 40));
  list("May touch", spec.scope);
  list("After", spec.after);
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
      state.failure.message,
      ...(state.failure.next === undefined ? [] : [`try: ${state.failure.next}`]),
    ]);
  if (state.is === "cancelled") list("Cancelled", [state.reason]);
  if ("handoff" in state && state.handoff) showHandoff(context, state.handoff, list);
  if (commit !== undefined) list("Landed as", [short(commit)]);
  list(`Branches (${plural(tries.attempts, "attempt")})`, branches);
  list("Transcripts", transcripts);
  list("Kept work (skein salvage)", salvaged);
}

function showHandoff(
  context: Context,
  { status, summary, metrics, filesChanged, concerns, suggestions }: Handoff,
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
}
