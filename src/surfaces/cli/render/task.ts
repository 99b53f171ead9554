/** Words one task: its state, what a proposed plan asks of it, and all its details. */

import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { prefixOf } from "../../../app/lost-run.ts";
import type { SeenRun } from "../../../app/see-run.ts";
import { askGit, salvageOf } from "../../../compose/project.ts";
import type { Handoff } from "../../../core/handoff.ts";
import { isProposed, nameOf, type RunState, taskOf } from "../../../core/log/state.ts";
import { hasFailed } from "../../../core/result.ts";
import type { Task, TaskId } from "../../../core/task.ts";
import { type RunWord, runWord, spentLabel, taskLabel } from "../../../core/view/labels.ts";
import { failedAttempts, landingOf, scopeLabel } from "../../../core/view/task-facts.ts";
import {
  type FailedAttemptView,
  type RunView,
  rowsOf,
  type TaskRow,
  viewOf,
} from "../../../core/view/view.ts";
import type { Project } from "../../../ports/project.ts";
import type { Owner, RunHome } from "../../../ports/runs.ts";
import { failingText } from "../../../text/failing-part.ts";
import { harmless, harmlessLines, plural, short } from "../../../text/words.ts";
import { NEVER } from "../acts/project.ts";
import { readEnd } from "../configuration.ts";
import { type Context, say } from "../context.ts";
import { paint, type Tone } from "../output.ts";
import { unaccountedTexts } from "./cost.ts";
import { resultFileOf } from "./result.ts";

/** The tasks that wait until a person approves the plan. */
export const proposedIn = (state: RunState): ReadonlySet<TaskId> =>
  new Set(isProposed(state) ? state.proposed : []);

/** `scope`: everything if no files are named. */
type TaskTerms = {
  readonly scope: readonly string[];
  readonly after: readonly string[];
  readonly acceptance: string;
};

export function termsOf(state: RunState, id: TaskId): TaskTerms {
  const { scope, after, acceptance, terms } = taskOf(state, id).spec;
  return {
    scope: terms?.loose ? [] : scope,
    after: after.map((other) => nameOf(state, other)),
    acceptance,
  };
}

/** The terms of a task; a long acceptance is in `skein show <run> <task>`. */
export function termLines(state: RunState, id: TaskId): readonly string[] {
  const { after, acceptance } = termsOf(state, id);
  const [first = "", ...more] = harmlessLines(acceptance.trim(), MAX_LINES);
  return [
    ...(after.length > 0 ? [`depends on: ${harmless(after.join(", "))}`] : []),
    `may change: ${harmless(scopeLabel(taskOf(state, id).spec))}`,
    ...(first === "" ? [] : [`acceptance: ${first}`, ...more.map((line) => `  ${line}`)]),
  ];
}

const MAX_LINES = 10;

export const TASK_TONES: Readonly<Partial<Record<TaskRow["word"], Tone>>> = {
  done: "good",
  failed: "bad",
  skipped: "bad",
  cancelled: "bad",
  waiting: "quiet",
  parked: "quiet",
};

type Details = Pick<TaskRow, "machine" | "isUntaken"> & {
  readonly task: TaskId;
  readonly name: string;
  readonly word: TaskRow["word"];
  /** The state of the run. */
  readonly run: RunWord;
  readonly reason?: string;
  readonly next?: string;
  readonly replacedBy?: string;
  readonly givenUp: readonly string[];
  /** The tasks that it waits for, by name. */
  readonly after: readonly string[];
  readonly spec: Task["spec"];
  readonly state: Task["state"];
  readonly tries: Task["tries"];
  readonly setbacks: readonly FailedAttemptView[];
  readonly branches: readonly string[];
  readonly commit?: string;
  /** The flags of its landing as a whole. */
  readonly landingFlags?: readonly string[];
  /** The file of its whole result, if its plan asks for one or the result was too long, and the file exists. */
  readonly output?: string;
  readonly transcripts: readonly string[];
  /** The output files of the landings that had it in their candidate. */
  readonly gates: readonly string[];
  /** The last attempt that a gate refused, and the failures in that gate's words. */
  readonly refusedAttempt?: number;
  readonly gateOutput: readonly string[];
  readonly salvaged: readonly string[];
  /** The cost of its own jobs, all attempts and turns together; null if nothing was reported. */
  readonly cost: RunView["tally"]["costs"][number] | null;
};

export async function detailsOf(
  project: Project,
  { home, seen }: SeenRun,
  id: TaskId,
  owner: Owner | undefined,
): Promise<Details> {
  const { spec, state, tries } = taskOf(seen.state, id);
  const row = rowsOf(seen.state).find(({ task }) => task === id)!;
  const view = viewOf(seen);
  const { run } = home.record;
  const kept = await salvageOf(project).list(NEVER);
  const { reason, next, replacedBy } = view.undone.find(({ task }) => task === id) ?? {};
  const refusedAttempt = refusedIn(seen, id);
  const refusing = gatesOf(home, seen, id, refusedAttempt).at(-1);
  const landing = landingOf(seen, id);
  return {
    task: id,
    name: row.name,
    word: row.word,
    ...(row.machine !== undefined && { machine: row.machine }),
    ...(row.isUntaken && { isUntaken: row.isUntaken }),
    run: runWord(view, owner !== undefined),
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
    ...(landing?.flags && { landingFlags: landing.flags }),
    ...outputOf(home, spec, state),
    transcripts: transcriptsOf(
      home,
      (file) => file.startsWith(`work_${id}_`) || file.startsWith(`plan_${id}_`),
    ),
    gates: gatesOf(home, seen, id),
    ...(refusedAttempt === undefined ? {} : { refusedAttempt }),
    gateOutput: refusedAttempt !== undefined && refusing !== undefined ? await failingIn(refusing) : [],
    cost: view.tally.costs.find(({ task }) => task === id) ?? null,
    salvaged: hasFailed(kept)
      ? []
      : kept.filter((one) => one.run === run && one.task === id).map(({ ref }) => ref),
  };
}

/** The existing branches: an attempt without a change, or whose work was only salvaged, has none. */
async function branchesOf({ located }: Project, start: string): Promise<readonly string[]> {
  const args = ["for-each-ref", "--format=%(refname:short)", `refs/heads/${start}*`];
  const names = (await askGit(located.top, args))?.split("\n") ?? [];
  // After the task comes the attempt; another dot would make it a task below this one.
  return names.filter((name) => name.startsWith(start) && /^\d+-/.test(name.slice(start.length)));
}

function outputOf(home: RunHome, spec: Task["spec"], state: Task["state"]): Pick<Details, "output"> {
  const output = resultFileOf(home, spec, "handoff" in state ? state.handoff?.artefact : undefined);
  return output !== undefined && existsSync(output) ? { output } : {};
}

/** "work_t.2_1-….log": files are named like the transcripts of its jobs. */
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
  return story.failedAttempts.findLast(({ task, failure }) => task === id && failure.kind === "gate-red")
    ?.attempt;
}

/** Oldest first: "land_12-….log" is of the twelfth landing. Of one attempt, or of all. */
function gatesOf(home: RunHome, { story }: SeenRun["seen"], id: TaskId, attempt?: number): readonly string[] {
  const jobs = story.spans.all.filter(
    ({ isMove, members }) =>
      !isMove && members.some((one) => one.task === id && (attempt === undefined || one.attempt === attempt)),
  );
  return jobs.flatMap(({ job }) => transcriptsOf(home, (file) => isOutputOf(file, job.replace("#", "_"))));
}

/** "land_1.2-….log" and "land_1_….log" are of other gate runs of the same job. */
const isOutputOf = (file: string, job: string) =>
  file.startsWith(job) && /[-._]/.test(file[job.length] ?? "");

/** The failures in the gate's own words; the file has the whole output. */
async function failingIn(file: string): Promise<readonly string[]> {
  const text = failingText(await readEnd(file, MAX_END_BYTES), { maxLines: MAX_SHOWN_LINES });
  return harmlessLines(text.trimEnd(), Number.MAX_SAFE_INTEGER);
}

const MAX_SHOWN_LINES = 20;
const MAX_END_BYTES = 1_000_000;

export function showTask(context: Context, details: Details): void {
  const { task, name, word, run, spec, state, tries, branches, commit, transcripts, salvaged } = details;
  const heading = (text: string) => say(context, `\n${paint(context.out, "strong", text)}`);
  const list = (title: string, lines: readonly string[]) => {
    if (lines.length > 0) heading(title);
    for (const line of lines) say(context, `  ${harmless(line)}`);
  };
  const { out } = context;
  say(
    context,
    `${paint(out, "strong", harmless(name))}  ${task}  ${paint(out, TASK_TONES[word] ?? "plain", harmless(taskLabel(word, run, details)))}`,
  );
  for (const line of harmlessLines(spec.description, 60)) say(context, `  ${line}`);
  list("Acceptance", spec.acceptance === "" ? [] : harmlessLines(spec.acceptance, 40));
  list("Agent", spec.agent === undefined ? [] : [spec.agent]);
  list("Files it may change", [scopeLabel(spec)]);
  list("Depends on", details.after);
  const setbacks = failedAttempts(details);
  if (setbacks.length > 0) heading(`Failed attempts: ${setbacks.length}`);
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
  list("Result file", details.output === undefined ? [] : [details.output]);
  if (commit !== undefined) list("Landed as", [short(commit), ...(details.landingFlags ?? [])]);
  if (details.cost) list("Cost", [spentLabel(details.cost), ...unaccountedTexts(details.cost)]);
  list(`Branches (${plural(tries.attempts, "attempt")})`, branches);
  list("Transcripts", transcripts);
  list("Gate output", details.gates);
  list(`What failed in the gate of attempt ${details.refusedAttempt}`, details.gateOutput);
  list("Unfinished work that was kept (skein salvage)", salvaged);
}

function showHandoff(
  context: Context,
  { status, summary, metrics, filesChanged, concerns, suggestions, flags = [] }: Handoff,
  list: (title: string, lines: readonly string[]) => void,
): void {
  say(context, `\n${paint(context.out, "strong", `Worker report: ${status}`)}`);
  for (const line of harmlessLines(summary, 40)) say(context, `  ${line}`);
  const { linesAdded, linesRemoved } = metrics;
  if (filesChanged.length > 0)
    list(
      `Changed ${plural(filesChanged.length, "file")}, +${linesAdded} −${linesRemoved}`,
      filesChanged.slice(0, 50),
    );
  list("Concerns", concerns);
  list("Suggestions", suggestions);
  list("Changes to the gate or to agent instructions", flags);
}
