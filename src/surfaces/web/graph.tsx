/** The tasks as waves from left to right. Only what can be seen is drawn: a run may have thousands. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { TaskId } from "../../core/task.ts";
import { criticalPath, type GraphNode, shapeOf } from "../../core/view/graph.ts";
import { type RunWord, taskLabel } from "../../core/view/labels.ts";
import { gatingIn, rowOf, type TaskRow } from "../../core/view/view.ts";
import { duration, line, plural } from "./format.ts";
import { useLater } from "./later.ts";
import { addressOf, type PageParts } from "./parts.ts";

const WIDTH = 200;
const HEIGHT = 52;
const GAP_X = 60;
const GAP_Y = 14;
const MARGIN = 16;
/** Above the nodes: which wave it is. */
const TOP = 40;
/** Above so many tasks, what planners split is shown folded at first, and only what can be seen is drawn. */
const MAX_OPEN = 300;

type Placed = GraphNode & { readonly x: number; readonly y: number };
type Layout = ReturnType<typeof layOut>;
const NO_NODES: readonly GraphNode[] = [];
const NO_CHAIN: ReturnType<typeof criticalPath> = { tasks: new Set(), ms: 0 };
const NOTHING: Layout = { placed: new Map(), columns: [], width: 0, height: 0 };

export function Graph({ run, seen, view, word }: PageParts) {
  const [toggled, setToggled] = useState<ReadonlySet<TaskId>>(new Set());
  const { state } = seen;
  const { size } = state.tasks;
  const isLarge = size > MAX_OPEN;
  // A shape changes when tasks are added, and when one looks at another moment.
  const nodes = useLater(
    () => shapeOf(state, (task) => isLarge !== toggled.has(task)).nodes,
    [state, size, toggled],
    NO_NODES,
  );
  const layout = useLater(() => layOut(nodes), [nodes], NOTHING);
  const critical = useLater(() => criticalPath(seen), [seen, view.events], NO_CHAIN);
  const toggle = (task: TaskId) => {
    const next = new Set(toggled);
    if (!next.delete(task)) next.add(task);
    setToggled(next);
  };
  const { box, window: shown } = useWindow();
  const isIn = ({ x, y }: Placed) =>
    !isLarge || (x + WIDTH > shown.left && x < shown.right && y + HEIGHT > shown.top && y < shown.bottom);
  const { width, height, placed, columns } = layout;
  // One column more: lines that leave the window end there.
  const near = columns.filter(
    ({ x }) => !isLarge || (x + WIDTH > shown.left && x < shown.right + WIDTH + GAP_X),
  );
  const gating = gatingIn(state);
  return (
    <section aria-label="Graph of tasks">
      <p class="quiet">
        {plural(placed.size, "task")} in {plural(columns.length, "wave")}
        {critical.ms > 0 && `; the longest chain (bold) took ${duration(critical.ms)}`}
      </p>
      <div class="canvas" ref={box} tabIndex={0} role="group" aria-label="Graph, scrolls both ways">
        <div style={{ width: `${width}px`, height: `${height}px`, position: "relative" }}>
          <svg width={width} height={height} aria-hidden="true">
            <path class="edge" d={near.map(({ nodes }) => edgesInto(nodes, placed, isIn)).join("")} />
            <path class="edge critical" d={chainOf(critical.tasks, placed)} />
          </svg>
          {near.map(({ x, nodes, wave }) => [
            <span key={`wave ${wave}`} class="wave quiet" style={{ left: `${x}px` }}>
              wave {wave + 1}
            </span>,
            nodes
              .filter((node) => isIn(node) && state.tasks.has(node.task))
              .map((node) => (
                <Node
                  key={node.task}
                  node={node}
                  row={rowOf(state, node.task, { depth: node.depth, gating })}
                  href={addressOf({ run, tab: "graph", task: node.task })}
                  run={word}
                  isCritical={critical.tasks.has(node.task)}
                  toggle={toggle}
                />
              )),
          ])}
        </div>
      </div>
    </section>
  );
}

type NodeProps = {
  readonly node: Placed;
  readonly row: TaskRow;
  readonly href: string;
  readonly run: RunWord;
  readonly isCritical: boolean;
  readonly toggle: (task: TaskId) => void;
};

function Node({ node: { x, y, task, below, isFolded }, row, href, run, isCritical, toggle }: NodeProps) {
  return (
    <div class={`node ${row.word}${isCritical ? " critical" : ""}`} style={{ left: `${x}px`, top: `${y}px` }}>
      <a href={href}>
        <strong>{line(row.key, 40)}</strong>
        <span class="quiet">{stateText(row, run)}</span>
      </a>
      {below > 0 && (
        <button
          type="button"
          aria-expanded={!isFolded}
          aria-label={`${isFolded ? "Show" : "Hide"} ${plural(below, "task")} below ${line(row.key, 40)}`}
          onClick={() => toggle(task)}
        >
          {isFolded ? `+${below}` : "−"}
        </button>
      )}
    </div>
  );
}

export const stateText = ({ word, attempts }: TaskRow, run: RunWord): string =>
  `${taskLabel(word, run)}${attempts > 1 ? `, attempt ${attempts}` : ""}`;

const edgesInto = (
  nodes: readonly Placed[],
  placed: ReadonlyMap<TaskId, Placed>,
  isIn: (node: Placed) => boolean,
): string =>
  nodes
    .flatMap((to) =>
      to.after.flatMap((id) => {
        const from = placed.get(id);
        return from && (isIn(from) || isIn(to)) ? [curve(from, to)] : [];
      }),
    )
    .join("");

/** From each task of the chain to the next that is not folded. */
function chainOf(tasks: ReadonlySet<TaskId>, placed: ReadonlyMap<TaskId, Placed>): string {
  const chain = [...tasks].flatMap((task) => placed.get(task) ?? []);
  return chain
    .slice(1)
    .map((to, i) => curve(chain[i]!, to))
    .join("");
}

function curve(from: Placed, to: Placed): string {
  const [x1, y1, x2, y2] = [from.x + WIDTH, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
  const bend = Math.max(20, (x2 - x1) / 2);
  return `M${x1},${y1}C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
}

/** A column a wave; within it, near what it waits for. */
function layOut(nodes: readonly GraphNode[]) {
  const placed = new Map<TaskId, Placed>();
  const waves = [...Map.groupBy(nodes, ({ wave }) => wave)].sort(([a], [b]) => a - b);
  let height = 0;
  const columns = waves.map(([wave, members]) => {
    const x = MARGIN + wave * (WIDTH + GAP_X);
    let free = TOP;
    const sorted = members
      .map((node) => ({ node, wish: wishOf(node, placed) }))
      .sort((a, b) => a.wish - b.wish);
    const column = sorted.map(({ node, wish }) => {
      const y = Math.max(free, wish === Number.POSITIVE_INFINITY ? 0 : Math.round(wish));
      free = y + HEIGHT + GAP_Y;
      const at = { ...node, x, y };
      placed.set(node.task, at);
      return at;
    });
    height = Math.max(height, free + MARGIN);
    return { wave, x, nodes: column };
  });
  return { placed, columns, height, width: 2 * MARGIN + waves.length * (WIDTH + GAP_X) - GAP_X };
}

/** The middle of what it waits for; last, if that is nothing. */
function wishOf({ after }: GraphNode, placed: ReadonlyMap<TaskId, Placed>): number {
  let [sum, count] = [0, 0];
  for (const id of after) {
    const y = placed.get(id)?.y;
    if (y === undefined) continue;
    sum += y;
    count += 1;
  }
  return count === 0 ? Number.POSITIVE_INFINITY : sum / count;
}

/** The part of a scrolled box that can be seen, and some more. */
function useWindow() {
  const box = useRef<HTMLDivElement>(null);
  const [window, setWindow] = useState({ left: 0, top: 0, right: 2_000, bottom: 1_200 });
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => {
      const { scrollLeft, scrollTop, clientWidth, clientHeight } = element;
      setWindow({
        left: scrollLeft - 300,
        top: scrollTop - 300,
        right: scrollLeft + clientWidth + 300,
        bottom: scrollTop + clientHeight + 300,
      });
    };
    measure();
    element.addEventListener("scroll", measure, { passive: true });
    addEventListener("resize", measure);
    return () => {
      element.removeEventListener("scroll", measure);
      removeEventListener("resize", measure);
    };
  }, []);
  return { box, window };
}
