/** Places the tasks of a graph wave by wave, so that it fills its box and no line passes behind a task. */
import type { TaskId } from "../../core/task.ts";
import type { GroupedNode } from "../../core/view/graph-groups.ts";

export const WIDTH = 200;
export const HEIGHT = 56;
/** The scale at which the link in a task's box is 44 px high, and two boxes are as wide as a phone. */
export const THUMB_SCALE = 0.83;
const GAP = 14;
/** The room between two waves, for the lines. */
const WAVE_GAP = { lying: 60, upright: 44 };
const MARGIN = 16;
/** The room before the first wave of a lying graph, for the numbers of the waves above the nodes. */
const TOP = 40;
/** The room for a line that passes between tasks. */
const LANE = 10;
/** In larger graphs lines go straight to their ends: so many could not be followed anyway. */
const MAX_WITH_LANES = 300;

type Box = { readonly width: number; readonly height: number };
export type Placed = GroupedNode & { readonly x: number; readonly y: number; readonly column: number };
type Column = {
  readonly wave: number;
  /** Of a wave that is folded into several columns: the first column. */
  readonly isFirst: boolean;
  /** The position of its left side; in an upright graph, where a column is a row, of its upper side. */
  readonly start: number;
  readonly nodes: readonly Placed[];
};
export type Layout = {
  readonly placed: ReadonlyMap<TaskId, Placed>;
  readonly columns: readonly Column[];
  /** By column: where the lines of each task pass through it. */
  readonly lanes: ReadonlyMap<number, ReadonlyMap<TaskId, number>>;
  /** Waves go downwards: for a box that is higher than wide, such as a phone's. */
  readonly isUpright: boolean;
  readonly width: number;
  readonly height: number;
};

export const NOTHING: Layout = {
  placed: new Map(),
  columns: [],
  lanes: new Map(),
  isUpright: false,
  width: 0,
  height: 0,
};

/** Within a wave, each task is placed near its dependencies. */
export function layOut(nodes: readonly GroupedNode[], box: Box): Layout {
  if (nodes.length === 0) return NOTHING;
  const isUpright = box.width < box.height;
  const [long, high] = isUpright ? [HEIGHT, WIDTH] : [WIDTH, HEIGHT];
  const step = long + (isUpright ? WAVE_GAP.upright : WAVE_GAP.lying);
  const head = isUpright ? MARGIN : TOP;
  const placed = new Map<TaskId, Placed>();
  const lanes = new Map<number, Map<TaskId, number>>();
  const waves = [...Map.groupBy(nodes, ({ wave }) => wave)].sort(([a], [b]) => a - b);
  const counts = waves.map(([, { length }]) => length);
  const [longRoom, highRoom] = isUpright ? [box.height, box.width] : [box.width, box.height];
  // On a phone a thumb must hit each task, unless there are so many that the graph is only an overview.
  const most =
    isUpright && nodes.length <= MAX_WITH_LANES
      ? Math.max(1, Math.floor(highRoom / ((WIDTH + GAP) * THUMB_SCALE)))
      : maxInColumn(counts, [step, longRoom], [high, highRoom]);
  const middle = (id: TaskId) => {
    const node = placed.get(id);
    return node && (isUpright ? node.x + WIDTH / 2 : node.y + HEIGHT / 2);
  };
  const columns: Column[] = [];
  let end = 0;
  const parts = waves.flatMap(([wave, members]) => {
    const count = Math.ceil(members.length / most);
    const size = Math.ceil(members.length / count);
    return Array.from({ length: count }, (_, part) => ({ wave, members, part, size, isAlone: count === 1 }));
  });
  const columnOf = new Map<TaskId, number>();
  for (const [column, { members, part, size }] of parts.entries())
    for (const { task } of members.slice(part * size, (part + 1) * size)) columnOf.set(task, column);
  const passing = passingIn(nodes, columnOf);
  for (const [column, { wave, members, part, size, isAlone }] of parts.entries()) {
    const start = (isUpright ? TOP : MARGIN) + column * step;
    const heightOf = (id: TaskId) => lanes.get(column - 1)?.get(id) ?? middle(id);
    const items = [
      ...members.slice(part * size, (part + 1) * size).map((node) => ({
        node,
        task: node.task,
        size: high,
        wish: mean(node.after.map(heightOf)),
      })),
      ...(passing.get(column) ?? []).map((task) => ({
        node: undefined,
        task,
        size: LANE,
        wish: heightOf(task) ?? 0,
      })),
    ].sort((a, b) => (isUpright ? Number(!a.node) - Number(!b.node) : 0) || a.wish - b.wish);
    const ofColumn = new Map<TaskId, number>();
    lanes.set(column, ofColumn);
    let free = head;
    const own: Placed[] = [];
    for (const { node, task, size: needed, wish } of items) {
      // A wave in several columns is packed, because not all its tasks could be near their dependencies. An upright
      // graph is packed too, with passing lines on the right, because its tasks must be visible without moving
      // sideways.
      const isPacked = isUpright || !isAlone || wish === Number.POSITIVE_INFINITY;
      const near = isPacked ? 0 : Math.round(wish - needed / 2);
      const across = Math.max(free, near);
      free = across + needed + (node ? GAP : 0);
      if (!node) {
        ofColumn.set(task, across + needed / 2);
        continue;
      }
      const at = isUpright ? { x: across, y: start } : { x: start, y: across };
      const one = { ...node, ...at, column };
      placed.set(task, one);
      own.push(one);
    }
    end = Math.max(end, free + MARGIN - GAP);
    columns.push({ wave, isFirst: part === 0, start, nodes: own });
  }
  const all = (isUpright ? TOP : MARGIN) + columns.length * step - (step - long) + MARGIN;
  const size = isUpright ? { width: end, height: all } : { width: all, height: end };
  return { placed, columns, lanes, isUpright, ...size };
}

type Fit = readonly [size: number, room: number];

/** The number of tasks per column at which the whole graph is largest in its box, with as few columns as possible. */
function maxInColumn(counts: readonly number[], [step, long]: Fit, [high, room]: Fit): number {
  let best = { size: 1, scale: 0 };
  for (let size = Math.max(1, ...counts); size >= 1; size -= 1) {
    const columns = counts.reduce((sum, count) => sum + Math.ceil(count / size), 0);
    const scale = Math.min(1, long / (columns * step), room / (size * (high + GAP) + TOP));
    if (scale > best.scale * 1.05) best = { size, scale };
  }
  return best.size;
}

/** By column: the tasks whose lines pass through it, each once however many lines it has. */
function passingIn(
  nodes: readonly GroupedNode[],
  columnOf: ReadonlyMap<TaskId, number>,
): ReadonlyMap<number, readonly TaskId[]> {
  const passing = new Map<number, TaskId[]>();
  if (nodes.length > MAX_WITH_LANES) return passing;
  const reach = new Map<TaskId, number>();
  for (const { task, after } of nodes)
    for (const id of after)
      if (columnOf.has(id)) reach.set(id, Math.max(columnOf.get(task)!, reach.get(id) ?? 0));
  for (const [task, last] of reach)
    for (let column = columnOf.get(task)! + 1; column < last; column += 1)
      passing.set(column, [...(passing.get(column) ?? []), task]);
  return passing;
}

/** Last if it has no shown dependency. */
function mean(places: readonly (number | undefined)[]): number {
  const known = places.filter((place) => place !== undefined);
  return known.length === 0
    ? Number.POSITIVE_INFINITY
    : known.reduce((sum, place) => sum + place, 0) / known.length;
}

/** The line from the end of one task to the start of another, as an SVG path. */
export function route({ lanes, columns, isUpright }: Layout, from: Placed, to: Placed): string {
  const long = isUpright ? HEIGHT : WIDTH;
  const point = (along: number, across: number) => (isUpright ? `${across},${along}` : `${along},${across}`);
  const startOf = ({ x, y }: Placed) => (isUpright ? y : x);
  const middleOf = ({ x, y }: Placed) => (isUpright ? x + WIDTH / 2 : y + HEIGHT / 2);
  let [along, across] = [startOf(from) + long, middleOf(from)];
  let path = `M${point(along, across)}`;
  const bendTo = (nextAlong: number, nextAcross: number) => {
    const bend = Math.max(20, (nextAlong - along) / 2);
    path += `C${point(along + bend, across)} ${point(nextAlong - bend, nextAcross)} ${point(nextAlong, nextAcross)}`;
    [along, across] = [nextAlong, nextAcross];
  };
  for (let column = from.column + 1; column < to.column; column += 1) {
    const [lane, { start } = { start: 0 }] = [lanes.get(column)?.get(from.task), columns[column]];
    if (lane === undefined) continue;
    bendTo(start, lane);
    along += long;
    path += `L${point(along, across)}`;
  }
  bendTo(startOf(to), middleOf(to));
  return path;
}
