/** `npm run rooms`: draws the folders of src and their imports into docs/rooms.svg. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { importsOf } from "./imports.ts";
import { isTest, ROOT, type SourceFile, sourceFiles } from "./source-files.ts";

export const DRAWING = path.join(ROOT, "docs/rooms.svg");

/** What each room has, in a few words; a folder of src without words is an error. */
const WORDS: Readonly<Record<string, string>> = {
  text: "secrets, slugs, JSON",
  graph: "what waits for what",
  core: "rules, log, views: pure",
  ports: "what is needed of the world",
  prompting: "messages to agents",
  delegation: "choice of a specialist",
  subtasks: "delegation by templates",
  planning: "plans: made, read, checked",
  config: "skein.yaml",
  engine: "the loop",
  jobs: "plan, work, land, check",
  adapters: "git, agents, sandboxes, SQLite …",
  app: "use cases",
  simulation: "forecasts, virtual world",
  compose: "wiring",
  surfaces: "cli, tui, http, web, library",
};

type Arrows = ReadonlyMap<string, ReadonlySet<string>>;

/** For each room the rooms that its files import. A file directly in src belongs to the surfaces. */
export function roomArrows(files: readonly SourceFile[]): Arrows {
  const arrows = new Map<string, Set<string>>();
  for (const { path: file, text } of files) {
    const room = roomOf(file);
    if (room === undefined || isTest(file)) continue;
    const used = arrows.get(room) ?? new Set();
    arrows.set(room, used);
    for (const { specifier } of importsOf(text)) {
      const other =
        specifier?.startsWith(".") && roomOf(path.posix.join(path.posix.dirname(file), specifier));
      if (other && other !== room) used.add(other);
    }
  }
  return arrows;
}

function roomOf(file: string): string | undefined {
  const [top, folder, below] = file.split("/");
  if (top !== "src") return undefined;
  return below === undefined ? "surfaces" : folder;
}

/** Leaves out each arrow that longer ways imply, because a room may use what the rooms that it uses stand on. */
export function withoutImplied(arrows: Arrows): Arrows {
  const reached = (room: string): ReadonlySet<string> =>
    new Set([...(arrows.get(room) ?? [])].flatMap((used) => [used, ...reached(used)]));
  return new Map(
    Array.from(arrows, ([room, used]) => {
      const implied = new Set([...used].flatMap((other) => [...reached(other)]));
      return [room, new Set([...used].filter((other) => !implied.has(other)))];
    }),
  );
}

const BOX = { width: 200, height: 48 };
const LANE = 34;
const GAP = { across: 26, down: 40 };
/** Between arrows at the same side of a room. */
const BESIDE = 24;
const MARGIN = 20;
const TITLE = 46;

/** A room, or the place where a long arrow passes a row: `name` is unique, `room` only for a room. */
type Spot = { readonly name: string; readonly room?: string; x: number; readonly row: number };
type Step = readonly [from: Spot, to: Spot];

export function drawing(files: readonly SourceFile[]): string {
  const arrows = withoutImplied(roomArrows(files));
  for (const room of arrows.keys())
    if (WORDS[room] === undefined) throw new Error(`tools/rooms.ts has no words for src/${room}`);
  const { rows, ways } = place(arrows);
  const width = 2 * MARGIN + Math.max(...rows.map(widthOf));
  const height = 2 * MARGIN + TITLE + rows.length * BOX.height + (rows.length - 1) * GAP.down;
  for (const spot of rows.flat()) spot.x += width / 2;
  const top = (row: number) => MARGIN + TITLE + (rows.length - 1 - row) * (BOX.height + GAP.down);
  const curves = ways.map((way) => curve(way, { ways, top }));
  const lines = curves.map((path) => `  <path class="way" d="${path}"/>`);
  const boxes = rows
    .flat()
    .flatMap(({ room, x, row }) =>
      room === undefined
        ? []
        : [
            `  <rect class="box" x="${x - BOX.width / 2}" y="${top(row)}" width="${BOX.width}" height="${BOX.height}" rx="6"/>`,
            `  <text class="name" x="${x}" y="${top(row) + 20}">${room}</text>`,
            `  <text class="small" x="${x}" y="${top(row) + 37}">${WORDS[room]}</text>`,
          ],
    );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img"
     aria-labelledby="title description">
  <title id="title">The rooms of src and what they import</title>
  <desc id="description">${described(arrows)}</desc>
  <style>${STYLE}</style>
  <defs>
    <marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">
      <path class="head" d="M0 1 L10 5 L0 9 z"/>
    </marker>
  </defs>
  <rect class="paper" x="0" y="0" width="${width}" height="${height}" rx="8"/>
  <text class="small" x="${width / 2}" y="${MARGIN + 14}">An arrow points to what is imported. What is reached over several arrows may be imported, too.</text>
${[...lines, ...boxes].join("\n")}
</svg>
`;
}

/** Puts each room one row above the highest room that it uses, and a long arrow's places into the rows between. */
function place(arrows: Arrows) {
  const rowOf = (room: string): number =>
    Math.max(-1, ...[...(arrows.get(room) ?? [])].map((used) => rowOf(used))) + 1;
  const rows: Spot[][] = [];
  const add = (spot: Spot) => {
    rows[spot.row] ??= [];
    rows[spot.row]!.push(spot);
    return spot;
  };
  const rooms = new Map(
    Object.keys(WORDS)
      .filter((room) => arrows.has(room))
      .map((room) => [room, add({ name: room, room, x: 0, row: rowOf(room) })]),
  );
  const ways = Array.from(arrows, ([from, used]) =>
    Array.from(used, (to) => {
      const [start, end] = [rooms.get(from)!, rooms.get(to)!];
      const between = Array.from({ length: start.row - end.row - 1 }, (_, i) =>
        add({ name: `${from} to ${to}, ${i}`, x: 0, row: start.row - 1 - i }),
      );
      return [start, ...between, end];
    }),
  ).flat();
  const steps = ways.flatMap((way) => way.slice(1).map((spot, i): Step => [way[i]!, spot]));
  return { rows: untangled(rows, steps), ways };
}

const ROUNDS = 24;

/** Orders each row by the middle of its neighbours, up and down in turns, and keeps the order with fewest crossings. */
function untangled(rows: readonly Spot[][], steps: readonly Step[]): readonly Spot[][] {
  let best = rows.map((row) => [...row]);
  const at = [...best];
  for (let round = 0; round <= ROUNDS; round += 1) {
    spread(at);
    if (round === 0 || crossings(at, steps) < crossings(best, steps)) best = at.map((row) => [...row]);
    const isUp = round % 2 === 0;
    const order = isUp ? at.keys().toArray() : at.keys().toArray().reverse();
    for (const i of order) {
      const middle = new Map(at[i]!.map((spot) => [spot, middleOf(spot, steps, isUp)]));
      at[i] = at[i]!.toSorted((a, b) => middle.get(a)! - middle.get(b)!);
      spread(at);
    }
  }
  spread(best);
  return best;
}

function middleOf(spot: Spot, steps: readonly Step[], isUp: boolean): number {
  const near = steps.flatMap(([from, to]) =>
    isUp ? (from === spot ? [to.x] : []) : to === spot ? [from.x] : [],
  );
  return near.length === 0 ? spot.x : near.reduce((sum, x) => sum + x, 0) / near.length;
}

function crossings(rows: readonly Spot[][], steps: readonly Step[]): number {
  const index = new Map(rows.flatMap((row) => row.map((spot, i) => [spot, i] as const)));
  const at = (spot: Spot) => index.get(spot)!;
  return steps.flatMap(([a, b], i) =>
    steps.slice(i + 1).filter(([c, d]) => a.row === c.row && (at(a) - at(c)) * (at(b) - at(d)) < 0),
  ).length;
}

const room = ({ room }: Spot) => (room === undefined ? LANE : BOX.width);
const widthOf = (row: readonly Spot[]) =>
  row.reduce((sum, spot) => sum + room(spot) + GAP.across, -GAP.across);

/** Gives the spots of each row their places from left to right, around a common middle. */
function spread(rows: readonly Spot[][]): void {
  for (const row of rows) {
    let left = -widthOf(row) / 2;
    for (const spot of row) {
      spot.x = left + room(spot) / 2;
      left += room(spot) + GAP.across;
    }
  }
}

type Picture = { readonly ways: readonly (readonly Spot[])[]; readonly top: (row: number) => number };

function curve(way: readonly Spot[], { ways, top }: Picture): string {
  const start = way[0]!;
  const leaving = ways.filter(([from]) => from === start).map((other) => [other, other[1]!.x] as const);
  const coming = ways
    .filter((other) => other.at(-1) === way.at(-1))
    .map((other) => [other, other.at(-2)!.x] as const);
  let x = start.x + besideOthers(way, leaving);
  const parts = [`M${x} ${top(start.row) + BOX.height}`];
  for (const spot of way.slice(1)) {
    const next = spot.room === undefined ? spot.x : spot.x + besideOthers(way, coming);
    const half = top(spot.row) - GAP.down / 2;
    parts.push(`C${x} ${half} ${next} ${half} ${next} ${top(spot.row)}`);
    if (spot.room === undefined) parts.push(`V${top(spot.row) + BOX.height}`);
    x = next;
  }
  return parts.join(" ");
}

/** Arrows at one side of a room are side by side, in the order of where they come from or go to. */
function besideOthers<T>(way: T, others: readonly (readonly [way: T, x: number])[]): number {
  const sorted = others.toSorted(([, a], [, b]) => a - b);
  return (sorted.findIndex(([other]) => other === way) - (others.length - 1) / 2) * BESIDE;
}

const described = (arrows: Arrows) =>
  Array.from(arrows, ([from, used]) => `${from} imports ${[...used].sort().join(", ") || "nothing"}.`)
    .sort()
    .join("\n  ");

const STYLE = `
    :root { --ink: #1f2328; --soft: #59636e; --line: #818b98; --paper: #ffffff; --fill: #f6f8fa; }
    @media (prefers-color-scheme: dark) {
      :root { --ink: #f0f6fc; --soft: #9198a1; --line: #656c76; --paper: #0d1117; --fill: #151b23; }
    }
    text { font: 14px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink);
           text-anchor: middle; }
    .small { font-size: 12px; fill: var(--soft); }
    .name { font-weight: 600; }
    .paper { fill: var(--paper); }
    .box { fill: var(--fill); stroke: var(--line); }
    .way { fill: none; stroke: var(--line); stroke-width: 1.5; marker-end: url(#arrow); }
    .head { fill: var(--line); }
  `;

if (import.meta.main) writeFileSync(DRAWING, drawing(sourceFiles(ROOT, ["src"])));
