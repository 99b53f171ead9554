/** What has the run cost? Tokens and money over time, and by task. */

import { budgetTexts } from "../../core/view/budget-left.ts";
import { dollars, priceLabel, spentLabel } from "../../core/view/labels.ts";
import type { JobSpan } from "../../core/view/story.ts";
import { count, duration, line } from "./format.ts";
import { useMore } from "./more.tsx";
import { addressOf, type PageParts } from "./parts.ts";

const WIDE = 720;
const HIGH = 160;
/** A line of more points looks the same. */
const MAX_POINTS = 300;
const ROWS = 100;

export function Cost({ run, seen, view, live }: PageParts) {
  const { costs, calls } = view.tally;
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
            <Chart name="Tokens" seen={seen} of={({ tokens }) => tokens} text={count} />
            <Chart name="Cost" seen={seen} of={({ microdollars }) => microdollars} text={dollars} />
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
  readonly seen: PageParts["seen"];
  readonly of: (span: JobSpan) => number;
  readonly text: (amount: number) => string;
};

/** Of jobs that have ended, summed up. */
function Chart({ name, seen: { state, story }, of, text }: ChartProps) {
  const ended = story.spans.filter(({ to }) => to !== undefined).sort((a, b) => a.to! - b.to!);
  const wide = Math.max(1, (ended.at(-1)?.to ?? 0) - state.openedAt);
  const total = ended.reduce((sum, span) => sum + of(span), 0);
  if (total === 0) return null;
  const every = Math.ceil(ended.length / MAX_POINTS);
  let sum = 0;
  const path = ended.map((span, i) => {
    sum += of(span);
    if (i % every !== 0 && i !== ended.length - 1) return "";
    const x = ((span.to! - state.openedAt) / wide) * WIDE;
    return `L${x.toFixed(1)},${(HIGH - (sum / total) * HIGH).toFixed(1)}`;
  });
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
