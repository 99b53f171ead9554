/** Where does each task of the graph stand, and how do lines reach it without passing behind other tasks? */
import type { TaskId } from "../../core/task.ts";
import type { GraphNode } from "../../core/view/graph.ts";

export const WIDTH = 200;
export const HEIGHT = 52;
export const GAP_X = 60;
const GAP_Y = 14;
const MARGIN = 16;
/** Above the nodes: which wave it is. */
const TOP = 40;
/** What a line takes that passes between tasks. */
const LANE = 10;
/** In larger graphs lines go straight to where they end: so many could not be followed anyway. */
const MAX_WITH_LANES = 300;

export type Placed = GraphNode & { readonly x: number; readonly y: number };
export type Layout = {
  readonly placed: ReadonlyMap<TaskId, Placed>;
  readonly columns: readonly {
    readonly wave: number;
    readonly x: number;
    readonly nodes: readonly Placed[];
  }[];
  /** By wave: at which height the lines of a task pass through it. */
  readonly lanes: ReadonlyMap<number, ReadonlyMap<TaskId, number>>;
  readonly width: number;
  readonly height: number;
};

export const NOTHING: Layout = { placed: new Map(), columns: [], lanes: new Map(), width: 0, height: 0 };

/** A column a wave; within it, everything near what it comes from. */
export function layOut(nodes: readonly GraphNode[]): Layout {
  const placed = new Map<TaskId, Placed>();
  const lanes = new Map<number, Map<TaskId, number>>();
  const waves = [...Map.groupBy(nodes, ({ wave }) => wave)].sort(([a], [b]) => a - b);
  const passing = passingIn(nodes);
  let height = 0;
  const columns = waves.map(([wave, members]) => {
    const x = MARGIN + wave * (WIDTH + GAP_X);
    const heightOf = (id: TaskId) => lanes.get(wave - 1)?.get(id) ?? middle(placed.get(id));
    const items = [
      ...members.map((node) => ({
        node,
        task: node.task,
        high: HEIGHT,
        wish: mean(node.after.map(heightOf)),
      })),
      ...(passing.get(wave) ?? []).map((task) => ({
        node: undefined,
        task,
        high: LANE,
        wish: heightOf(task)!,
      })),
    ].sort((a, b) => a.wish - b.wish);
    const ofWave = new Map<TaskId, number>();
    lanes.set(wave, ofWave);
    let free = TOP;
    const column = items.flatMap(({ node, task, high, wish }) => {
      const y = Math.max(free, wish === Number.POSITIVE_INFINITY ? 0 : Math.round(wish - high / 2));
      free = y + high + (node ? GAP_Y : 0);
      if (!node) ofWave.set(task, y + high / 2);
      const at = node && { ...node, x, y };
      if (at) placed.set(task, at);
      return at ? [at] : [];
    });
    height = Math.max(height, free + MARGIN);
    return { wave, x, nodes: column };
  });
  const width = 2 * MARGIN + waves.length * (WIDTH + GAP_X) - GAP_X;
  return { placed, columns, lanes, height, width };
}

/** By wave: the tasks whose lines pass through it, each once however many lines it has. */
function passingIn(nodes: readonly GraphNode[]): ReadonlyMap<number, readonly TaskId[]> {
  const passing = new Map<number, TaskId[]>();
  if (nodes.length > MAX_WITH_LANES) return passing;
  const waveOf = new Map(nodes.map(({ task, wave }) => [task, wave]));
  const reach = new Map<TaskId, number>();
  for (const { after, wave } of nodes)
    for (const id of after) if (waveOf.has(id)) reach.set(id, Math.max(wave, reach.get(id) ?? 0));
  for (const [task, last] of reach)
    for (let wave = waveOf.get(task)! + 1; wave < last; wave += 1)
      passing.set(wave, [...(passing.get(wave) ?? []), task]);
  return passing;
}

const middle = (node: Placed | undefined): number | undefined => node && node.y + HEIGHT / 2;

/** Last, if it comes from nothing that is shown. */
function mean(heights: readonly (number | undefined)[]): number {
  const known = heights.filter((height) => height !== undefined);
  return known.length === 0
    ? Number.POSITIVE_INFINITY
    : known.reduce((sum, height) => sum + height, 0) / known.length;
}

/** From the right side of one task to the left side of another, as an SVG path. */
export function route({ lanes, columns }: Layout, from: Placed, to: Placed): string {
  let [x, y] = [from.x + WIDTH, middle(from)!];
  let path = `M${x},${y}`;
  const bendTo = (nextX: number, nextY: number) => {
    const bend = Math.max(20, (nextX - x) / 2);
    path += `C${x + bend},${y} ${nextX - bend},${nextY} ${nextX},${nextY}`;
    [x, y] = [nextX, nextY];
  };
  for (let wave = from.wave + 1; wave < to.wave; wave += 1) {
    const [lane, column] = [lanes.get(wave)?.get(from.task), columns[wave]];
    if (lane === undefined || !column) continue;
    bendTo(column.x, lane);
    x += WIDTH;
    path += `H${x}`;
  }
  bendTo(to.x, middle(to)!);
  return path;
}
