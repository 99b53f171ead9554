/** The tasks as a tree in a list. Only the rows that can be seen are drawn. */
import { useMemo, useState } from "preact/hooks";
import { stateLabel } from "../../core/view/labels.ts";
import { gatingIn, rowOf, treeOf } from "../../core/view/rows.ts";
import { stateAndWhy } from "../../core/view/task-facts.ts";
import { line } from "./format.ts";
import { useLater } from "./later.ts";
import { addressOf, type PageParts } from "./parts.ts";

const ROW = 44;
const SPARE = 10;
const VISIBLE = 25;

export function TaskList({ run, seen, view, word: runWord }: PageParts) {
  const { state } = seen;
  const [top, setTop] = useState(0);
  const [wanted, setWanted] = useState("");
  const needle = wanted.trim().toLowerCase();
  // A tree changes when tasks are added; what each is about changes with every event.
  const tree = useMemo(() => treeOf(state), [state, state.tasks.size]);
  const gating = gatingIn(state);
  const rowAt = ({ id, depth }: (typeof tree)[number]) => rowOf(state, id, { depth, gating });
  const isWanted = (at: (typeof tree)[number]) => {
    const row = rowAt(at);
    return `${row.name} ${stateLabel(row, runWord)} ${row.description}`.toLowerCase().includes(needle);
  };
  const found = useLater(
    () => (needle === "" ? undefined : tree.filter(isWanted)),
    [tree, needle, view.events],
    undefined,
  );
  const rows = needle === "" ? tree : (found ?? []);
  const first = Math.max(0, Math.floor(top / ROW) - SPARE);
  const shown = rows.slice(first, first + VISIBLE + 2 * SPARE).map(rowAt);
  return (
    <section aria-label="Tasks">
      <input
        type="search"
        aria-label="Filter tasks"
        placeholder="Filter by name, state or words"
        value={wanted}
        onInput={(event) => setWanted(event.currentTarget.value)}
      />
      <div
        class="list"
        tabIndex={0}
        role="group"
        aria-label={`${rows.length} tasks`}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      >
        <ul style={{ height: `${rows.length * ROW}px` }}>
          {shown.map((row, i) => (
            <li
              key={row.task}
              style={{ top: `${(first + i) * ROW}px`, paddingLeft: `${Math.min(row.depth, 8) * 20}px` }}
            >
              <a href={addressOf({ run, tab: "tasks", task: row.task })}>
                <span class={`dot ${row.word}${row.isUntaken ? " untaken" : ""}`} aria-hidden="true" />
                <strong>{line(row.key, 50)}</strong>{" "}
                <span class="quiet">{line(stateAndWhy(seen, row, runWord), 80)}</span>{" "}
                <span class="what">{line(row.description, 100)}</span>
              </a>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
