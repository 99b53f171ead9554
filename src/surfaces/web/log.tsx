/** What happened, event by event; newest first. */
import { useState } from "preact/hooks";
import { nameOf, wallTime } from "../../core/log/state.ts";
import { harmless, line, time } from "./format.ts";
import { useMore } from "./more.tsx";
import type { PageParts } from "./parts.ts";

type LoggedEvent = PageParts["live"]["events"][number];
const PAGE = 100;
const MAX_LINE_CHARS = 400;
const MAX_EVENT_CHARS = 50_000;

export function Log({ live, seen }: PageParts) {
  const until = live.at;
  const { shown, button } = useMore(until, PAGE, "Earlier events");
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
            </button>
            <span class="quiet">{time(wallTime(seen.state, event.at))}</span>
            <Entry event={event} state={seen.state} />
          </li>
        ))}
      </ol>
      {button}
    </section>
  );
}

/** Events can be a megabyte: the whole is only made when it is asked for. */
function Entry({
  event,
  state,
}: {
  readonly event: LoggedEvent;
  readonly state: PageParts["seen"]["state"];
}) {
  const [isOpen, setOpen] = useState(false);
  const { type, at: _, ...rest } = event;
  const name = "task" in event && state.tasks.has(event.task) ? nameOf(state, event.task) : "";
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <strong>{type}</strong> {line(name, 60)}{" "}
        {!isOpen && <span class="quiet">{line(shortJson(rest), 140)}</span>}
      </summary>
      {isOpen && <pre>{harmless(JSON.stringify(event, undefined, 2).slice(0, MAX_EVENT_CHARS))}</pre>}
    </details>
  );
}

/** Long lists and texts are cut before they are written: a draw must not take a megabyte apart. */
function shortJson(value: object): string {
  const short = JSON.stringify(value, (_, part: unknown) =>
    typeof part === "string" ? part.slice(0, 100) : Array.isArray(part) ? part.slice(0, 3) : part,
  );
  return short.slice(0, MAX_LINE_CHARS);
}
