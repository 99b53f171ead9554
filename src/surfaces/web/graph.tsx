/** The tasks as waves from left to right. Only what can be seen is drawn: a run may have thousands. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { TaskId } from "../../core/task.ts";
import { criticalPath, type GraphNode, shapeOf } from "../../core/view/graph.ts";
import { type RunWord, stateLabel } from "../../core/view/labels.ts";
import { stateAndWhy } from "../../core/view/task-facts.ts";
import { gatingIn, rowOf, type Seen, type TaskRow } from "../../core/view/view.ts";
import { duration, line, plural } from "./format.ts";
import { useLater } from "./later.ts";
import { GAP_X, HEIGHT, type Layout, layOut, NOTHING, type Placed, route, WIDTH } from "./layout.ts";
import { addressOf, type PageParts } from "./parts.ts";
import { Word } from "./word.tsx";

/** Above so many tasks, what planners split is shown folded at first, and only what can be seen is drawn. */
const MAX_OPEN = 300;

const NO_NODES: readonly GraphNode[] = [];
const NO_CHAIN: ReturnType<typeof criticalPath> = { tasks: new Set(), ms: 0 };

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
        {plural(placed.size, "task")} in {columns.length}{" "}
        <Word is="wave">{columns.length === 1 ? "wave" : "waves"}</Word>
        {critical.ms > 0 && (
          <>
            ; <i class="chain" /> the <Word is="longest chain" /> took {duration(critical.ms)}
          </>
        )}
      </p>
      <div class="canvas" ref={box} tabIndex={0} role="group" aria-label="Graph, scrolls both ways">
        <div style={{ width: `${width}px`, height: `${height}px`, position: "relative" }}>
          <svg width={width} height={height} aria-hidden="true">
            <path class="edge" d={near.map(({ nodes }) => edgesInto(nodes, layout, isIn)).join("")} />
            <path class="edge critical" d={chainOf(critical.tasks, layout)} />
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
                  seen={seen}
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
  readonly seen: Seen;
  readonly isCritical: boolean;
  readonly toggle: (task: TaskId) => void;
};

function Node({
  node: { x, y, task, below, isFolded },
  row,
  href,
  run,
  seen,
  isCritical,
  toggle,
}: NodeProps) {
  return (
    <div
      class={`node ${row.word}${row.isUntaken ? " untaken" : ""}${isCritical ? " critical" : ""}`}
      style={{ left: `${x}px`, top: `${y}px` }}
      title={line(stateAndWhy(seen, row, run), 200)}
    >
      <a href={href}>
        <strong>{line(row.key, 40)}</strong>
        <span class="quiet">{line(stateLabel(row, run))}</span>
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

const edgesInto = (nodes: readonly Placed[], layout: Layout, isIn: (node: Placed) => boolean): string =>
  nodes
    .flatMap((to) =>
      to.after.flatMap((id) => {
        const from = layout.placed.get(id);
        return from && (isIn(from) || isIn(to)) ? [route(layout, from, to)] : [];
      }),
    )
    .join("");

/** From each task of the chain to the next that is not folded. */
function chainOf(tasks: ReadonlySet<TaskId>, layout: Layout): string {
  const chain = [...tasks].flatMap((task) => layout.placed.get(task) ?? []);
  return chain
    .slice(1)
    .map((to, i) => route(layout, chain[i]!, to))
    .join("");
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
