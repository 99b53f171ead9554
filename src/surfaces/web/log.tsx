/** What happened, event by event, in words; newest first. */
import { useState } from "preact/hooks";
import { wallTime } from "../../core/log/state.ts";
import { harmless, line, time } from "./format.ts";
import type { PageParts } from "./parts.ts";

const PAGE = 200;

export function Log({ live, seen }: PageParts) {
  const [shown, setShown] = useState(PAGE);
  const until = live.at;
  const from = Math.max(0, until - shown);
  const events = live.events.slice(from, until).map((event, i) => ({ event, number: from + i + 1 }));
  return (
    <section aria-label="Event log">
      <ol class="log">
        {events.toReversed().map(({ event, number }) => (
          <li key={number}>
            <button
              type="button"
              class="link"
              onClick={() => live.travel(number)}
              aria-label={`Show the run after event ${number}`}
            >
              {number}
            </button>{" "}
            <span class="quiet">{time(wallTime(seen.state, event.at))}</span> <strong>{event.type}</strong>{" "}
            <details>
              <summary class="log-line">{line(harmless(summaryOf(event)), 140)}</summary>
              <pre>{harmless(JSON.stringify(event, undefined, 2))}</pre>
            </details>
          </li>
        ))}
      </ol>
      {from > 0 && (
        <button type="button" onClick={() => setShown(shown + PAGE)}>
          Earlier events
        </button>
      )}
    </section>
  );
}

/** Everything but its type and time. */
function summaryOf(event: PageParts["live"]["events"][number]): string {
  const { type: _, at: __, ...rest } = event;
  return JSON.stringify(rest);
}
