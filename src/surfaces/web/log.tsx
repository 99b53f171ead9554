/** What happened, event by event; newest first. */
import { useMemo, useState } from "preact/hooks";
import { nameOf, wallTime } from "../../core/log/state.ts";
import { harmless, line, time } from "./format.ts";
import { useMore } from "./more.tsx";
import type { PageParts } from "./parts.ts";

type LoggedEvent = PageParts["live"]["events"][number];
const PAGE = 50;
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
          <Line
            key={number}
            number={number}
            event={event}
            name={taskNameIn(seen.state, event)}
            at={wallTime(seen.state, event.at)}
            live={live}
          />
        ))}
      </ol>
      {button}
    </section>
  );
}

/** Events can be a megabyte: the whole is only made when it is asked for. */
const taskNameIn = (state: PageParts["seen"]["state"], event: LoggedEvent): string =>
  "task" in event && state.tasks.has(event.task) ? nameOf(state, event.task) : "";

type LineProps = Pick<PageParts, "live"> & {
  readonly number: number;
  readonly event: LoggedEvent;
  readonly name: string;
  readonly at: number;
};

/** An event does not change: it is drawn once. */
const Line = ({ number, event, name, at, live }: LineProps) =>
  useMemo(
    () => (
      <li>
        <button
          type="button"
          class="link"
          onClick={() => live.travel(number)}
          aria-label={`Show the run after event ${number}`}
        >
          {number}
        </button>
        <span class="quiet">{time(at)}</span>
        <Entry event={event} name={name} />
      </li>
    ),
    [number, event, name, at, live],
  );

function Entry({ event, name }: Pick<LineProps, "event" | "name">) {
  const [isOpen, setOpen] = useState(false);
  const { type, at: _, ...rest } = event;
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
