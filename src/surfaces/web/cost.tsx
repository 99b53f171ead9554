/** What has the run cost? Tokens over time, and by task. */
import { count, dollars, duration, line } from "./format.ts";
import { addressOf, type PageParts } from "./parts.ts";

const WIDE = 720;
const HIGH = 160;
const MAX_ROWS = 200;

export function Cost({ run, seen, view }: PageParts) {
  const ended = seen.story.spans.filter(({ to }) => to !== undefined).sort((a, b) => a.to! - b.to!);
  const start = seen.state.openedAt;
  const last = ended.at(-1)?.to ?? start;
  let sum = 0;
  const points = ended.map(({ to, tokens }) => {
    sum += tokens;
    return [to! - start, sum] as const;
  });
  const x = (ms: number) => (ms / Math.max(1, last - start)) * WIDE;
  const y = (tokens: number) => HIGH - (tokens / Math.max(1, sum)) * HIGH;
  const path = points.map(([ms, tokens]) => `L${x(ms).toFixed(1)},${y(tokens).toFixed(1)}`).join("");
  const { agents, gate, calls } = view.tally;
  return (
    <section aria-label="Cost">
      <div class="facts">
        <span>{count(view.spent.tokens)} tokens</span>
        <span>{dollars(view.spent.microdollars)}</span>
        <span>
          at most {agents.mostAtOnce} agents at once, {Math.round(agents.share * 100)} % busy
        </span>
        <span>
          {gate.runs} gate runs, {duration(gate.ms)}
        </span>
      </div>
      <figure>
        <svg
          viewBox={`0 -4 ${WIDE} ${HIGH + 24}`}
          role="img"
          aria-label={`Tokens over time, ${count(sum)} in all`}
        >
          <path class="chart" d={`M0,${HIGH}${path}`} />
          <text x={0} y={HIGH + 16}>
            0
          </text>
          <text x={WIDE} y={HIGH + 16} text-anchor="end">
            {duration(last - start)}, {count(sum)} tokens
          </text>
        </svg>
        <figcaption class="quiet">Tokens of finished jobs, summed up over time</figcaption>
      </figure>
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
            {view.tally.costs.slice(0, MAX_ROWS).map(({ task, name, tokens, microdollars }) => (
              <tr key={task}>
                <td>
                  <a href={addressOf({ run, tab: "cost", task })}>{line(name, 80)}</a>
                </td>
                <td>{count(tokens)}</td>
                <td>{dollars(microdollars)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {calls.turns > 0 && (
        <p class="quiet">
          {count(calls.calls)} model calls with {count(calls.toolCalls)} tool calls:{" "}
          {count(calls.inputTokens)} tokens in, {count(calls.outputTokens)} out
        </p>
      )}
    </section>
  );
}
