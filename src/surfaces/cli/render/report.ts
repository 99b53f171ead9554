/** The report of a run: what landed, what failed and why, what is not done, what it cost, and what to type next. */
import { proofLabel } from "../../../core/view/labels.ts";
import type { FailedAttemptView, RunView, UndoneView } from "../../../core/view/view.ts";
import { undoneText } from "../../../core/view/view-reasons.ts";
import { table } from "../columns.ts";
import type { Tone } from "../output.ts";
import { commands, duration, harmless, plural, precise, quoted, short } from "../words.ts";
import {
  type Budget,
  budgetTexts,
  callTexts,
  costRows,
  lossRows,
  spentText,
  tookTexts,
  unaccountedTexts,
} from "./cost.ts";
import { endWords } from "./narrate.ts";
import { notProbedText } from "./narrate-gate.ts";

/** `isProse`: may be broken at blanks where there is a page to fit. */
type ReportLine = { readonly tone: Tone; readonly text: string; readonly isProse?: true };

const line = (text: string, tone: Tone = "plain"): ReportLine => ({ tone, text });
const paragraph = (text: string, tone: Tone = "plain"): ReportLine => ({
  ...line(`  ${harmless(text)}`, tone),
  isProse: true,
});
const title = (text: string) => [line(""), line(text, "strong")];

/** `target` is the run's branch, `command` how skein is called; the base branch may be checked out somewhere. */
export type Around = {
  readonly target: string;
  readonly command: string;
  readonly isCheckedOut: boolean;
  readonly budget?: Budget;
  /** Of a run that is not over: how it stands. */
  readonly open?: "stopped" | "going";
  /** Of a run that follows a plan, so that nobody plans: where its tasks left results, if they did. */
  readonly follows?: { readonly results?: string };
  /** False: the caller says what to type next. */
  readonly hints?: boolean;
};

export function reportOf(view: RunView, around: Around): readonly ReportLine[] {
  return [
    line(""),
    headline(view, around),
    ...landed(view, around),
    ...unprobed(view),
    ...gateChanges(view),
    ...setbacks(view),
    ...undone(view),
    ...concerns(view),
    ...left(view),
    ...figures(view, around),
    ...costs(view),
    ...losses(view),
    ...(around.hints === false ? [] : nextSteps(view, around)),
  ];
}

function headline({ run, is, counts, times }: RunView, { open }: Around): ReportLine {
  const how = `${counts.done} of ${plural(counts.total, "task")} done, in ${took(times)}`;
  if (open)
    return line(
      `Run ${run} ${open === "stopped" ? "is stopped" : "is still running"}. So far: ${how}.`,
      "strong",
    );
  return line(`Run ${run} ${endWords(is)}: ${how}.`, is === "done" ? "good" : "bad");
}

function took({ openedAt, closedAt, lastAt, idleMs }: RunView["times"]): string {
  const busy = precise((closedAt ?? lastAt) - openedAt - idleMs);
  return idleMs < 1_000 ? busy : `${busy} (plus ${duration(idleMs)} paused or stopped)`;
}

function landed({ landings, split }: RunView, { open }: Around): readonly ReportLine[] {
  if (landings.length === 0) return [line(""), line(open ? "Nothing has landed yet." : "Nothing landed.")];
  const isGated = landings.every(({ proof }) => proof !== "ungated");
  const heading = isGated ? "Landed" : "Landed without a gate";
  const rows = landings.map(({ commit, members, proof, flaky }) => [
    `  ${short(commit)}`,
    harmless(
      members.map(({ name, attempt }) => `${name}${attempt > 1 ? ` (attempt ${attempt})` : ""}`).join(" + "),
    ),
    proofLabel(proof) + (flaky.length > 0 ? harmless(`; flaky: ${flaky.join(", ")}`, 120) : ""),
  ]);
  const parts = {
    0: [],
    1: [line("  1 more task is done: all its subtasks landed")],
  }[split] ?? [line(`  ${split} more tasks are done: all their subtasks landed`)];
  return [...title(`${heading} (${landings.length})`), ...table(rows).map((row) => line(row)), ...parts];
}

const unprobed = ({ probed, landings }: RunView): readonly ReportLine[] =>
  probed?.is === "not-probed" && landings.length > 0
    ? [paragraph(harmless(notProbedText(probed)), "bad")]
    : [];
function gateChanges({ gateChanges: all }: RunView): readonly ReportLine[] {
  if (all.length === 0) return [];
  return [
    ...title(`Changes to the gate or to agent instructions (${all.length})`),
    ...gateChangeTexts(all).map((text) => paragraph(harmless(text, 240), "bad")),
  ];
}

/** "a: package.json: the script test (needs your approval)". */
export const gateChangeTexts = (all: RunView["gateChanges"]): readonly string[] =>
  all.map(({ name, is, flags }) => {
    const more = { landed: "", landing: " (ready to land)", proposed: " (needs your approval)" }[is];
    return `${name}: ${flags.join(", ")}${more}`;
  });

/** Without what a stop or a restart interrupted: that uses up no attempt. */
function setbacks(view: RunView): readonly ReportLine[] {
  const told = view.setbacks.filter(({ charge }) => charge !== "nothing");
  if (told.length === 0) return [];
  return [...title(failedTitle(told.length)), ...setbackTexts(told).map((text) => paragraph(text))];
}

export const failedTitle = (count: number): string => `Failed attempts (retried): ${count}`;

/** One line for attempts that failed in the same way. */
export function setbackTexts(setbacks: readonly FailedAttemptView[]): readonly string[] {
  const same = ({ task, of, failure }: FailedAttemptView) => JSON.stringify([task, of, failure.message]);
  return [...Map.groupBy(setbacks, same).values()].map((group) => {
    const times = group.length > 1 ? ` (${group.length} times)` : "";
    return `${setbackText(group[0]!)}${times}`;
  });
}

function setbackText({ name, of, attempt, failure, end }: FailedAttemptView): string {
  const who =
    of === "plan"
      ? name === "the goal"
        ? "the planner"
        : `the planner of ${name}`
      : `${name}, attempt ${attempt}`;
  const since = end === "split" ? "replanned" : end;
  return `${harmless(`${who}: ${failure.message}`, 240)} → ${since}`;
}

function undone({ undone: tasks }: RunView): readonly ReportLine[] {
  if (tasks.length === 0) return [];
  return [
    ...title(`Not done (${tasks.length})`),
    ...tasks.flatMap((task) => [
      paragraph(undoneText(task), "bad"),
      ...(task.next === undefined ? [] : [paragraph(`  try: ${task.next}`)]),
      ...suggested(task).map((text) => paragraph(`  its worker suggests: ${harmless(text, 240)}`)),
    ]),
  ];
}

/** What a planner hands up was suggested by its parts, which are told by themselves. */
const suggested = ({ isOfParts, reported }: UndoneView): readonly string[] =>
  isOfParts ? [] : (reported?.suggestions ?? []).slice(0, MAX_SUGGESTIONS);

const MAX_SUGGESTIONS = 3;

function concerns({ concerns: all }: RunView): readonly ReportLine[] {
  const open = all.filter(({ isOpen }) => isOpen);
  const others = all.filter(({ isOpen }) => !isOpen);
  return [
    ...concernList("Open concerns", open),
    ...concernList("Concerns that the planner has dealt with", others),
  ];
}

function concernList(heading: string, some: RunView["concerns"]): readonly ReportLine[] {
  if (some.length === 0) return [];
  const more = some.length - MAX_CONCERNS;
  return [
    ...title(`${heading} (${some.length})`),
    ...some.slice(0, MAX_CONCERNS).map(({ name, text }) => paragraph(harmless(`${name}: ${text}`, 240))),
    ...(more > 0 ? [line(`  and ${more} more`)] : []),
  ];
}

const MAX_CONCERNS = 20;

const left = ({ left: things }: RunView): readonly ReportLine[] =>
  things.length === 0 ? [] : [...title("Unfinished"), ...things.map((thing) => paragraph(thing, "bad"))];

function figures({ spent, times, tally }: RunView, { budget = {}, follows }: Around): readonly ReportLine[] {
  const { plan, work, land, check } = times.jobs;
  const jobs = [
    [plan, "planner turn", "planner turns"],
    [work, "worker attempt", "worker attempts"],
    [land, "landing attempt", "landing attempts"],
    [check, "check of the target branch", "checks of the target branch"],
  ] as const;
  const told = jobs
    .filter(([job]) => job.count > 0 && !(job === plan && follows))
    .map(([{ count, ms }, one, many]) => `${plural(count, one, many)} (${precise(ms)})`);
  return [
    ...title("Time and cost"),
    paragraph(told.join(", ")),
    line(`  cost: ${spentText(spent)}`),
    ...[
      ...callTexts(tally),
      ...unaccountedTexts(spent),
      ...budgetTexts({ spent }, budget),
      ...tookTexts(tally),
    ].map((text) => paragraph(text)),
  ];
}

/** Only where several tasks share the cost. */
const costs = ({ tally }: RunView): readonly ReportLine[] =>
  tally.costs.length < 2
    ? []
    : [...title("Cost by task"), ...costRows(tally, MAX_COSTS).map((row) => line(`  ${row}`))];

const MAX_COSTS = 10;

const losses = ({ tally }: RunView): readonly ReportLine[] =>
  tally.losses.length === 0
    ? []
    : [...title("Cost of failed attempts"), ...lossRows(tally).map((row) => line(`  ${row}`))];

function nextSteps({ run, is, landings }: RunView, around: Around): readonly ReportLine[] {
  const { target, command, isCheckedOut, follows, open } = around;
  const log = "git log --first-parent";
  const into = isCheckedOut ? " --into-checkout" : "";
  const lines = commands([
    ...(landings.length > 0
      ? [
          [`${log} ${target}`, "what landed"] as const,
          [`${log} --notes=skein/${run} ${target}`, "the same, with the gate results"] as const,
        ]
      : []),
    ...(follows?.results === undefined
      ? []
      : [[`ls ${quoted(follows.results)}`, "result files of the tasks"] as const]),
    [`${command} show ${run}`, "the tasks"],
    [
      `${command} logs ${run}${open === "going" ? " -f" : ""}`,
      open === "going" ? "what happens" : "what happened",
    ],
    ...(open === "stopped" ? [[`${command} resume ${run}`, "continue the run"] as const] : []),
    ...(is === "done" ? [[`${command} deliver ${run}${into}`, "merge it into your branch"] as const] : []),
  ]);
  return [...title("Next"), ...lines.map((text) => line(`  ${text}`))];
}

/** Of a run that was stopped, instead of a report. */
export const stoppedText = ({ counts, times }: RunView): string =>
  `stopped after ${duration(times.lastAt - times.openedAt - times.idleMs)}: ` +
  `${counts.done} of ${plural(counts.total, "task")} done; unfinished work is kept.`;
