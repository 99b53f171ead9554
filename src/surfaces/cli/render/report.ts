/** The report of a run: what landed, what failed and why, what is not done, what it cost, and what to type next. */
import type { Deliverable } from "../../../app/deliverable.ts";
import { type Budget, budgetTexts } from "../../../core/view/budget-left.ts";
import { elapsedMs } from "../../../core/view/elapsed.ts";
import { leftoversLabel, proofLabel, spentLabel } from "../../../core/view/labels.ts";
import { endWords } from "../../../core/view/narrate.ts";
import { notProbedText } from "../../../core/view/narrate-gate.ts";
import { calmLabel, endLabel, needsOf } from "../../../core/view/needs.ts";
import type { RunReport } from "../../../core/view/report.ts";
import { failedAttempts } from "../../../core/view/task-facts.ts";
import type { FailedAttemptView, RunView, UndoneView } from "../../../core/view/view.ts";
import { undoneText } from "../../../core/view/view-reasons.ts";
import {
  capital,
  duration,
  harmless,
  harmlessLines,
  plural,
  precise,
  quoted,
  short,
} from "../../../text/words.ts";
import { callTexts, costRows, lossRows, redTexts, tookTexts, unaccountedTexts } from "./cost.ts";
import {
  adviceSection,
  figureSection,
  gateSection,
  givenUpSection,
  linesText,
  timeSections,
} from "./figures.ts";
import { paragraph, type ReportItem, type ReportSection, section } from "./sections.ts";

/** `target` is the run's branch, `command` how skein is called, `bring` how what landed can be delivered. */
export type Around = {
  readonly target: string;
  readonly command: string;
  readonly bring: Deliverable;
  readonly budget?: Budget;
  /** For a run that is not over: its state. */
  readonly open?: "stopped" | "going";
  /** For a run that follows a plan, without a planner: the folder of its tasks' results, if there are any. */
  readonly follows?: { readonly results?: string };
  /** False if the caller prints what to type next. */
  readonly hints?: boolean;
  /** The figures of the run; without them the report is short, as at the end of a run. */
  readonly report?: RunReport;
};

export function reportOf(view: RunView, around: Around): readonly ReportSection[] {
  const { report } = around;
  return [
    headline(view, around),
    ...answers(view, around),
    ...(view.ended === undefined ? [landed(view, around)] : []),
    ...gateChanges(view),
    ...setbacks(view),
    ...undone(view),
    ...givenUpSection(report),
    ...concerns(view, around),
    ...left(report ?? view, around),
    ...(report ? [figureSection(report, view), ...timeSections(report, view), ...gateSection(report)] : []),
    figures(view, around),
    ...costs(view),
    ...losses(view),
    ...adviceSection(report),
    ...(around.hints === false ? [] : [nextSteps(view, around)]),
  ];
}

function headline(view: RunView, around: Around): ReportSection {
  const { open, report } = around;
  const items = report ? inShort(view, around).map((text) => paragraph(harmless(text))) : [];
  const { run, is, counts } = view;
  const how = `${counts.done} of ${plural(counts.total, "task")} done, in ${took(view)}`;
  if (open)
    return section(
      `Run ${run} ${open === "stopped" ? "is stopped" : "is still running"}. So far: ${how}.`,
      items,
    );
  return section(`Run ${run} ${endWords(is)}: ${how}.`, items, is === "done" ? "good" : "bad");
}

/** What a reader wants to know first; the short form has it at its end. */
function inShort(view: RunView, { target: branch, bring, open }: Around): readonly string[] {
  const word = open === "going" ? "running" : "stopped";
  const needs = needsOf(view, word).length;
  const deliver = bring.is === "ready" ? bring.command : ""; // Its plain name: pages are read elsewhere too.
  const work =
    bring.is === "delivered"
      ? `The work was delivered to ${bring.branch}`
      : endLabel(view, { branch, command: deliver.replace(" --partial", "") });
  return [
    needs > 0 ? `NEEDS YOU: ${plural(needs, "thing")}; see skein status ${view.run}` : "",
    calmLabel(view, word),
    work,
    `cost: ${spentLabel(view.spent)}`,
  ].filter(Boolean);
}

function took(view: RunView): string {
  const { idleMs } = view.times;
  const busy = precise(elapsedMs(view));
  return idleMs < 1_000 ? busy : `${busy} (plus ${duration(idleMs)} paused or stopped)`;
}

/**
 * In full if the user only asked a question; its beginning in a run that also changes things, and in the short form.
 */
function answers(view: RunView, { report }: Around): readonly ReportSection[] {
  const maxLines = view.ended || report ? MAX_ANSWER_LINES : MAX_SHORT_LINES;
  const told = view.answers.map(({ name, ended, text }) => {
    const lines = harmlessLines(text.trim(), maxLines).map((line) => paragraph(line));
    return ended === "answered"
      ? section(`Answer of ${harmless(name)}`, lines)
      : section(
          `${harmless(name)} had nothing to change: its success criterion passes without a change`,
          lines,
        );
  });
  const rest = told.length - MAX_ANSWERS;
  return rest <= 0
    ? told
    : [...told.slice(0, MAX_ANSWERS), section(`${rest} more answers: skein show ${view.run}`, [])];
}

const MAX_ANSWER_LINES = 400;
const MAX_SHORT_LINES = 5;
const MAX_ANSWERS = 20;

function landed(view: RunView, { open, report }: Around): ReportSection {
  const { landings, split } = view;
  if (landings.length === 0)
    return section(open ? "Nothing has landed yet." : "Nothing landed.", [], "plain");
  const isGated = landings.every(({ proof }) => proof !== "ungated");
  const heading = isGated ? "Landed" : "Landed without a gate";
  const rows = landings.map(({ commit, members, proof, flaky, flags = [] }) => [
    short(commit),
    harmless(
      members.map(({ name, attempt }) => `${name}${attempt > 1 ? ` (attempt ${attempt})` : ""}`).join(" + "),
    ),
    ...(report ? [linesText(report.landings.find((one) => one.commit === commit))] : []),
    harmless(proofLabel({ proof, flags }), 600) + flakyText(flaky, report),
  ]);
  const parts = {
    0: [],
    1: [paragraph("1 more task is done: it was split, and all its parts landed")],
  }[split] ?? [paragraph(`${split} more tasks are done: they were split, and all their parts landed`)];
  return section(`${heading} (${landings.length})`, [{ is: "rows", rows }, ...parts, ...ofTheGate(view)]);
}

/** The full form lists flaky tests in a section of their own. */
const flakyText = (flaky: readonly string[], report: RunReport | undefined): string =>
  flaky.length === 0
    ? ""
    : report
      ? "; a flaky test failed first"
      : harmless(`; flaky, failed first: ${flaky.join(", ")}`, 120);

/** Problems of the gate itself. */
const ofTheGate = ({ probed, leftovers }: RunView): readonly ReportItem[] => [
  ...(probed?.is === "not-probed" ? [paragraph(harmless(notProbedText(probed)), "bad")] : []),
  ...(leftovers ? [paragraph(harmless(leftoversLabel(leftovers)), "bad")] : []),
];
function gateChanges({ gateChanges: all }: RunView): readonly ReportSection[] {
  if (all.length === 0) return [];
  return [
    section(
      `Changes to the gate or to agent instructions (${all.length})`,
      gateChangeTexts(all).map((text) => paragraph(harmless(text, 240), "bad")),
    ),
  ];
}

/** "a: package.json: the script test (needs your approval)". */
export const gateChangeTexts = (all: RunView["gateChanges"]): readonly string[] =>
  all.map(({ name, is, flags }) => {
    const more = { landed: "", landing: " (ready to land)", proposed: " (needs your approval)" }[is];
    return `${name}: ${flags.join(", ")}${more}`;
  });

function setbacks(view: RunView): readonly ReportSection[] {
  const told = failedAttempts(view);
  if (told.length === 0) return [];
  return [
    section(
      failedTitle(told.length),
      setbackTexts(told).map((text) => paragraph(text)),
    ),
  ];
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

function undone({ undone: tasks }: RunView): readonly ReportSection[] {
  if (tasks.length === 0) return [];
  return [
    section(
      `Not done (${tasks.length})`,
      tasks.flatMap((task) => [
        paragraph(harmless(undoneText(task)), "bad"),
        ...(task.next === undefined ? [] : [paragraph(`  try: ${harmless(task.next)}`)]),
        ...suggested(task).map((text) => paragraph(`  its worker suggests: ${harmless(text, 240)}`)),
      ]),
    ),
  ];
}

/** What a planner passes on was suggested by its parts, which are listed themselves. */
const suggested = ({ isOfParts, reported }: UndoneView): readonly string[] =>
  isOfParts ? [] : (reported?.suggestions ?? []).slice(0, MAX_SUGGESTIONS);

const MAX_SUGGESTIONS = 3;

/** A plan file has no planner, so the reader of the report is the first to see the concerns. */
function concerns({ concerns: all }: RunView, { follows }: Around): readonly ReportSection[] {
  if (follows) return concernList("Concerns", all);
  const open = all.filter(({ isOpen }) => isOpen);
  const others = all.filter(({ isOpen }) => !isOpen);
  return [
    ...concernList("Open concerns", open),
    ...concernList("Concerns that the planner has dealt with", others),
  ];
}

function concernList(heading: string, some: RunView["concerns"]): readonly ReportSection[] {
  if (some.length === 0) return [];
  const more = some.length - MAX_CONCERNS;
  return [
    section(`${heading} (${some.length})`, [
      ...some.slice(0, MAX_CONCERNS).map(({ name, text }) => paragraph(harmless(`${name}: ${text}`, 240))),
      ...(more > 0 ? [paragraph(`and ${more} more`)] : []),
    ]),
  ];
}

const MAX_CONCERNS = 20;

/** The full form says first what can be done about a failing target. */
function left({ left: things }: Pick<RunView, "left">, { bring, report }: Around): readonly ReportSection[] {
  if (things.length === 0) return [];
  const hint = bring.is === "red" && !report ? [paragraph(harmless(capital(bring.hint)))] : [];
  return [section("Unfinished", [...things.map((thing) => paragraph(harmless(thing), "bad")), ...hint])];
}

/** The full form has the other figures in their own section. */
function figures({ spent, times, tally }: RunView, { budget = {}, follows, report }: Around): ReportSection {
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
  const texts = [
    told.join(", "),
    ...(report ? [] : [`cost: ${spentLabel(spent)}`]),
    ...callTexts(tally),
    ...unaccountedTexts(spent),
    ...budgetTexts({ spent }, budget),
    ...(report ? redTexts(tally) : tookTexts(tally)),
  ];
  return section(
    "Time and cost",
    texts.map((text) => paragraph(harmless(text))),
  );
}

/** Only if several tasks share the cost. */
const costs = ({ tally }: RunView): readonly ReportSection[] =>
  tally.costs.length < 2 ? [] : [section("Cost by task", [{ is: "rows", rows: costRows(tally, MAX_COSTS) }])];

const MAX_COSTS = 10;

const losses = ({ tally }: RunView): readonly ReportSection[] =>
  tally.losses.length === 0
    ? []
    : [section("Cost of failed attempts", [{ is: "rows", rows: lossRows(tally) }])];

function nextSteps({ run, is, landings }: RunView, around: Around): ReportSection {
  const { target, command, bring, follows, open } = around;
  const log = "git log --first-parent";
  const commands = [
    ...(landings.length > 0
      ? [
          [`${log} ${target}`, "what landed"] as const,
          [`${log} --notes=skein/${run} ${target}`, "the same, with the gate results"] as const,
        ]
      : []),
    ...(follows?.results === undefined
      ? []
      : [[`ls ${quoted(follows.results)}`, "result files of the tasks"] as const]),
    [`${command} show ${run}`, "the tasks"] as const,
    [
      `${command} logs ${run}${open === "going" ? " -f" : ""}`,
      open === "going" ? "what happens" : "what happened",
    ] as const,
    ...(open === "stopped" ? [[`${command} resume ${run}`, "continue the run"] as const] : []),
    ...(bring.is === "ready"
      ? [
          [
            bring.command.replace(/^skein/, () => command),
            is === "done" ? "merge it into your branch" : "merge what landed into your branch",
          ] as const,
        ]
      : []),
  ];
  return section("Next", [{ is: "commands", commands }]);
}

/** For a run that was stopped, instead of a report. */
export const stoppedText = (view: RunView): string =>
  `stopped after ${duration(elapsedMs(view))}: ` +
  `${view.counts.done} of ${plural(view.counts.total, "task")} done; unfinished work is kept.`;
