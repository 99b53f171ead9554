/** Words a forecast: a row per number of workers, what decides the time, and what was assumed. */

import type { HotFile } from "../../../core/view/hot-files.ts";
import type { ExecutionPlan } from "../../../planning/plan.ts";
import type { Row, SpeedUp } from "../../../simulation/speed-up.ts";
import type { TimedTask, Timeline } from "../../../simulation/timeline.ts";
import { duration, firstLine, harmless, plural, precise } from "../../../text/words.ts";
import { fit, onPage, padded, table, width } from "../columns.ts";
import { type Context, say } from "../context.ts";
import { paint } from "../output.ts";

type ForecastSection = { readonly title: string; readonly lines: readonly string[] };

export function forecastText(
  plan: Pick<ExecutionPlan, "tasks" | "max_concurrent">,
  { rows, useful, stories, forecast, critical }: SpeedUp,
  because: readonly string[],
): readonly ForecastSection[] {
  return [
    {
      title: stories > 1 ? `By number of workers (median of ${stories} simulations)` : "By number of workers",
      lines: [...workerTable(rows), "", ...usefulText(rows, useful, plan)],
    },
    {
      title: `Critical path: ${time(critical.ms)} with any number of workers`,
      lines: criticalLines(critical.tasks, forecast),
    },
    { title: `Timeline with ${plural(useful, "worker")}`, lines: gantt(forecast) },
    ...section("Files that several tasks change", hotLines(forecast.hotFiles)),
    ...section(
      "Unfinished",
      forecast.left.slice(0, MAX_LINES).map((text) => harmless(text)),
    ),
    { title: "Assumptions", lines: because.map((text) => harmless(text)) },
  ];
}

const section = (title: string, lines: readonly string[]): readonly ForecastSection[] =>
  lines.length === 0 ? [] : [{ title, lines }];

/** More than a screen holds. */
const MAX_LINES = 40;
const BAR_COLUMNS = 24;

/** Rules number their tasks, and a bare number tells a person nothing, so the description is added. */
const titled = ({ name, spec }: Pick<TimedTask, "name" | "spec">): string =>
  /^\d+$/.test(name) ? `${name} ${firstLine(spec.description, MAX_TITLE_CHARS).replace(/\.$/, "")}` : name;

const MAX_TITLE_CHARS = 60;

/** With tenths if a whole run takes seconds. */
const time = (ms: number): string => precise(ms);

function workerTable(rows: readonly Row[]): readonly string[] {
  const slowest = Math.max(...rows.map(({ makespanMs }) => makespanMs));
  const isByChance = rows.some(({ p90Ms }) => p90Ms !== undefined);
  const head = ["workers", "", "time", ...(isByChance ? ["9 of 10 by", "all done"] : [])];
  return table([
    [...head, "speed-up", "efficiency", "conflicts", "gate runs", "cost"],
    ...rows.map((row) => [
      `${row.workers}`,
      bar(row.makespanMs / slowest),
      time(row.makespanMs),
      ...(isByChance ? [time(row.p90Ms ?? row.makespanMs), percent(row.doneShare)] : []),
      `${row.speedUp.toFixed(1)} ×`,
      percent(row.efficiency),
      `${row.conflicts}`,
      `${row.gateRuns}`,
      costText(row),
    ]),
  ]);
}

const bar = (share: number): string => "█".repeat(Math.max(1, Math.round(share * BAR_COLUMNS)));
const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** An unknown price is called unknown, never shown as zero. */
function costText({ tokens, dollars, unpriced }: Pick<Row, "tokens" | "dollars" | "unpriced">): string {
  const many = `${Math.round(tokens).toLocaleString("en")} tokens`;
  if (unpriced === 0) return `${many}, $${dollars.toFixed(2)}`;
  if (dollars === 0) return `${many}, price unknown`;
  return `${many}, $${dollars.toFixed(2)} and ${plural(Math.round(unpriced), "job")} of unknown price`;
}

function usefulText(
  rows: readonly Row[],
  useful: number,
  { tasks, max_concurrent: asked }: Pick<ExecutionPlan, "tasks" | "max_concurrent">,
): readonly string[] {
  const row = rows.find(({ workers }) => workers === useful)!;
  const last = rows.at(-1)!;
  const gain = `${time(row.makespanMs)} instead of ${time(rows[0]!.makespanMs)}`;
  const why =
    useful === last.workers
      ? last.workers >= tasks.length
        ? "there are no more tasks"
        : "more were not simulated (--max-workers)"
      : "more workers gain less than 5 %";
  const most = plural(useful, "worker is", "workers are");
  const who = useful === 1 ? "It" : "They";
  // How fast the rest would be done says nothing.
  if (row.doneShare === 0) return ["Not everything would be done: see Unfinished."];
  return [
    useful === 1
      ? "One worker is enough: more workers gain less than 5 %."
      : `${most} useful (${gain}): ${why}.`,
    `${who} would be busy for ${percent(row.busyShare)} of the time. The plan asks for ${asked} at once.`,
  ];
}

function criticalLines(ids: readonly string[], { tasks }: Timeline): readonly string[] {
  const byKey = new Map(tasks.map((task) => [task.spec.key, task]));
  const rows = ids.slice(0, MAX_LINES).map((id) => {
    const task = byKey.get(id);
    const when =
      task?.startMs === undefined ? "not begun" : `${time(task.startMs)} to ${time(task.endMs ?? 0)}`;
    const done = task?.doneMs === undefined ? "" : `done after ${time(task.doneMs)}`;
    return [harmless(task === undefined ? id : titled(task), 60), when, done];
  });
  return [...table(rows), ...more(ids.length)];
}

const more = (count: number): readonly string[] =>
  count > MAX_LINES ? [`and ${count - MAX_LINES} more`] : [];

const GANTT_COLUMNS = 60;
const NAME_COLUMNS = 28;

/** █ working, ░ until landed. In the order in which the tasks begin. */
function gantt({ tasks, makespanMs, bars }: Timeline): readonly string[] {
  const begun = tasks.filter(({ startMs }) => startMs !== undefined);
  const shown = begun.toSorted((a, b) => a.startMs! - b.startMs!).slice(0, MAX_LINES);
  const names = shown.map((task) => fit(harmless(titled(task), 100), NAME_COLUMNS));
  const wide = Math.max(0, ...names.map(width));
  const at = (ms: number) =>
    Math.min(GANTT_COLUMNS - 1, Math.floor((ms / Math.max(1, makespanMs)) * GANTT_COLUMNS));
  const byTask = Map.groupBy(bars, ({ task }) => task);
  const rows = shown.map((task, i) => {
    const cells = Array.from({ length: GANTT_COLUMNS }, () => " ");
    for (let c = at(task.startMs!); c <= at(task.doneMs ?? task.endMs ?? task.startMs!); c += 1)
      cells[c] = "░";
    for (const { fromMs, toMs } of byTask.get(task.name) ?? [])
      for (let c = at(fromMs); c <= at(Math.max(fromMs, toMs - 1)); c += 1) cells[c] = "█";
    return `${padded(names[i]!, wide)}  ${cells.join("").trimEnd()}`;
  });
  const scale = `${" ".repeat(wide + 2)}0${time(makespanMs).padStart(GANTT_COLUMNS - 1)}`;
  return [...rows, ...more(begun.length), scale];
}

function hotLines(files: readonly HotFile[]): readonly string[] {
  const rows = files
    .slice(0, MAX_HOT)
    .map(({ path, tasks, waitedMs }) => [
      harmless(path, 80),
      plural(tasks.length, "task"),
      waitedMs === 0 ? "no waiting" : `${duration(waitedMs)} waited`,
      fit(harmless(tasks.join(", ")), 60),
    ]);
  return [...table(rows), ...(files.length > MAX_HOT ? [`and ${files.length - MAX_HOT} more`] : [])];
}

const MAX_HOT = 15;

export function saySections(context: Context, sections: readonly ForecastSection[]): void {
  for (const { title, lines } of sections) {
    say(context, `\n${paint(context.out, "strong", title)}`);
    // A table row has two blanks between its columns, and must not be wrapped.
    for (const line of lines)
      say(
        context,
        / {2}/.test(line) ? `  ${line}` : onPage(context.out, line === "" ? "" : `  ${line}`, "    "),
      );
  }
}
