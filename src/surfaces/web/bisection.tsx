/** Draws a bisection: a column per task, and a bar per gate run over the tasks that were in it. */
import { type BisectionView, bisectionLabel, gateEndLabel } from "../../core/view/gate-view.ts";
import { precise } from "../../text/words.ts";
import { line, time } from "./format.ts";
import { addressOf } from "./parts.ts";

const LEFT = 130;
const ROW = 26;
const BAR = 18;
const MIN_COLUMN = 16;
const MAX_COLUMN = 120;
const MAX_WIDE = 1_000;
/** Names are turned upright if their column is too narrow. */
const LETTER = 7.5;
const MAX_NAME = 22;

export function Bisection({ run, picture }: { readonly run: string; readonly picture: BisectionView }) {
  const { from, tasks, rows, suspects } = picture;
  const room = Math.min(MAX_WIDE, document.documentElement.clientWidth - 24);
  const column = Math.max(MIN_COLUMN, Math.min(MAX_COLUMN, (room - LEFT) / tasks.length));
  const names = tasks.map(({ name }) => line(name, MAX_NAME));
  const longest = Math.max(...names.map(({ length }) => length)) * LETTER;
  const isUpright = longest > column;
  const head = isUpright ? longest + 14 : 24;
  const [wide, high] = [LEFT + column * tasks.length, head + rows.length * ROW + 4];
  const label = bisectionLabel(picture);
  return (
    <figure class="bisection">
      <figcaption>
        {time(from)}: {line(label, 300)}
        {suspects.length > 0 && <span class="quiet"> ({line(suspects.join("; "), 160)})</span>}
      </figcaption>
      <div class="scroll" tabIndex={0} role="group" aria-label="Bisection, scrolls sideways">
        <svg width={wide} height={high} viewBox={`0 0 ${wide} ${high}`}>
          <title>{line(label, 300)}</title>
          {tasks.map(({ task, isFound }, i) => {
            const x = LEFT + column * (i + 0.5);
            return (
              <g key={task}>
                {isFound && (
                  <rect class="found" x={x - column / 2} y={0} width={column} height={high} rx={4} />
                )}
                <a href={addressOf({ run, tab: "landing", task })}>
                  <text
                    class={isFound ? "guilty" : ""}
                    x={isUpright ? 0 : x}
                    y={isUpright ? 0 : 16}
                    transform={isUpright ? `translate(${x + 4}, ${head - 8}) rotate(-90)` : ""}
                    text-anchor={isUpright ? "start" : "middle"}
                  >
                    {names[i]}
                  </text>
                </a>
              </g>
            );
          })}
          {rows.map(({ job, end, from: began, to, places }, i) => (
            <g key={job}>
              <text x={0} y={head + i * ROW + BAR - 4}>
                {`${i + 1}. ${gateEndLabel(end)}${to === undefined ? "" : `, ${precise(to - began)}`}`}
              </text>
              {stretches(places).map(([first, last]) => (
                <rect
                  class={`run ${end ?? "running"}`}
                  x={LEFT + column * first + 2}
                  y={head + i * ROW}
                  width={column * (last - first + 1) - 4}
                  height={BAR}
                  rx={4}
                />
              ))}
            </g>
          ))}
        </svg>
      </div>
    </figure>
  );
}

/** Neighbouring places share a bar. */
function stretches(places: readonly number[]): readonly (readonly [number, number])[] {
  const found: [number, number][] = [];
  for (const place of places.toSorted((a, b) => a - b)) {
    const last = found.at(-1);
    if (last && last[1] + 1 === place) last[1] = place;
    else found.push([place, place]);
  }
  return found;
}
