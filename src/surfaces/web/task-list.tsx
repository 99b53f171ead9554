/** Shows the tasks as a sortable, filterable table. It scrolls with the page; only rows in sight are rendered. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { runTime } from "../../core/log/state.ts";
import { ROOT, type TaskId } from "../../core/task.ts";
import { endOf } from "../../core/view/elapsed.ts";
import { priceLabel, type RunWord, stateLabel } from "../../core/view/labels.ts";
import { gatingIn, rowOf, type TaskRow, treeOf } from "../../core/view/rows.ts";
import { stateAndWhy } from "../../core/view/task-facts.ts";
import { sortTasks, type TaskColumn, type TaskFigures, taskFigures } from "../../core/view/task-table.ts";
import { count, duration, line, plural } from "./format.ts";
import { useLater } from "./later.ts";
import { addressOf, type PageParts } from "./parts.ts";
import { Filter } from "./tools.tsx";

/** As in the stylesheet. */
const ROW = 45;
const NARROW_ROW = 69;
const NARROW = "(max-width: 40rem)";
const SPARE = 10;

const COLUMNS: readonly (readonly [TaskColumn, string])[] = [
  ["task", "Task"],
  ["state", "State"],
  ["time", "Time"],
  ["attempts", "Attempts"],
  ["cost", "Cost"],
  ["size", "Lines"],
];
const NO_FIGURES: ReadonlyMap<TaskId, TaskFigures> = new Map();

export function TaskList({ run, seen, view, word: runWord, live }: PageParts) {
  const { state } = seen;
  const [wanted, setWanted] = useState("");
  const [order, setOrder] = useState({ by: "task" as TaskColumn, isReversed: false });
  const needle = wanted.trim().toLowerCase();
  // The tree changes when tasks are added; the facts of each task change with every event.
  const tree = useMemo(() => treeOf(state), [state, state.tasks.size]);
  const gating = gatingIn(state);
  const rowAt = ({ id, depth }: (typeof tree)[number]) => rowOf(state, id, { depth, gating });
  const isWanted = (at: (typeof tree)[number]) => {
    const row = rowAt(at);
    return `${row.name} ${stateLabel(row, runWord)} ${row.description}`.toLowerCase().includes(needle);
  };
  const now = runTime(state, endOf(view, live.look));
  const figures = useLater(() => taskFigures(seen, now), [seen, view.events], NO_FIGURES);
  const isPlain = needle === "" && order.by === "task" && !order.isReversed;
  const found = useLater(
    () =>
      isPlain ? undefined : sortTasks(state, needle === "" ? tree : tree.filter(isWanted), figures, order),
    [tree, needle, order, figures, view.events],
    undefined,
  );
  const rows = (isPlain ? undefined : found) ?? tree; // The rows as they were, until the new order is ready.
  const { list, top, high, rowHigh } = useSight();
  const first = Math.max(0, Math.floor(top / rowHigh) - SPARE);
  const shown = rows.slice(first, first + Math.ceil(high / rowHigh) + 2 * SPARE);
  return (
    <section aria-label="Tasks">
      <Filter label="Filter tasks" hint="Filter by name, state or words" value={wanted} setValue={setWanted}>
        <output class="quiet">
          {needle === ""
            ? plural(tasksIn(tree), "task")
            : `${tasksIn(rows)} of ${plural(tasksIn(tree), "task")}`}
        </output>
      </Filter>
      <table class="tasks" aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {COLUMNS.map(([by, name]) => (
              <Title key={by} by={by} name={name} order={order} setOrder={setOrder} />
            ))}
          </tr>
        </thead>
        <tbody ref={list}>
          <Space high={first * rowHigh} />
          {shown.map((at, i) => (
            <Row
              key={at.id}
              index={first + i + 2}
              isIndented={order.by === "task"}
              run={run}
              runWord={runWord}
              row={rowAt(at)}
              seen={seen}
              figures={figures.get(at.id)}
            />
          ))}
          <Space high={(rows.length - first - shown.length) * rowHigh} />
        </tbody>
      </table>
    </section>
  );
}

/** The number of tasks without the goal, which has a row too. */
const tasksIn = (rows: readonly { readonly id: TaskId }[]): number =>
  rows.length > 1 ? rows.filter(({ id }) => id !== ROOT).length : rows.length;

type Order = { readonly by: TaskColumn; readonly isReversed: boolean };
type TitleProps = {
  readonly by: TaskColumn;
  readonly name: string;
  readonly order: Order;
  readonly setOrder: (order: Order) => void;
};

function Title({ by, name, order, setOrder }: TitleProps) {
  const isIt = order.by === by;
  // Columns of numbers begin with the largest, which is their natural order here.
  const isDown = isIt && order.isReversed === (by === "task" || by === "state");
  return (
    <th scope="col" class={`of-${by}`} aria-sort={isIt ? (isDown ? "descending" : "ascending") : "none"}>
      <button
        type="button"
        class="link"
        onClick={() => setOrder({ by, isReversed: isIt && !order.isReversed })}
      >
        {name}
      </button>
    </th>
  );
}

type RowProps = Pick<PageParts, "run" | "seen"> & {
  readonly index: number;
  readonly isIndented: boolean;
  readonly runWord: RunWord;
  readonly row: TaskRow;
  readonly figures: TaskFigures | undefined;
};

function Row({ index, isIndented, run, runWord, row, seen, figures }: RowProps) {
  const { ms = 0, attempts = 0, tokens = 0, lines } = figures ?? {};
  return (
    <tr aria-rowindex={index}>
      <td class="of-task" style={{ paddingLeft: `${8 + (isIndented ? Math.min(row.depth, 8) * 16 : 0)}px` }}>
        <a href={addressOf({ run, tab: "tasks", task: row.task })} title={line(row.description, 300)}>
          <span class={`dot ${row.word}${row.isUntaken ? " untaken" : ""}`} aria-hidden="true" />
          <strong>{line(isIndented ? row.key : row.name, 60)}</strong>{" "}
          <span class="what quiet">{line(row.description, 100)}</span>
        </a>
      </td>
      <td class="of-state" title={line(stateAndWhy(seen, row, runWord), 300)}>
        {line(stateAndWhy(seen, row, runWord), 80)}
      </td>
      <td class="of-time">{ms > 0 && duration(ms)}</td>
      <td class="of-attempts">
        {attempts > 0 && attempts}
        <span class="unit">{attempts > 0 && (attempts === 1 ? " attempt" : " attempts")}</span>
      </td>
      <td class="of-cost" title={tokens > 0 ? `${count(tokens)} tokens` : ""}>
        {figures && costText(figures)}
      </td>
      <td class="of-size">
        {lines && (
          <>
            <span class="more-lines">+{lines.added}</span> <span class="less-lines">−{lines.removed}</span>
          </>
        )}
      </td>
    </tr>
  );
}

/** Takes the place of the rows out of sight. */
const Space = ({ high }: { readonly high: number }) =>
  high > 0 ? (
    <tr class="space" style={{ height: `${high}px` }}>
      <td colSpan={COLUMNS.length} />
    </tr>
  ) : null;

/** The tokens if no price is known. */
const costText = (figures: TaskFigures): string =>
  figures.microdollars > 0
    ? priceLabel(figures)
    : figures.tokens > 0
      ? `${count(figures.tokens)} tokens`
      : "";

/** The part of the list that is in sight while the page scrolls. */
function useSight() {
  const list = useRef<HTMLTableSectionElement>(null);
  const [sight, setSight] = useState({ top: 0, high: 900, rowHigh: ROW });
  useEffect(() => {
    const page = list.current?.closest("main");
    if (!page) return;
    const narrow = matchMedia(NARROW);
    const look = () => {
      if (!list.current) return; // Another view has just taken its place.
      const [own, all] = [list.current.getBoundingClientRect(), page.getBoundingClientRect()];
      const rowHigh = narrow.matches ? NARROW_ROW : ROW;
      const step = SPARE * rowHigh;
      // In steps, so that not every pixel of a scroll causes a draw.
      const top = Math.max(0, Math.floor((all.top - own.top) / (step / 2)) * (step / 2));
      setSight((was) =>
        was.top === top && was.high === all.height && was.rowHigh === rowHigh
          ? was
          : { top, high: all.height, rowHigh },
      );
    };
    look();
    page.addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => {
      page.removeEventListener("scroll", look);
      removeEventListener("resize", look);
    };
  }, []);
  return { list, ...sight };
}
