/** Words the figures of a run; an unknown figure is called unknown. */

import type { Advice } from "../../../core/view/advice.ts";
import type { Figures, LandedLines } from "../../../core/view/figures.ts";
import { dollars, spentLabel } from "../../../core/view/labels.ts";
import type { RunReport } from "../../../core/view/report.ts";
import { lossLabel } from "../../../core/view/tally.ts";
import type { TimePart } from "../../../core/view/time-spent.ts";
import type { RunView } from "../../../core/view/view.ts";
import { harmless, plural, precise } from "../../../text/words.ts";
import { paragraph, type ReportSection, section } from "./sections.ts";

type Unit = "count" | "ms" | "share" | "times" | "tokens" | "microdollars";

/** The figures in the order in which they are compared. */
export const FIGURES: Readonly<Record<keyof Figures, readonly [label: string, unit: Unit]>> = {
  tasks: ["tasks", "count"],
  tasksDone: ["tasks done", "count"],
  subtasks: ["subtasks", "count"],
  questions: ["questions asked", "count"],
  landings: ["landings", "count"],
  landedTasks: ["tasks landed", "count"],
  linesAdded: ["lines added", "count"],
  linesRemoved: ["lines removed", "count"],
  refused: ["attempts refused", "count"],
  failedAttempts: ["failed attempts", "count"],
  mergeSuccessShare: ["merge success", "share"],
  wallMs: ["time", "ms"],
  agentsMs: ["time of agents", "ms"],
  mostAgents: ["most agents at once", "count"],
  speedUp: ["speed-up", "times"],
  criticalMs: ["critical path", "ms"],
  efficiencyShare: ["parallel efficiency", "share"],
  modelCalls: ["model calls", "count"],
  tokens: ["tokens", "tokens"],
  microdollars: ["cost", "microdollars"],
  unaccountedCalls: ["calls of unknown cost", "count"],
  unreportedAttempts: ["attempts of unknown cost", "count"],
  repairTokens: ["tokens for repair", "tokens"],
  repairShare: ["repair share", "share"],
  tokensPerTask: ["tokens per task", "tokens"],
  microdollarsPerTask: ["cost per task", "microdollars"],
  tokensPerLine: ["tokens per line", "tokens"],
  microdollarsPerLine: ["cost per line", "microdollars"],
  gateRuns: ["gate runs", "count"],
  gateMs: ["time of the gate", "ms"],
  redMs: ["target failed its gate", "ms"],
  flakyTests: ["flaky tests", "count"],
};

export function valueText(unit: Unit, value: number | null): string {
  if (value === null) return "unknown";
  switch (unit) {
    case "count":
      return value.toLocaleString("en");
    case "ms":
      return precise(value);
    case "share":
      return `${Math.round(value * 100)} %`;
    case "times":
      return `${value.toFixed(1)} ×`;
    case "tokens":
      return `${value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 })} tokens`;
    case "microdollars":
      return dollars(value);
  }
}

const textOf = (figures: Figures, figure: keyof Figures): string =>
  valueText(FIGURES[figure][1], figures[figure]);

/** "+12 −3", as git counts lines. */
export const linesText = (lines: Omit<LandedLines, "commit" | "tasks"> | undefined): string =>
  lines === undefined || lines.linesAdded === null || lines.linesRemoved === null
    ? "lines unknown"
    : `+${lines.linesAdded} −${lines.linesRemoved}`;

export function figureSection({ figures: f }: RunReport, { spent }: RunView): ReportSection {
  const of = (figure: keyof Figures) => textOf(f, figure);
  const least = f.unaccountedCalls > 0 || f.unreportedAttempts > 0 ? "at least " : "";
  const priced = (tokens: keyof Figures, money: keyof Figures) =>
    f[tokens] === null
      ? "unknown"
      : `${least}${of(tokens)}, ${f[money] === null ? "price unknown" : of(money)}`;
  const rows = [
    [
      "tasks",
      `${f.tasksDone} of ${f.tasks} done; ${plural(f.subtasks, "subtask")}, ${plural(f.questions, "question")}`,
    ],
    [
      "landed",
      `${plural(f.landedTasks, "task")} in ${plural(f.landings, "landing")}, ${linesText(f)}${f.linesAdded === null ? "" : " lines"}`,
    ],
    ["merge success", `${of("mergeSuccessShare")}: ${f.landedTasks} landed, ${f.refused} refused`],
    ["parallel efficiency", `${of("efficiencyShare")}: critical path ${of("criticalMs")} of ${of("wallMs")}`],
    [
      "agents",
      `${of("agentsMs")} of work: ${of("speedUp")} the time; at most ${f.mostAgents.toLocaleString("en")} at once`,
    ],
    ["cost", spentLabel(spent)],
    ["per accepted task", priced("tokensPerTask", "microdollarsPerTask")],
    ["per landed line", priced("tokensPerLine", "microdollarsPerLine")],
    [
      "repair",
      f.repairShare === null ? "unknown" : `${of("repairShare")} of all tokens: ${of("repairTokens")}`,
    ],
    ["gate", `${plural(f.gateRuns, "run")}, ${of("gateMs")}`],
    ["target failed its gate", of("redMs")],
    ["flaky tests", of("flakyTests")],
  ];
  return section("Numbers", [{ is: "rows", rows }]);
}

const PART_LABELS: Readonly<Record<TimePart, string>> = {
  work: "workers at work",
  plan: "only planning",
  gate: "only the gate",
  prepare: "only making workspaces ready",
  wait: "nothing went on",
  stopped: "paused or stopped",
};

export function timeSections(
  { time, chain, hotFiles, flaky, lanes }: RunReport,
  { times: { openedAt } }: RunView,
): readonly ReportSection[] {
  const { totalMs, parts } = time;
  const bars = parts
    .filter(({ is, ms }) => ms > 0 || is === "work")
    .map(({ is, ms }) => {
      const share = totalMs === 0 ? 0 : ms / totalMs;
      return { label: PART_LABELS[is], of: is, share, text: `${precise(ms)}, ${valueText("share", share)}` };
    });
  const path = chain.slice(0, MAX_ROWS).map(({ name, ms }) => [harmless(name, 60), precise(ms)]);
  const files = hotFiles.map(({ path: file, tasks, waitedMs, conflicts }) => [
    harmless(file, 80),
    plural(conflicts, "conflict"),
    waitedMs === 0 ? "no waiting" : `${precise(waitedMs)} waited`,
    harmless(tasks.join(", "), 120),
  ]);
  const tests = flaky
    .slice(0, MAX_ROWS)
    .map(({ name, times }) => [plural(times, "time"), harmless(name, 200)]);
  const listed = (title: string, rows: readonly (readonly string[])[]) =>
    rows.length === 0 ? [] : [section(title, [{ is: "rows", rows }])];
  return [
    section(`Where the time went (${precise(totalMs)})`, [
      { is: "bars", bars },
      { is: "timeline", lanes, from: openedAt, to: openedAt + totalMs },
    ]),
    ...listed("Critical path", path),
    ...listed("Files that tasks met in", files),
    ...listed("Flaky: failed and passed on the same tree", tests),
  ];
}

const MAX_ROWS = 20;

export function gateSection({ gates }: RunReport): readonly ReportSection[] {
  if (gates.length === 0) return [];
  const rows = gates.map(({ kind, number, ms, tasks }) => [
    precise(ms),
    `${kind === "land" ? "landing" : "check"} ${number}`,
    kind === "check" ? "the target" : harmless(tasks.map(({ name }) => name).join(" + "), 200),
  ]);
  return [section("Slowest gate runs", [{ is: "rows", rows }])];
}

export function givenUpSection(report: RunReport | undefined): readonly ReportSection[] {
  if (!report || report.givenUp.length === 0) return [];
  const { givenUp } = report;
  const items = givenUp.flatMap(({ name, failure, reason, by }) => [
    paragraph(harmless(`${name}: ${failure}`, 240), "bad"),
    paragraph(harmless(`  reason of ${by}: ${reason}`, 240)),
  ]);
  return [section(`Given up (${givenUp.length})`, items)];
}

export function adviceSection(report: RunReport | undefined): readonly ReportSection[] {
  if (!report) return [];
  const { advice, figures } = report;
  const texts = advice.map((one) => harmless(adviceText(one, figures)));
  const items = texts.length === 0 ? ["nothing in the numbers of this run stands out"] : texts;
  return [
    section(
      "To be faster next time",
      items.map((text) => paragraph(text)),
    ),
  ];
}

function adviceText(advice: Advice, { wallMs }: Figures): string {
  const ms = precise(advice.ms);
  switch (advice.is) {
    case "more-workers": {
      const how = advice.isLimit ? `--workers ${advice.workers * 2}` : "more workers";
      return `${how}: all ${plural(advice.workers, "worker")} were busy at once for long; ${ms} of ${precise(wallMs)} could be shared by more`;
    }
    case "shorter-chain":
      return (
        `split ${advice.longest.name} (${ms}): the critical path of ${plural(advice.tasks, "task")} is ` +
        `${valueText("share", advice.share)} of the time, and more workers do not shorten it`
      );
    case "faster-gate":
      return `a faster gate: for ${ms} nothing but the gate ran (${plural(advice.runs, "run")}, ${precise(advice.gateMs)} in all)`;
    case "second-gate":
      return (
        `two gates at once (gates: 2): ${plural(advice.tasks, "task")} would have waited ${ms} less in all to land, ` +
        `${precise(advice.ms / advice.tasks)} each`
      );
    case "hot-file": {
      const { path, tasks, conflicts, waitedMs } = advice.file;
      const cost = [
        ...(conflicts > 0
          ? [`${plural(conflicts, "conflict")} (conflicts lost ${precise(advice.ms - waitedMs)} of work)`]
          : []),
        ...(waitedMs > 0 ? [`${precise(waitedMs)} of waiting`] : []),
      ].join(", ");
      return `split ${path}, or order its tasks: ${plural(tasks.length, "task")} met in it, ${cost}`;
    }
    case "flaky-tests":
      return `mend ${advice.tests.join(", ")}: flaky, ${plural(advice.runs, "gate run")} (${ms})`;
    case "red-target":
      return `start from a base that passes: the target failed its gate for ${ms} (${advice.failures.slice(0, 3).join(", ")})`;
    case "faster-workspaces":
      return `copy or set up less in workspaces, or on a disk with copy-on-write (btrfs, XFS): they were made ready for ${ms} in all`;
    case "less-waiting":
      return `nothing went on for ${ms}: waits for retries, limits, answers or approvals`;
    case "fewer-losses":
      return (
        `fewer attempts that end with "${lossLabel(advice.reason)}": ${plural(advice.count, "time")}, ${ms}` +
        (advice.tokens > 0 ? `, ${valueText("tokens", advice.tokens)}` : "")
      );
  }
}
