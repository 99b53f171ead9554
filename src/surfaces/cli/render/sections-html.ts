/** Renders a report as one HTML page with its own style and pictures, without scripts or requests. */
import { JOB_NAMES, LEGEND, type SpanView, spanEnd, spanName } from "../../../core/view/timeline.ts";
import { precise } from "../../../text/words.ts";
import type { Bar, ReportItem, ReportSection } from "./sections.ts";
import { cut, escaped, round, text } from "./svg.ts";

export function htmlOf([headline, ...sections]: readonly ReportSection[], goal: string): string {
  const title = escaped(headline?.title ?? "");
  return `${[
    "<!doctype html>",
    `<html lang="en"><head><meta charset="utf-8"><title>${title}</title>`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    `<style>${STYLE}</style></head><body><main>`,
    `<header><h1 class="${headline?.tone ?? "plain"}">${title}</h1><p class="quiet">${escaped(goal)}</p>${itemsOf(headline?.items ?? []).join("\n")}</header>`,
    ...sections.map(
      (one) => `<section><h2>${escaped(one.title)}</h2>\n${itemsOf(one.items).join("\n")}</section>`,
    ),
    "</main></body></html>",
  ].join("\n")}\n`;
}

/** Consecutive texts become one list. */
function itemsOf(items: readonly ReportItem[]): readonly string[] {
  const parts: string[] = [];
  for (const [i, item] of items.entries()) {
    if (item.is !== "text") {
      parts.push(partOf(item));
      continue;
    }
    if (items[i - 1]?.is !== "text") parts.push("<ul>");
    // A text that belongs to the line before it is indented.
    const more = item.text.startsWith("  ") ? " more" : "";
    parts.push(`<li class="${item.tone}${more}">${escaped(item.text.trimStart())}</li>`);
    if (items[i + 1]?.is !== "text") parts.push("</ul>");
  }
  return parts;
}

function partOf(item: Exclude<ReportItem, { readonly is: "text" }>): string {
  switch (item.is) {
    case "rows":
      return tableOf(item.rows, item.head);
    case "bars":
      return barsOf(item.bars);
    case "commands": // Commands are for the terminal on which the report was made.
      return "";
    case "timeline":
      return timelineSvg(item);
  }
}

function tableOf(rows: readonly (readonly string[])[], head?: readonly string[]): string {
  const columns = Math.max(...rows.map(({ length }) => length));
  const row = (cells: readonly string[]) => {
    const last = cells.length - 1;
    const span = last < columns - 1 ? ` colspan="${columns - last}"` : "";
    return `<tr>${cells.map((cell, i) => `<td${i === last ? span : ""}>${escaped(cell)}</td>`).join("")}</tr>`;
  };
  const top = head
    ? `<thead><tr>${head.map((cell) => `<th>${escaped(cell)}</th>`).join("")}</tr></thead>`
    : "";
  return `<div class="wide" tabindex="0"><table>${top}<tbody>${rows.map(row).join("\n")}</tbody></table></div>`;
}

const WIDTH = 920;
const LEFT = 150;
const PLOT = WIDTH - LEFT;

const svg = (height: number, label: string, parts: readonly string[]): string =>
  `<div class="wide" tabindex="0"><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" ` +
  `height="${height}" role="img" aria-label="${escaped(label)}">\n${parts.join("\n")}\n</svg></div>`;

const BAR_ROW = 28;

function barsOf(bars: readonly Bar[]): string {
  const parts = bars.flatMap(({ label, of, share, text: words }, i) => {
    const y = i * BAR_ROW;
    const width = round(Math.max(1, share * (PLOT - 130)));
    return [
      text({ x: 0, y: y + 18 }, label),
      `<rect class="${of}" x="${LEFT}" y="${y + 4}" width="${width}" height="20" rx="3"/>`,
      text({ x: LEFT + width + 8, y: y + 18, className: "quiet" }, words),
    ];
  });
  const label = bars.map(({ label: name, text: words }) => `${name}: ${words}`).join("; ");
  return svg(bars.length * BAR_ROW, label, parts);
}

const LANE_ROW = 22;

/** Draws the lanes of planners, workers, landings and checks over time. */
function timelineSvg({ lanes, from, to }: Extract<ReportItem, { readonly is: "timeline" }>): string {
  const shown = lanes.slice(0, MAX_LANES);
  const x = (at: number) =>
    round(LEFT + (Math.min(Math.max(at, from), to) - from) * (PLOT / Math.max(1, to - from)));
  const rows = shown.flatMap(({ kind, number, spans }, i) => {
    const y = i * LANE_ROW;
    return [
      `<rect class="lane" x="${LEFT}" y="${y}" width="${PLOT}" height="${LANE_ROW - 2}"/>`,
      text({ x: 0, y: y + 14, className: "quiet" }, `${JOB_NAMES[kind]} ${number}`),
      ...spans.slice(0, MAX_SPANS).map((span) => spanSvg(span, { x, y, to })),
    ];
  });
  const bottom = shown.length * LANE_ROW;
  const ticks = [0, 1, 2, 3, 4].map((i) => {
    const anchor = i === 0 ? "start" : i === 4 ? "end" : "middle";
    const at = { x: round(LEFT + (PLOT * i) / 4), y: bottom + 16, className: "quiet", anchor };
    return text(at, precise(((to - from) * i) / 4));
  });
  const more = lanes.length - shown.length;
  const note = more > 0 ? [text({ x: 0, y: bottom + 16, className: "quiet" }, `and ${more} more lanes`)] : [];
  const legend = [
    "violet: planner; blue: worker; green: landing or check",
    `pale: ${LEGEND.again}; amber: ${LEGEND.bad}`,
  ].map((words, i) => text({ x: LEFT, y: bottom + 34 + 16 * i, className: "quiet" }, words));
  return svg(bottom + 58, "Who worked when: planners, workers, landings and checks", [
    ...rows,
    ...ticks,
    ...note,
    ...legend,
  ]);
}

/** A page of thousands of bars is not readable. */
const MAX_LANES = 60;
const MAX_SPANS = 500;

type Scale = { readonly x: (at: number) => number; readonly y: number; readonly to: number };

function spanSvg(span: SpanView, { x, y, to }: Scale): string {
  const { kind, number, from, to: end = to, isFailed, isRetried } = span;
  const [left, right] = [x(from), x(end)];
  const name = spanName(span);
  const how = isRetried ? " again" : isFailed ? " bad" : "";
  const tip = `${JOB_NAMES[kind]} ${number}, ${name}: ${precise(end - from)}, ${spanEnd(span, "running")}`;
  const room = Math.floor((right - left - 6) / 6.5);
  const label = room < 4 ? "" : text({ x: left + 4, y: y + 14, className: `on${how}` }, cut(name, room));
  const size = `x="${left}" y="${y + 1}" width="${round(Math.max(1.5, right - left - 1))}" height="${LANE_ROW - 4}"`;
  return `<g><title>${escaped(tip)}</title><rect class="${kind}${how}" ${size} rx="2"/>${label}</g>`;
}

/** Colours that colour-blind people can distinguish, on white and on black. */
const STYLE = `
:root { --text: #1f2328; --quiet: #59636e; --page: #ffffff; --lane: #f2f4f7; --line: #d1d9e0; --on: #ffffff;
  --good: #15803d; --bad: #b45309; --plan: #7c3aed; --work: #2563ab; --gate: #0f766e; --wait: #8c959f; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --quiet: #9da7b1; --page: #0d1117; --lane: #161b22; --line: #30363d; --on: #0d1117;
    --good: #4ade80; --bad: #fbbf24; --plan: #a78bfa; --work: #5b9bea; --gate: #2dd4bf; --wait: #6e7781; }
}
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 960px; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.3; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
h1.good, .good { color: var(--good); } h1.bad, li.bad { color: var(--bad); }
.quiet { color: var(--quiet); fill: var(--quiet); }
h1, p, li { overflow-wrap: anywhere; } td { overflow-wrap: break-word; max-width: 30rem; }
ul { margin: 0; padding-left: 1.2rem; } li.more { margin-left: 1.2rem; color: var(--quiet); }
.wide { overflow-x: auto; } svg { max-width: none; display: block; margin: .5rem 0; }
table { border-collapse: collapse; } td, th { text-align: left; vertical-align: top; padding: .2rem 1.2rem .2rem 0;
  border-bottom: 1px solid var(--line); } td { min-width: 4rem; }
svg text { font: 12px system-ui, sans-serif; fill: var(--text); } svg text.quiet { fill: var(--quiet); }
svg text.on { fill: var(--on); font-size: 11px; } .lane { fill: var(--lane); } 
.work { fill: var(--work); } .plan { fill: var(--plan); } .land, .check, .gate { fill: var(--gate); }
.wait, .stopped { fill: var(--wait); }
rect.again { fill-opacity: .3; } svg text.again { fill: var(--text); } rect.bad { fill: var(--bad); }
@media print { section { break-inside: avoid; } }
`;
