/** How does a forecast look as a picture? Workers as lanes with their tasks as bars, and what more workers would bring. */
import type { Row } from "../../../simulation/speed-up.ts";
import type { Timeline } from "../../../simulation/timeline.ts";
import { duration, precise } from "../../../text/words.ts";
import { titled } from "./forecast.ts";
import { cut, escaped, round, text } from "./svg.ts";

type Picture = {
  readonly title: string;
  readonly timeline: Timeline;
  readonly workers: number;
  /** Names of the tasks on the critical path. */
  readonly critical: ReadonlySet<string>;
  readonly curve?: { readonly rows: readonly Row[]; readonly useful: number; readonly floorMs: number };
};

/** Whatever a plan says, this is well-formed XML without scripts. */
export function forecastSvg(picture: Picture): string {
  const chart = ganttPart(picture, TOP);
  const curve =
    picture.curve && picture.curve.rows.length > 1
      ? curvePart(picture.curve, chart.bottom + GAP)
      : { parts: [], bottom: chart.bottom };
  const height = curve.bottom + GAP;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}"` +
      ` role="img" aria-label="${escaped(picture.title)}">`,
    `<style>${STYLE}</style>`,
    `<rect class="page" width="${WIDTH}" height="${height}"/>`,
    text({ x: LEFT, y: 28, className: "title" }, cut(picture.title, 100)),
    ...legend(picture.critical.size > 0),
    ...chart.parts,
    ...curve.parts,
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
.ideal { stroke: #8c959f; fill: none; stroke-dasharray: 4 4; }
.floor { stroke: #c2410c; fill: none; stroke-dasharray: 8 4; }
.curve { stroke: #2f6fbd; fill: none; stroke-width: 2; }
.point { fill: #2f6fbd; }
.useful { fill: none; stroke: #15803d; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.quiet { fill: #9da7b1; }
.page { fill: #0d1117; }
.lane { fill: #161b22; }
.bar, .point { fill: #5b9bea; }
.curve { stroke: #5b9bea; }
.critical { fill: #f97316; }
.floor { stroke: #f97316; }
.lost { fill: #57606a; }
.on { fill: #0d1117; }
.landing, .useful { stroke: #4ade80; }
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

const CURVE_HEIGHT = 220;
/** As wide as "307.6 ×". */
const LABEL = 48;

/** Speed-up over the number of workers; both grow by doubling, as the numbers that were tried do. */
function curvePart({ rows, useful, floorMs }: NonNullable<Picture["curve"]>, top: number): Part {
  const single = rows[0]!.makespanMs;
  const most = rows.at(-1)!.workers;
  const best = floorMs > 0 ? single / floorMs : most;
  const highest = Math.max(2, Math.min(most, best * 1.2), ...rows.map(({ speedUp }) => speedUp));
  const bottom = top + CURVE_HEIGHT;
  const x = (workers: number) => round(LEFT + (Math.log2(workers) / Math.log2(most)) * PLOT);
  const y = (gain: number) =>
    round(bottom - (Math.log2(Math.max(1, gain)) / Math.log2(highest)) * (CURVE_HEIGHT - 48));
  const line = (points: readonly (readonly [number, number])[]) =>
    points.map(([a, b]) => `${a} ${b}`).join("L");
  const ideal = Math.min(most, highest);
  return {
    parts: [
      text({ x: LEFT, y: top, className: "title" }, "Speed-up over one worker"),
      text(
        { x: LEFT + PLOT, y: top, className: "quiet", anchor: "end" },
        "grey dashes: ideal speed-up; ring: the useful number of workers",
      ),
      `<path class="axis" d="M${LEFT} ${bottom}H${LEFT + PLOT}"/>`,
      `<path class="ideal" d="M${x(1)} ${y(1)}L${x(ideal)} ${y(ideal)}"/>`,
      ...(best <= highest
        ? [
            `<path class="floor" d="M${LEFT} ${y(best)}H${LEFT + PLOT}"/>`,
            text(
              { x: LEFT + PLOT, y: top + 16, className: "quiet", anchor: "end" },
              `orange dashes: ${best.toFixed(1)} × at most, because the critical path takes ${duration(floorMs)}`,
            ),
          ]
        : []),
      `<path class="curve" d="M${line(rows.map(({ workers, speedUp }) => [x(workers), y(speedUp)]))}"/>`,
      ...rows.flatMap(({ workers, speedUp, makespanMs }, i) => {
        const anchor = i === 0 ? "start" : i === rows.length - 1 ? "end" : "middle";
        const tip = `${workers} workers: ${speedUp.toFixed(1)} ×, ${precise(makespanMs)}`;
        return [
          `<g><title>${escaped(tip)}</title><circle class="point" cx="${x(workers)}" cy="${y(speedUp)}" r="4"/></g>`,
          ...(workers === useful
            ? [`<circle class="useful" cx="${x(workers)}" cy="${y(speedUp)}" r="9"/>`]
            : []),
          ...(workers !== useful && Math.abs(x(workers) - x(useful)) < LABEL
            ? [] // Its neighbour is the one to read.
            : [
                text({ x: x(workers), y: bottom + 18, className: "quiet", anchor }, `${workers}`),
                text(
                  { x: x(workers), y: y(speedUp) - 14, className: "quiet", anchor },
                  `${speedUp.toFixed(1)} ×`,
                ),
              ]),
        ];
      }),
      text({ x: LEFT + PLOT / 2, y: bottom + 36, className: "quiet", anchor: "middle" }, "workers"),
    ],
    bottom: bottom + 40,
  };
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
