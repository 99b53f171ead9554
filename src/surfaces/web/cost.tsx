/** Shows the cost of the run: tokens and money over time, and by task. */

import { budgetTexts } from "../../core/view/budget-left.ts";
import { dollars, priceLabel, spentLabel } from "../../core/view/labels.ts";
import { spentOverTime } from "../../core/view/spent-over-time.ts";
import { costsOf } from "../../core/view/tally-view.ts";
import { count, duration, line } from "./format.ts";
import { useLater } from "./later.ts";
import { useMore } from "./more.tsx";
import { addressOf, type PageParts } from "./parts.ts";

const WIDE = 720;
const HIGH = 160;
const ROWS = 100;
const NOTHING = { costs: [], points: [] };

export function Cost({ run, seen, view, live }: PageParts) {
  const { calls } = view.tally;
  const { costs, points } = useLater(
    () => ({ costs: costsOf(seen.state), points: spentOverTime(seen) }),
    [seen, view.events],
    NOTHING,
  );
  const { shown, button } = useMore(costs.length, ROWS, "More tasks");
  return (
    <section aria-label="Cost">
      <div class="facts">
        <span>{[spentLabel(view.spent), ...budgetTexts(view, live.budget)].join("; ")}</span>
      </div>
      {costs.length === 0 ? (
        <p class="quiet">No job has reported tokens.</p>
      ) : (
        <>
          <div class="charts">
            <Chart name="Tokens" points={points.map(({ ms, tokens }) => [ms, tokens])} text={count} />
            <Chart
              name="Cost"
              points={points.map(({ ms, microdollars }) => [ms, microdollars])}
              text={dollars}
            />
          </div>
          <div class="scroll" tabIndex={0} role="group" aria-label="Cost by task">
            <table>
              <thead>
                <tr>
                  <th>Task</th>
                  <th>Tokens</th>
                  <th>Cost</th>
                </tr>
              </thead>
              <tbody>
                {costs.slice(0, shown).map(({ task, name, ...used }) => (
                  <tr key={task}>
                    <td>
                      <a href={addressOf({ run, tab: "cost", task })}>{line(name, 80)}</a>
                    </td>
                    <td>{count(used.tokens)}</td>
                    <td>{priceLabel(used)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {button}
        </>
      )}
      {calls.turns > 0 && (
        <p class="quiet">
          {count(calls.calls)} model calls with {count(calls.toolCalls)} tool calls:{" "}
          {count(calls.inputTokens)} tokens in, {count(calls.outputTokens)} out
        </p>
      )}
    </section>
  );
}

type ChartProps = {
  readonly name: string;
  /** Pairs of ms since the start of the run and the total by then. */
  readonly points: readonly (readonly [number, number])[];
  readonly text: (amount: number) => string;
};

/** The cumulated amounts of ended jobs. */
function Chart({ name, points, text }: ChartProps) {
  const [wide, total] = points.at(-1) ?? [0, 0];
  if (total === 0) return null;
  const path = points.map(
    ([ms, sum]) => `L${((ms / (wide || 1)) * WIDE).toFixed(1)},${(HIGH - (sum / total) * HIGH).toFixed(1)}`,
  );
  return (
    <figure>
      <figcaption>
        {name}: {text(total)} in {duration(wide)}
      </figcaption>
      <svg
        viewBox={`0 -2 ${WIDE} ${HIGH + 4}`}
        role="img"
        aria-label={`${name} over time, ${text(total)} in all`}
      >
        <path class="axis" d={`M0,0V${HIGH}H${WIDE}`} />
        <path class="chart" d={`M0,${HIGH}${path.join("")}`} />
      </svg>
    </figure>
  );
}
