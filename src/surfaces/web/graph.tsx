/** Draws the tasks as waves, with zoom and pan. Draws only what is in sight: a run may have thousands of tasks. */
import { useRef, useState } from "preact/hooks";
import type { TaskId } from "../../core/task.ts";
import { criticalPath, shapeOf } from "../../core/view/graph.ts";
import { type GroupedNode, groupAlike } from "../../core/view/graph-groups.ts";
import { type RunWord, stateLabel } from "../../core/view/labels.ts";
import { failureLabel } from "../../core/view/tally.ts";
import { lastFailure, stateAndWhy } from "../../core/view/task-facts.ts";
import { gatingIn, rowOf, type Seen, type TaskRow } from "../../core/view/view.ts";
import { FAR_SCALE, useCamera } from "./camera.ts";
import { duration, line, plural } from "./format.ts";
import { useLater } from "./later.ts";
import { HEIGHT, type Layout, layOut, NOTHING, type Placed, route, WIDTH } from "./layout.ts";
import { addressOf, type PageParts } from "./parts.ts";
import { ZoomBar } from "./tools.tsx";
import { Word } from "./word.tsx";

/** With more tasks, those that planners split are folded at first. */
const MAX_OPEN = 300;
/** With more tasks, similar ones share a box at first. */
const MAX_ALONE = 40;
/** With more boxes, they are drawn without names, which would be too small to read. */
const MAX_BOXES = 250;
/** More lines would only be a grey surface: they are drawn when the person zooms in. */
const MAX_EDGES = 3_000;

const NO_NODES: readonly GroupedNode[] = [];
const NO_CHAIN: ReturnType<typeof criticalPath> = { tasks: new Set(), ms: 0 };

export function Graph(parts: PageParts) {
  const { seen, view } = parts;
  const { state } = seen;
  const { size } = state.tasks;
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [grouping, setGrouping] = useState<boolean | undefined>();
  const isGrouped = grouping ?? size > MAX_ALONE;
  const isFolded = (task: TaskId) => size > MAX_OPEN !== toggled.has(task);
  const [box, layer] = [useRef<HTMLDivElement>(null), useRef<HTMLDivElement>(null)];
  const nodes = useLater(
    () => {
      const shape = shapeOf(state, isFolded).nodes;
      return isGrouped ? groupAlike(state, shape, (key) => toggled.has(key)) : shape;
    },
    [state, isGrouped ? view.events : size, toggled, isGrouped],
    NO_NODES,
  );
  const [room, setRoom] = useState({ width: 1_200, height: 600 });
  const layout = useLater(() => layOut(nodes, room), [nodes, room], NOTHING);
  const camera = useCamera(box, layer, layout);
  // A box that has changed only a little keeps its layout, because everything would jump.
  if (Math.abs(camera.size.width - room.width) > 60 || Math.abs(camera.size.height - room.height) > 90)
    setRoom(camera.size);
  const critical = useLater(() => criticalPath(seen), [seen, view.events], NO_CHAIN);
  const toggle = (key: string) => {
    const next = new Set(toggled);
    if (!next.delete(key)) next.add(key);
    setToggled(next);
  };
  const tasks = layout.placed.values().reduce((sum, { group }) => sum + (group?.members.length ?? 1), 0);
  const waves = new Set(layout.columns.map(({ wave }) => wave)).size;
  return (
    <section class="graph" aria-label="Graph of tasks">
      <ZoomBar out={camera.zoomOut} in={camera.zoomIn} fit={camera.fit}>
        <p class="quiet grow">
          {plural(tasks, "task")} in {waves} <Word is="wave">{waves === 1 ? "wave" : "waves"}</Word>
          {critical.ms > 0 && (
            <>
              ; <i class="chain" /> the <Word is="longest chain" /> took {duration(critical.ms)}
            </>
          )}
        </p>
        {size > 4 && (
          <button type="button" aria-pressed={isGrouped} onClick={() => setGrouping(!isGrouped)}>
            Group alike
          </button>
        )}
      </ZoomBar>
      <div
        class={`canvas${camera.looked.scale < FAR_SCALE ? " far" : ""}`}
        ref={box}
        tabIndex={0}
        role="group"
        aria-label="Graph: drag or press the arrows to move it, + and − to zoom, 0 to see all"
        onFocusCapture={({ target }) => {
          if (target !== box.current) camera.reveal(target as Element);
        }}
      >
        <div class="layer" ref={layer} style={{ width: `${layout.width}px`, height: `${layout.height}px` }}>
          <Boxes {...parts} layout={layout} camera={camera} critical={critical.tasks} toggle={toggle} />
        </div>
      </div>
    </section>
  );
}

type BoxesProps = PageParts & {
  readonly layout: Layout;
  readonly camera: ReturnType<typeof useCamera>;
  readonly critical: ReadonlySet<TaskId>;
  readonly toggle: (key: string) => void;
};

function Boxes({ run, seen, word, layout, camera, critical, toggle }: BoxesProps) {
  const { state } = seen;
  const { looked } = camera;
  const isIn = ({ x, y }: Placed) =>
    x + WIDTH > looked.left && x < looked.right && y + HEIGHT > looked.top && y < looked.bottom;
  const { width, height, columns, isUpright } = layout;
  const shown = columns.flatMap(({ nodes }) =>
    nodes.filter((node) => isIn(node) && state.tasks.has(node.task)),
  );
  const edges = useLater(() => edgesIn(layout, isIn), [layout, looked], "");
  const gating = gatingIn(state);
  const row = (node: Placed) => rowOf(state, node.task, { depth: node.depth, gating });
  return (
    <>
      <svg width={width} height={height} aria-hidden="true">
        <path class="edge" d={edges} />
        <path class="edge critical" d={chainOf(critical, layout)} />
        {shown.length > MAX_BOXES && <Far nodes={shown} wordOf={(node) => row(node).word} />}
      </svg>
      {columns
        .filter(({ isFirst }) => isFirst)
        .map(({ start, wave }) => (
          <span
            key={wave}
            class="wave quiet"
            style={isUpright ? { left: "16px", top: `${start - 24}px` } : { left: `${start}px`, top: "10px" }}
          >
            wave {wave + 1}
          </span>
        ))}
      {shown.length <= MAX_BOXES &&
        shown.map((node) =>
          node.group ? (
            <Group
              key={node.group.key}
              node={node}
              group={node.group}
              names={node.group.members
                .slice(0, 3)
                .map((task) => line(state.tasks.get(task)?.spec.key ?? "", 20))}
              isCritical={node.group.members.some((task) => critical.has(task))}
              toggle={toggle}
            />
          ) : (
            <Node
              key={node.task}
              node={node}
              row={row(node)}
              href={addressOf({ run, tab: "graph", task: node.task })}
              run={word}
              seen={seen}
              isCritical={critical.has(node.task)}
              toggle={toggle}
            />
          ),
        )}
    </>
  );
}

type FarProps = {
  readonly nodes: readonly Placed[];
  readonly wordOf: (node: Placed) => TaskRow["word"];
};

/** Shows tasks by colour only; a click zooms in. */
function Far({ nodes, wordOf }: FarProps) {
  const paths = Map.groupBy(nodes, wordOf);
  return (
    <>
      {[...paths].map(([word, alike]) => (
        <path
          key={word}
          class={`box ${word}`}
          d={alike.map(({ x, y }) => `M${x},${y}h${WIDTH}v${HEIGHT}h${-WIDTH}z`).join("")}
        />
      ))}
    </>
  );
}

type GroupProps = {
  readonly node: Placed;
  readonly group: NonNullable<Placed["group"]>;
  readonly names: readonly string[];
  readonly isCritical: boolean;
  readonly toggle: (key: string) => void;
};

function Group({ node: { x, y }, group: { key, is, members }, names, isCritical, toggle }: GroupProps) {
  return (
    <div class={`node group ${is}${isCritical ? " critical" : ""}`} style={{ left: `${x}px`, top: `${y}px` }}>
      <button type="button" aria-expanded={false} onClick={() => toggle(key)} title="Show each of them">
        <strong>
          {members.length} {is}
        </strong>
        <span class="quiet">{names.join(", ")} …</span>
      </button>
    </div>
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
  const again = row.isSettled ? undefined : lastFailure(seen, row);
  return (
    <div
      class={`node ${row.word}${row.isUntaken ? " untaken" : ""}${isCritical ? " critical" : ""}`}
      style={{ left: `${x}px`, top: `${y}px` }}
      title={line(stateAndWhy(seen, row, run), 200)}
    >
      <a href={href}>
        <strong>
          {line(row.key, 40)}
          {again && <span class="bad">: {failureLabel(again.failure)}</span>}
        </strong>
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

/** The lines that begin or end in sight. */
function edgesIn(layout: Layout, isIn: (node: Placed) => boolean): string {
  const paths: string[] = [];
  for (const { nodes } of layout.columns)
    for (const to of nodes)
      for (const id of to.after) {
        const from = layout.placed.get(id);
        if (from && (isIn(from) || isIn(to))) paths.push(route(layout, from, to));
        if (paths.length > MAX_EDGES) return "";
      }
  return paths.join("");
}

/** Lines from each task of the chain to the next shown one, alone or in a box with others. */
function chainOf(tasks: ReadonlySet<TaskId>, layout: Layout): string {
  if (tasks.size === 0) return "";
  const boxes = new Map<TaskId, Placed>();
  for (const placed of layout.placed.values())
    for (const task of placed.group?.members ?? [placed.task]) if (tasks.has(task)) boxes.set(task, placed);
  const chain = [...new Set([...tasks].flatMap((task) => boxes.get(task) ?? []))];
  return chain
    .slice(1)
    .map((to, i) => route(layout, chain[i]!, to))
    .join("");
}
