/** `skein status`: lists the runs, or shows the state of one. */

import { type BaseMoved, baseMoved, type Deliverable, deliverableOf } from "../../../app/deliverable.ts";
import { targetOf } from "../../../app/lost-run.ts";
import { type SeenRun, seeRun } from "../../../app/see-run.ts";
import { findSeen, movedHere } from "../../../app/which-run.ts";
import { flakyTestsOf, gitIn } from "../../../compose/project.ts";
import type { Failure } from "../../../core/failure.ts";
import { hasFailed } from "../../../core/result.ts";
import type { TaskId } from "../../../core/task.ts";
import { budgetOf, budgetTexts } from "../../../core/view/budget-left.ts";
import { elapsedMs } from "../../../core/view/elapsed.ts";
import {
  leftoversLabel,
  machinesIn,
  type RunWord,
  runningIn,
  runWord,
  spentLabel,
} from "../../../core/view/labels.ts";
import { notProbedText } from "../../../core/view/narrate-gate.ts";
import { approvalFor, lacksMachine, questionsFor } from "../../../core/view/needs.ts";
import { standingOf } from "../../../core/view/standing.ts";
import { failedAttempts, givenUpTexts } from "../../../core/view/task-facts.ts";
import { type QuestionView, type RunView, viewOf } from "../../../core/view/view.ts";
import { machinesLabel } from "../../../core/view/view-machines.ts";
import { undoneText } from "../../../core/view/view-reasons.ts";
import { type Wait, waitOf } from "../../../core/view/view-wait.ts";
import type { Project } from "../../../ports/project.ts";
import type { Owner, RunHome, RunRecord } from "../../../ports/runs.ts";
import {
  ago,
  clockTime,
  day,
  duration,
  firstLine,
  harmless,
  harmlessLines,
  plural,
} from "../../../text/words.ts";
import { hasExit, openHere, orExit } from "../acts/project.ts";
import { runText } from "../acts/run-state.ts";
import { baseMovedText } from "../base-text.ts";
import { fit, table } from "../columns.ts";
import { type Act, type Context, refuse, say, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { paint } from "../output.ts";
import { unaccountedTexts } from "../render/cost.ts";
import { sayFlakyCount } from "../render/flaky.ts";
import { failedTitle, gateChangeTexts, setbackTexts } from "../render/report.ts";
import { runningText, targetText, waitText } from "../render/running.ts";
import { type AddTo, addRepo, examples, type RepoOption } from "./options.ts";

export const addStatus: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Without a run: lists the runs of this repository, newest first. With a run: its current state.",
    )
    .addHelpText("after", examples("skein status", "skein status 1115-k7qd", "skein status --json"))
    .action((run: string | undefined, options: RepoOption) =>
      perform((context) => status(context, { ...options, run })),
    );
};

const status: Act<RepoOption & { readonly run: string | undefined }> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  return options.run === undefined ? listRuns(context, project) : oneRun(context, project, options.run);
};

type Row = {
  readonly run: string;
  readonly goal: string;
  readonly createdAt: number;
  readonly state: string;
  readonly pid?: number;
  readonly done: number;
  readonly total: number;
  /** Questions of workers to the person. */
  readonly questions?: readonly (QuestionView & { readonly line: string })[];
};

async function listRuns(context: Context, project: Project): Promise<ExitCode> {
  const entries = await project.runs.list();
  const rows: Row[] = [];
  const broken: string[] = [];
  for (const entry of entries) {
    const row = hasFailed(entry) ? entry : await rowOf(project, entry);
    if (hasFailed(row)) broken.push(row.failure.message);
    else rows.push(row);
  }
  const moved = entries.length === 0 ? await movedHere(project) : undefined;
  if (moved) return refuse(context, EXIT.configuration, moved);
  const flaky = await flakyTestsOf(project).list();
  if (context.json) writeJson(context, { runs: rows, broken, flaky: flaky.tests.length });
  else if (rows.length + broken.length === 0) say(context, noRunsText(context, project));
  else {
    sayRows(context, rows, broken);
    sayFlakyCount(context, flaky);
  }
  return EXIT.done;
}

function noRunsText({ env }: Context, { isFleets }: Project): string {
  if (isFleets)
    return 'The fleet has no runs of this repository yet. Start one: skein run --fleet "<goal>" --agent <command>';
  const more = env["SKEIN_FLEET_URL"] ? "\nruns of the fleet: skein status --fleet" : "";
  return `There are no runs in this repository yet. Start one: skein run "<goal>" --agent <command>${more}`;
}

function sayRows(context: Context, rows: readonly Row[], broken: readonly string[]): void {
  const now = context.now();
  const lines = rows.map(({ run, goal, createdAt, state, pid, done, total }) => [
    run,
    pid === undefined ? state : `${state} (${pid})`,
    `${done}/${total}`,
    ago(now - createdAt),
    firstLine(goal, 60),
  ]);
  const [head = "", ...rest] = table([["RUN", "STATE", "TASKS", "STARTED", "GOAL"], ...lines]);
  if (rows.length > 0) say(context, paint(context.out, "quiet", head));
  const { columns } = context.out.size?.() ?? { columns: 1_000 };
  for (const [i, line] of rest.entries()) {
    say(context, fit(line, columns - 1));
    for (const question of rows[i]?.questions ?? [])
      say(context, `  question for you: ${harmless(question.line)}`);
  }
  for (const text of broken) say(context, paint(context.out, "bad", harmless(text)));
}

async function rowOf(project: Project, record: RunRecord) {
  const home = await project.runs.open(record.run);
  if (hasFailed(home)) return home;
  const { run, goal, createdAt } = record;
  const owner = await home.owner().catch(() => undefined);
  const read = await seeRun(home);
  const found = { run, goal, createdAt, ...(owner === undefined ? {} : { pid: owner.pid }) };
  if (hasFailed(read)) return { ...found, state: "unreadable", done: 0, total: 0 };
  const view = standingOf(read.seen);
  const questions = questionsFor(view).map((one) => ({ ...one, line: questionText(one, run) }));
  const { done, total } = view.counts;
  return {
    ...found,
    state: runWord(view, owner !== undefined),
    done,
    total,
    ...(questions.length > 0 && { questions }),
  };
}

async function oneRun(context: Context, project: Project, run: string): Promise<ExitCode> {
  const found = await orExit(context, findSeen(run, project));
  if (hasExit(found)) return found.exit;
  const { home, seen } = found;
  const owner = await home.owner();
  const view = viewOf(seen);
  const state = runWord(view, owner !== undefined);
  const wait = owner === undefined ? undefined : await waitIn(context, { home, seen });
  const moved = await baseMoved(home.record, seen.state.closed !== undefined, gitIn(project));
  const bring = await deliverableOf(home.record, view, gitIn(project));
  const more = {
    ...(bring.is === "delivered" ? { deliveredTo: bring.branch } : {}),
    ...(moved === undefined ? {} : { baseMoved: moved }),
    ...(owner === undefined ? {} : { pid: owner.pid }),
    ...(wait === undefined ? {} : { wait }),
    ...(state === "stopped" && { machines: undefined }), // The machines of a stopped run are unknown.
  };
  if (context.json) writeJson(context, { ...view, state, ...more });
  else sayOne(context, { home, view, state, owner, wait, moved, bring });
  return EXIT.done;
}

/** Undefined if another version wrote the record, whose settings cannot be read. */
async function waitIn(context: Context, { home, seen }: SeenRun): Promise<Wait | undefined> {
  const { fromSettings, toPolicy } = await import("../../../config/index.ts"); // Slow to load, and rarely needed.
  const read = fromSettings(home.record.settings);
  return "config" in read ? waitOf(seen.state, toPolicy(read.config), context.now()) : undefined;
}

type One = {
  readonly home: RunHome;
  readonly view: RunView;
  readonly state: RunWord;
  readonly owner: Owner | undefined;
  readonly wait: Wait | undefined;
  readonly moved: BaseMoved | undefined;
  readonly bring: Deliverable;
};

function sayOne(context: Context, { home, view, state, owner, wait, moved, bring }: One): void {
  const { record } = home;
  const { target, queue, undone, concerns, left } = view;
  const { spent, accounts, setup, probed, leftovers } = view;
  const heading = (text: string) => say(context, `\n${paint(context.out, "strong", text)}`);
  const list = (title: string, lines: readonly string[]) => {
    if (lines.length > 0) heading(title);
    for (const line of lines.slice(0, MAX_LISTED)) say(context, `  ${harmless(line)}`);
    if (lines.length > MAX_LISTED) say(context, `  and ${lines.length - MAX_LISTED} more`);
  };
  const took = elapsedMs(view, { isDriven: owner !== undefined, now: context.now() });
  const rows = [
    ["run", `${record.run}, ${runText(state, owner)}`],
    ["goal", firstLine(record.goal)],
    ...(record.plan === undefined ? [] : [["plan", "follows a plan file: there is no planner"] as const]),
    ["tasks", countsText(view)],
    ["target", `${targetOf(record)} at ${targetText(target)}`],
    ["time", `${duration(took)}, ${plural(view.events, "event")}`],
    [
      "cost",
      [spentLabel(spent), ...unaccountedTexts(spent), ...budgetTexts(view, budgetOf(record))].join("; "),
    ],
  ] as const;
  const base = moved === undefined ? [] : [["base", baseMovedText(moved)] as const];
  const gate = probed === undefined ? [] : [["gate", probedText(probed)] as const];
  const inTheWay = leftovers === undefined ? [] : [["gate", leftoversLabel(leftovers)] as const];
  const stuck = setup === undefined ? [] : setupRows(setup);
  const now = wait === undefined ? [] : [["now", waitText(wait, context.now())] as const];
  const lost = view.unreachable;
  const agent = lost
    ? [
        [
          "agent",
          `unreachable since ${clockTime(lost.since)} (${plural(lost.tasks, "task")}): ${lost.reason}`,
        ] as const,
      ]
    : [];
  const machines = fleetText(view, state);
  const fleet = machines === "" ? [] : [["fleet", machines] as const];
  const waits = owner && wait ? [] : accounts.map((one) => ["account", accountText(one)] as const);
  for (const [key, text] of [
    ...rows,
    ...gate,
    ...inTheWay,
    ...base,
    ...stuck,
    ...(setup ? [] : now),
    ...agent,
    ...fleet,
    ...waits,
  ])
    say(context, `${paint(context.out, "quiet", key.padEnd(8))}${harmless(text)}`);
  list(
    "Running now",
    runningIn(view, state).map(
      (job) =>
        `${(job.isUntaken ? "" : duration(context.now() - job.since)).padEnd(12)} ${runningText(job, target)}`,
    ),
  );
  list(
    "Questions for you",
    questionsFor(view).map((one) => questionText(one, record.run)),
  );
  list(
    "Landing queue",
    queue.map(({ name }) => name),
  );
  list("Changes to the gate or to agent instructions", gateChangeTexts(view.gateChanges));
  const again = failedAttempts(view);
  const whys = setbackTexts(again);
  const earlier = whys.length - MAX_SETBACKS;
  list(failedTitle(again.length), [
    ...whys.slice(-MAX_SETBACKS),
    ...(earlier > 0 ? [`and ${earlier} earlier: skein show ${record.run}`] : []),
  ]);
  list("Not done", undone.map(undoneText));
  list("Given up", givenUpTexts(view));
  list(
    "Open concerns",
    concerns.filter(({ isOpen }) => isOpen).map(({ name, text }) => `${name}: ${text}`),
  );
  list("Unfinished", left);
  const [question] = questionsFor(view);
  const asked = { task: approvalFor(view)?.task, question: question?.question };
  say(context, `\n${nextStep(record.run, state, bring, asked)}`);
}

/** Empty if the run is on one machine. */
const fleetText = (view: RunView, state: RunWord): string =>
  lacksMachine(view, state) || machinesLabel(machinesIn(view, state));

const questionText = ({ name, question, text, default: taken, until }: QuestionView, run: string): string =>
  `${name}: ${text}  → skein answer ${run} ${question} "…" (at ${clockTime(until)} ${
    taken === undefined ? "it continues without an answer" : `it takes "${taken}"`
  })`;

const probedText = (probed: NonNullable<RunView["probed"]>): string => {
  if (probed.is === "not-probed") return notProbedText(probed);
  return probed.is === "proved"
    ? "probed: it fails without your sources, as it should"
    : "probed: it passes without your sources, so it tests nothing";
};

/** The setup failure in the tool's own words and what to try, each line separately. */
const setupRows = ({ message, next }: Failure): readonly (readonly [string, string])[] => [
  ...harmlessLines(message, MAX_LISTED).map((line, i) => [i === 0 ? "setup" : "", line] as const),
  ...(next === undefined ? [] : harmlessLines(next, MAX_LISTED)).map(
    (line, i) => [i === 0 ? "try" : "", line] as const,
  ),
];

/** Also shown for a run that no process drives, because the next process to drive it has the same problem. */
const accountText = ({ account, is, until, reason }: RunView["accounts"][number]): string =>
  is === "refused"
    ? `${account}: credentials refused: ${reason}`
    : `${account} is rate limited${until === undefined ? "" : ` until ${day(until)} ${clockTime(until)}`}: ${reason}`;

const MAX_LISTED = 20;
const MAX_SETBACKS = 5;

type Asked = { readonly task: TaskId | undefined; readonly question: string | undefined };

function nextStep(run: string, state: RunWord, bring: Deliverable, asked: Asked): string {
  if (state === "stopped") return `next: skein resume ${run}`;
  if (state === "proposed") return `next: skein show ${run}, then skein approve ${run}`;
  if (state === "running" && asked.task !== undefined)
    return `next: skein show ${run} ${asked.task}, then skein approve ${run} ${asked.task}`;
  if (state === "running" && asked.question !== undefined)
    return `next: skein answer ${run} ${asked.question} "…"`;
  if (state === "paused") return `next: skein resume ${run} (ends the pause)`;
  if (state === "running" || state === "cancelling")
    return `next: skein logs ${run} -f, or skein stop ${run}`;
  const isDone = state === "done";
  if (bring.is === "delivered")
    return isDone
      ? `delivered to ${bring.branch}`
      : `next: skein show ${run}; what landed was delivered to ${bring.branch}`;
  if (bring.is === "refused") return `next: skein show ${run}`;
  if (bring.is === "red") return `next: skein show ${run}; the gate fails on the target: ${bring.hint}`;
  return isDone
    ? `next: ${bring.command}`
    : `next: skein show ${run}; what landed can be delivered: ${bring.command}`;
}

function countsText({ counts }: RunView): string {
  const words = (["running", "landing", "waiting", "failed", "skipped", "cancelled"] as const)
    .filter((word) => counts[word] > 0)
    .map((word) => `${counts[word]} ${word === "running" ? "in progress" : word}`);
  return [`${counts.done} of ${counts.total} done`, ...words].join(", ");
}
