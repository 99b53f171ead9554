/** The tasks as waves from left to right. Only what can be seen is drawn: a run may have thousands. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TaskId } from "../../core/task.ts";
import { criticalPath, type GraphNode, shapeOf } from "../../core/view/graph.ts";
import { gatingIn, rowOf, type TaskRow } from "../../core/view/view.ts";
import { duration, line, plural } from "./format.ts";
import { addressOf, type PageParts } from "./parts.ts";

const WIDTH = 200;
const HEIGHT = 52;
const GAP_X = 60;
const GAP_Y = 14;
const MARGIN = 16;
/** Above so many tasks, what planners split is shown folded at first. */
const MAX_OPEN = 300;

type Placed = GraphNode & { readonly x: number; readonly y: number };

/** The longest chain changes slowly, and takes a look at all tasks. */
const CRITICAL_MS = 5_000;

export function Graph({ run, seen, live }: PageParts) {
  const [toggled, setToggled] = useState<ReadonlySet<TaskId>>(new Set());
  const { state } = seen;
  const { size } = state.tasks;
  // A shape changes when tasks are added, and when one looks at another moment.
  const { shape, placed, width, height } = useMemo(() => {
    const isLarge = size > MAX_OPEN;
    const found = shapeOf(state, (task) => isLarge !== toggled.has(task));
    return { shape: found, ...layOut(found.nodes, found.edges) };
  }, [state, size, toggled]);
  const moment = live.isLive ? Math.floor(Date.now() / CRITICAL_MS) : live.at;
  const critical = useMemo(() => criticalPath(seen), [seen, moment]);
  const gating = gatingIn(state);
  const toggle = (task: TaskId) => {
    const next = new Set(toggled);
    if (!next.delete(task)) next.add(task);
    setToggled(next);
  };
  const { box, window: shown } = useWindow();
  const isIn = ({ x, y }: Placed) =>
    x + WIDTH > shown.left && x < shown.right && y + HEIGHT > shown.top && y < shown.bottom;
  return (
    <section aria-label="Graph of tasks">
      <p class="quiet">
        {plural(shape.nodes.length, "task")} in {plural(shape.waves, "wave")}
        {critical.ms > 0 && `; the longest chain (bold) took ${duration(critical.ms)}`}
      </p>
      <div class="canvas" ref={box} tabIndex={0} role="group" aria-label="Graph, scrolls both ways">
        <div style={{ width: `${width}px`, height: `${height}px`, position: "relative" }}>
          <svg width={width} height={height} aria-hidden="true">
            {shape.edges.map(({ from, to }) => {
              const [a, b] = [placed.get(from)!, placed.get(to)!];
              if (!isIn(a) && !isIn(b)) return null;
              const [x1, y1, x2, y2] = [a.x + WIDTH, a.y + HEIGHT / 2, b.x, b.y + HEIGHT / 2];
              const bend = Math.max(20, (x2 - x1) / 2);
              return (
                <path
                  key={`${from} ${to}`}
                  class={critical.tasks.has(from) && critical.tasks.has(to) ? "edge critical" : "edge"}
                  d={`M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`}
                />
              );
            })}
          </svg>
          {[...placed.values()]
            .filter(isIn)
            .map((node) => ({ ...node, ...rowOf(state, node.task, { depth: node.depth, gating }) }))
            .map((node) => (
              <div
                key={node.task}
                class={`node ${node.word}${critical.tasks.has(node.task) ? " critical" : ""}`}
                style={{ left: `${node.x}px`, top: `${node.y}px` }}
              >
                <a href={addressOf({ run, tab: "graph", task: node.task })}>
                  <strong>{line(node.key, 40)}</strong>
                  <span class="quiet">{stateText(node)}</span>
                </a>
                {node.below > 0 && (
                  <button
                    type="button"
                    aria-expanded={!node.isFolded}
                    aria-label={`${node.isFolded ? "Show" : "Hide"} ${plural(node.below, "task")} below ${node.key}`}
                    onClick={() => toggle(node.task)}
                  >
                    {node.isFolded ? `+${node.below}` : "−"}
                  </button>
                )}
              </div>
            ))}
        </div>
      </div>
    </section>
  );
}

export const stateText = ({ word, attempts }: TaskRow): string =>
  attempts > 1 ? `${word}, attempt ${attempts}` : word;

/** A column a wave; within it, near what it waits for. */
function layOut(
  nodes: readonly GraphNode[],
  edges: readonly { readonly from: TaskId; readonly to: TaskId }[],
) {
  const before = Map.groupBy(edges, ({ to }) => to);
  const placed = new Map<TaskId, Placed>();
  const waves = [...Map.groupBy(nodes, ({ wave }) => wave)].sort(([a], [b]) => a - b);
  let height = 0;
  for (const [wave, members] of waves) {
    const wish = (node: GraphNode) => {
      const above = (before.get(node.task) ?? []).flatMap(({ from }) => placed.get(from)?.y ?? []);
      return above.length === 0
        ? Number.MAX_SAFE_INTEGER
        : above.reduce((sum, y) => sum + y, 0) / above.length;
    };
    const sorted = members
      .map((node, i) => ({ node, wish: wish(node), i }))
      .sort((a, b) => a.wish - b.wish || a.i - b.i);
    sorted.forEach(({ node }, row) => {
      const y = MARGIN + row * (HEIGHT + GAP_Y);
      height = Math.max(height, y + HEIGHT + MARGIN);
      placed.set(node.task, { ...node, x: MARGIN + wave * (WIDTH + GAP_X), y });
    });
  }
  return { placed, height, width: 2 * MARGIN + waves.length * (WIDTH + GAP_X) };
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
