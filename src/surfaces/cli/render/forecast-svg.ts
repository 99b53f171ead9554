/** How does a forecast look as a picture? Workers as lanes with their tasks as bars. */
import type { Timeline } from "../../../simulation/timeline.ts";
import { precise } from "../../../text/words.ts";
import { titled } from "./forecast.ts";
import { cut, escaped, round, text } from "./svg.ts";

type Picture = {
  readonly title: string;
  readonly timeline: Timeline;
  readonly workers: number;
  /** Names of the tasks on the critical path. */
  readonly critical: ReadonlySet<string>;
};

/** Whatever a plan says, this is well-formed XML without scripts. */
export function forecastSvg(picture: Picture): string {
  const chart = ganttPart(picture, TOP);
  const height = chart.bottom + GAP;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}"` +
      ` role="img" aria-label="${escaped(picture.title)}">`,
    `<style>${STYLE}</style>`,
    `<rect class="page" width="${WIDTH}" height="${height}"/>`,
    text({ x: LEFT, y: 28, className: "title" }, cut(picture.title, 100)),
    ...legend(picture.critical.size > 0),
    ...chart.parts,
    "</svg>",
  ].join("\n")}\n`;
}

const WIDTH = 960;
const LEFT = 40;
const RIGHT = 24;
const TOP = 96;
const GAP = 48;
const PLOT = WIDTH - LEFT - RIGHT;

/** Colours that can be told apart by the colour-blind, on white and on black. */
const STYLE = `
text { font: 12px system-ui, sans-serif; fill: #1f2328; }
.title { font-size: 16px; font-weight: 600; }
.quiet { fill: #59636e; }
.on { fill: #ffffff; font-size: 11px; }
.page { fill: #ffffff; }
.lane { fill: #f2f4f7; }
.bar { fill: #2f6fbd; }
.critical { fill: #c2410c; }
.lost { fill: #9aa4af; }
.landing { stroke: #15803d; stroke-width: 1.5; }
.axis { stroke: #8c959f; fill: none; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.quiet { fill: #9da7b1; }
.page { fill: #0d1117; }
.lane { fill: #161b22; }
.bar { fill: #5b9bea; }
.critical { fill: #f97316; }
.lost { fill: #57606a; }
.on { fill: #0d1117; }
.landing { stroke: #4ade80; }
}
`;

type Part = { readonly parts: readonly string[]; readonly bottom: number };

function ganttPart({ timeline, workers, critical }: Picture, top: number): Part {
  const { bars, landings, makespanMs } = timeline;
  const lanes = Math.max(1, workers, ...bars.map(({ lane }) => lane + 1));
  const laneHeight = lanes > MANY_LANES ? 8 : 24;
  const bottom = top + lanes * laneHeight;
  const x = (ms: number) => round(LEFT + (ms / Math.max(1, makespanMs)) * PLOT);
  const rows = Array.from({ length: lanes }, (_, lane) => {
    const y = top + lane * laneHeight;
    return `<rect class="lane" x="${LEFT}" y="${y}" width="${PLOT}" height="${laneHeight - 2}"/>`;
  });
  const numbers =
    laneHeight < 20
      ? []
      : Array.from({ length: lanes }, (_, lane) => {
          const y = top + lane * laneHeight + 16;
          return text({ x: LEFT - 8, y, className: "quiet", anchor: "end" }, `${lane + 1}`);
        });
  const titles = new Map(timeline.tasks.map((task) => [task.name, titled(task)]));
  const drawn = bars.map(({ task, attempt, lane, fromMs, toMs, isLost }) => {
    const [from, to] = [x(fromMs), x(toMs)];
    const className = isLost ? "lost" : critical.has(task) ? "critical" : "bar";
    const y = top + lane * laneHeight;
    const again = attempt > 1 ? ` (${attempt})` : "";
    const room = Math.floor((to - from - 6) / 6.5);
    const name = cut(`${titles.get(task) ?? task}${again}`, room);
    // One letter and "…" tell nobody which it is.
    const label =
      laneHeight < 20 || (name.length < 3 && name.endsWith("…"))
        ? ""
        : text({ x: from + 4, y: y + 15, className: "on" }, name);
    const size = `x="${from}" y="${y + 1}" width="${round(Math.max(1, to - from - 1))}" height="${laneHeight - 4}"`;
    const tip = `${task}, attempt ${attempt}: ${precise(fromMs)} to ${precise(toMs)}${isLost ? ", failed" : ""}`;
    return `<g><title>${escaped(tip)}</title><rect class="${className}" ${size} rx="2"/>${label}</g>`;
  });
  const marks = landings.map(({ atMs, tasks }) => {
    const tip = `landed after ${precise(atMs)}: ${cut(tasks.join(", "), 300)}`;
    return `<g><title>${escaped(tip)}</title><path class="landing" d="M${x(atMs)} ${top - 8}V${bottom}"/></g>`;
  });
  return {
    parts: [...rows, ...numbers, ...marks, ...drawn, ...timeAxis(makespanMs, bottom + 2)],
    bottom: bottom + 24,
  };
}

const MANY_LANES = 40;

function timeAxis(makespanMs: number, y: number): readonly string[] {
  const steps = 4;
  return [
    `<path class="axis" d="M${LEFT} ${y}H${LEFT + PLOT}"/>`,
    ...Array.from({ length: steps + 1 }, (_, i) => {
      const anchor = i === 0 ? "start" : i === steps ? "end" : "middle";
      const at = { x: round(LEFT + (PLOT * i) / steps), y: y + 16, className: "quiet", anchor };
      return text(at, precise((makespanMs * i) / steps));
    }),
  ];
}

function legend(hasCritical: boolean): readonly string[] {
  const entries = [
    ["bar", "at work"],
    ...(hasCritical ? [["critical", "critical path"] as const] : []),
    ["lost", "failed attempt"],
    ["landing", "landing"],
  ] as const;
  return entries.map(([className, words], i) => {
    const x = LEFT + i * 150;
    const mark =
      className === "landing"
        ? `<path class="landing" d="M${x + 6} 46V62"/>`
        : `<rect class="${className}" x="${x}" y="48" width="12" height="12" rx="2"/>`;
    return `${mark}${text({ x: x + 20, y: 58, className: "quiet" }, words)}`;
  });
}
