/** Shows the run's events in the sentences of `skein logs`, newest first; a click shows the whole event. */
import { useMemo, useState } from "preact/hooks";
import { wallTime } from "../../core/log/state.ts";
import { harmless, line, time } from "./format.ts";
import { useLater } from "./later.ts";
import { useMore } from "./more.tsx";
import type { PageParts } from "./parts.ts";
import { Filter } from "./tools.tsx";

type LoggedEvent = PageParts["live"]["events"][number];
type Told = PageParts["live"]["told"][number];
const PAGE = 60;
const MAX_EVENT_CHARS = 50_000;

export function Log({ live, seen }: PageParts) {
  const until = live.at;
  const [wanted, setWanted] = useState("");
  const [isAll, setAll] = useState(false);
  const needle = wanted.trim().toLowerCase();
  const numbers = useLater(
    () => numbersIn(live, until, (event, told) => isIn(event, told, { needle, isAll })),
    [live, until, needle, isAll],
    [],
  );
  const { shown, button } = useMore(numbers.length, PAGE, "Earlier lines");
  return (
    <section aria-label="Event log">
      <Filter label="Filter the log" hint="Filter by words" value={wanted} setValue={setWanted}>
        <button type="button" aria-pressed={isAll} onClick={() => setAll(!isAll)}>
          Every event
        </button>
      </Filter>
      {numbers.length === 0 && needle !== "" && <p class="quiet">No line has these words.</p>}
      <ol class="log">
        {numbers
          .slice(-shown)
          .toReversed()
          .map((number) => (
            <Line
              key={number}
              number={number}
              event={live.events[number - 1]!}
              told={live.told[number - 1]}
              at={wallTime(seen.state, live.events[number - 1]!.at)}
              live={live}
            />
          ))}
      </ol>
      {button}
    </section>
  );
}

function isIn(
  event: LoggedEvent,
  told: Told,
  { needle, isAll }: { readonly needle: string; readonly isAll: boolean },
): boolean {
  if (!told && !isAll) return false;
  return needle === "" || `${told?.text ?? ""} ${event.type}`.toLowerCase().includes(needle);
}

/** The numbers of the shown events, counted from 1. */
function numbersIn(
  { events, told }: PageParts["live"],
  until: number,
  isWanted: (event: LoggedEvent, told: Told) => boolean,
): readonly number[] {
  const found: number[] = [];
  for (let i = 0; i < until; i += 1) if (isWanted(events[i]!, told[i])) found.push(i + 1);
  return found;
}

type LineProps = Pick<PageParts, "live"> & {
  readonly number: number;
  readonly event: LoggedEvent;
  readonly told: Told;
  readonly at: number;
};

/** An event does not change, so it is rendered once. */
const Line = ({ number, event, told, at, live }: LineProps) =>
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
        <Entry event={event} told={told} at={at} />
      </li>
    ),
    [number, event, told, at, live],
  );

function Entry({ event, told, at }: Pick<LineProps, "event" | "told" | "at">) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class={told?.tone ?? "quiet"}>
        <span class="quiet">{time(at)}</span> {told ? harmless(told.text) : line(event.type)}
      </summary>
      {/* An event can be a megabyte, so its whole text is only made when it is opened. */}
      {isOpen && (
        <pre tabIndex={0} role="group" aria-label="The event as JSON">
          {harmless(JSON.stringify(event, undefined, 2).slice(0, MAX_EVENT_CHARS))}
        </pre>
      )}
    </details>
  );
}
