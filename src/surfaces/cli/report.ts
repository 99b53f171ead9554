/** What is said when a run has ended? What landed, what was refused and why, what is left, and how to go on. */
import type { RunView, SetbackView, UndoneView } from "../../core/view.ts";
import { undoneText } from "../../core/view-reasons.ts";
import { endWords, notProbedText } from "./narrate.ts";
import type { Tone } from "./output.ts";
import { type Budget, budgetTexts, callTexts, costRows, spentText, unaccountedTexts } from "./spent-text.ts";
import { lossRows, tookTexts } from "./tally-text.ts";
import { commands, duration, harmless, plural, precise, quoted, short, table } from "./words.ts";

/** `isProse`: may be broken at blanks where there is a page to fit. */
export type ReportLine = { readonly tone: Tone; readonly text: string; readonly isProse?: true };

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
    ...lookAround(view, around),
  ];
}

function headline({ run, is, counts, times }: RunView, { open }: Around): ReportLine {
  const how = `${counts.done} of ${plural(counts.total, "task")} done, in ${took(times)}`;
  if (open)
    return line(
      `Run ${run} is not over${open === "stopped" ? ", but stopped" : ""}. So far: ${how}.`,
      "strong",
    );
  return line(`Run ${run} ${endWords(is)}: ${how}.`, is === "done" ? "good" : "bad");
}

/** While it was stopped, nothing was waited for. */
function took({ openedAt, closedAt, lastAt, idleMs }: RunView["times"]): string {
  const busy = precise((closedAt ?? lastAt) - openedAt - idleMs);
  return idleMs < 1_000 ? busy : `${busy} (and ${duration(idleMs)} paused or stopped)`;
}

const PROOFS = {
  green: "the gate was green",
  "red-to-red": "the target was red, and nothing got worse",
  ungated: "there is no gate",
  found: "found by its proof in the repository",
} as const;

function landed({ landings, split }: RunView, { open }: Around): readonly ReportLine[] {
  if (landings.length === 0) return [line(""), line(open ? "Nothing has landed yet." : "Nothing landed.")];
  const isGated = landings.every(({ proof }) => proof !== "ungated");
  const heading = isGated ? "Landed, each gated as merged before the target moved" : "Landed, without a gate";
  const rows = landings.map(({ commit, members, proof, flaky }) => [
    `  ${short(commit)}`,
    harmless(
      members.map(({ name, attempt }) => `${name}${attempt > 1 ? ` (attempt ${attempt})` : ""}`).join(" + "),
    ),
    PROOFS[proof] + (flaky.length > 0 ? harmless(`; flaky: ${flaky.join(", ")}`, 120) : ""),
  ]);
  const parts = {
    0: [],
    1: [line("  1 task was split, and landed through its parts")],
  }[split] ?? [line(`  ${split} tasks were split, and landed through their parts`)];
  return [...title(`${heading} (${landings.length})`), ...table(rows).map((row) => line(row)), ...parts];
}

const unprobed = ({ probed, landings }: RunView): readonly ReportLine[] =>
  probed?.is === "not-probed" && landings.length > 0
    ? [paragraph(harmless(notProbedText(probed)), "bad")]
    : [];
function gateChanges({ gateChanges: all }: RunView): readonly ReportLine[] {
  if (all.length === 0) return [];
  return [
    ...title(`Changes what the gate runs, or what steers agents (${all.length})`),
    ...gateChangeTexts(all).map((text) => paragraph(harmless(text, 240), "bad")),
  ];
}

/** "a: package.json: the script test (waits for your approval)". */
export const gateChangeTexts = (all: RunView["gateChanges"]): readonly string[] =>
  all.map(({ name, is, flags }) => {
    const more = { landed: "", landing: " (ready to land)", proposed: " (waits for your approval)" }[is];
    return `${name}: ${flags.join(", ")}${more}`;
  });

/** What was only interrupted by a stop or a restart is no news. */
function setbacks(view: RunView): readonly ReportLine[] {
  const told = view.setbacks.filter(({ charge }) => charge !== "nothing");
  if (told.length === 0) return [];
  return [
    ...title(`Came to nothing, and was tried again (${told.length})`),
    ...setbackTexts(told).map((text) => paragraph(text)),
  ];
}

/** What happened again and again is said once. */
export function setbackTexts(setbacks: readonly SetbackView[]): readonly string[] {
  const same = ({ task, of, failure }: SetbackView) => JSON.stringify([task, of, failure.message]);
  return [...Map.groupBy(setbacks, same).values()].map((group) => {
    const times = group.length > 1 ? ` (${group.length} times)` : "";
    return `${setbackText(group[0]!)}${times}`;
  });
}

function setbackText({ name, of, attempt, failure, end }: SetbackView): string {
  const who = of === "plan" ? `the planner of ${name}` : `${name}, attempt ${attempt}`;
  const since = end === "split" ? "answered since" : end;
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
const suggested = ({ reason, reported }: UndoneView): readonly string[] =>
  reason.startsWith("because ") ? [] : (reported?.suggestions ?? []).slice(0, MAX_SUGGESTIONS);

const MAX_SUGGESTIONS = 3;

function concerns({ concerns: all }: RunView): readonly ReportLine[] {
  const open = all.filter(({ isOpen }) => isOpen);
  const others = all.filter(({ isOpen }) => !isOpen);
  return [
    ...concernList("Concerns that no planner has dealt with", open),
    ...concernList("Other concerns that were handed in", others),
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
  things.length === 0 ? [] : [...title("Left"), ...things.map((thing) => paragraph(thing, "bad"))];

function figures({ spent, times, tally }: RunView, { budget = {}, follows }: Around): readonly ReportLine[] {
  const { plan, work, land, check } = times.jobs;
  const jobs = [
    [plan, "turn of planners", "turns of planners"],
    [work, "attempt of workers", "attempts of workers"],
    [land, "landing tried", "landings tried"],
    [check, "look at the target", "looks at the target"],
  ] as const;
  const told = jobs
    .filter(([job]) => job.count > 0 && !(job === plan && follows))
    .map(([{ count, ms }, one, many]) => `${plural(count, one, many)} (${precise(ms)})`);
  return [
    ...title("Time and money"),
    paragraph(told.join(", ")),
    line(`  ${spentText(spent)}`),
    ...[
      ...callTexts(tally),
      ...unaccountedTexts(spent),
      ...budgetTexts({ spent }, budget),
      ...tookTexts(tally),
    ].map((text) => paragraph(text)),
  ];
}

/** Where one task has it all, the sum has said it. */
const costs = ({ tally }: RunView): readonly ReportLine[] =>
  tally.costs.length < 2
    ? []
    : [...title("What each task has cost"), ...costRows(tally, MAX_COSTS).map((row) => line(`  ${row}`))];

/** The dearest are those that one asks about. */
const MAX_COSTS = 10;

const losses = ({ tally }: RunView): readonly ReportLine[] =>
  tally.losses.length === 0
    ? []
    : [...title("What came to nothing has cost"), ...lossRows(tally).map((row) => line(`  ${row}`))];

/** Lines that can be pasted: what they are for is a remark to the shell as well. */
function lookAround({ run, is, landings }: RunView, around: Around): readonly ReportLine[] {
  const { target, command, isCheckedOut, follows, open } = around;
  const log = "git log --first-parent";
  const into = isCheckedOut ? " --into-checkout" : "";
  const lines = commands([
    ...(landings.length > 0
      ? [
          [`${log} ${target}`, "what landed"] as const,
          [`${log} --notes=skein/${run} ${target}`, "with the proofs"] as const,
        ]
      : []),
    ...(follows?.results === undefined
      ? []
      : [[`ls ${quoted(follows.results)}`, "what tasks wrote as their results"] as const]),
    [`${command} show ${run}`, "the tasks"],
    [
      `${command} logs ${run}${open === "going" ? " -f" : ""}`,
      open === "going" ? "what happens" : "what happened",
    ],
    ...(open === "stopped" ? [[`${command} resume ${run}`, "go on with it"] as const] : []),
    ...(is === "done" ? [[`${command} deliver ${run}${into}`, "bring it to your branch"] as const] : []),
  ]);
  return [...title("Look around"), ...lines.map((text) => line(`  ${text}`))];
}

/** What a run that was stopped says instead of a report. */
export const stoppedText = ({ counts, times }: RunView): string =>
  `stopped after ${duration(times.lastAt - times.openedAt - times.idleMs)}: ` +
  `${counts.done} of ${plural(counts.total, "task")} done, the rest is kept.`;
