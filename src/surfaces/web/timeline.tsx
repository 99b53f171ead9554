/** Who worked when? Lanes of planners, workers, gates and checks over time. */
import { useEffect, useRef, useState } from "preact/hooks";
import { endOf } from "../../core/view/elapsed.ts";
import type { RunWord } from "../../core/view/labels.ts";
import {
  JOB_NAMES,
  type LaneView,
  LEGEND,
  type SpanView,
  spanEnd,
  spanName,
  timelineOf,
} from "../../core/view/timeline.ts";
import { WORDS } from "../../core/view/words.ts";
import { duration, line, plural, time } from "./format.ts";
import { useLater } from "./later.ts";
import { addressOf, type PageParts } from "./parts.ts";

/** More jobs are drawn as bars alone: so many links cannot be drawn without a halt, and none could be hit. */
const MAX_LINKS = 400;

export function Timeline({ run, seen, view, word, live }: PageParts) {
  const [isNear, setNear] = useState(false);
  const starts = seen.story.spans.length;
  const isLarge = starts > MAX_LINKS;
  const now = endOf(view, live.look);
  const all = useLater(() => timelineOf(seen), [seen, view.events], undefined);
  const drawn = useLater(
    () => (all ? drawingOf(all, { openedAt: view.times.openedAt, now, isLarge, isNear }) : NO_LANES),
    [all, now, isLarge, isNear],
    NO_LANES,
  );
  const { box, wide } = useWide();
  const { scale, lanes } = drawn;
  return (
    <section aria-label="Timeline" ref={box}>
      <p class="quiet" hidden={lanes.length === 0}>
        {time(scale.from)} to {time(scale.now)}, {duration(scale.wide)}, {plural(starts, "step")} of planners,
        workers, landings and checks
      </p>
      <p class="quiet legend">
        {Object.entries({ ...JOB_NAMES, ...LEGEND }).map(([look, text]) => (
          <span key={look}>
            <i class={`span ${look}`} /> {text}
          </span>
        ))}
      </p>
      {isLarge && (
        <button type="button" aria-pressed={isNear} onClick={() => setNear(!isNear)}>
          The newest {MAX_LINKS} jobs alone, with names
        </button>
      )}
      <div class="timeline" tabIndex={0} role="group" aria-label="Lanes over time, scrolls sideways">
        <Ticks {...scale} />
        {lanes.map(({ kind, number, spans, bars }) => (
          <div class="lane" key={`${kind} ${number}`}>
            <span class="lane-name" title={WORDS[JOB_NAMES[kind]]}>
              {JOB_NAMES[kind]} {number}
            </span>
            <div class="track">
              {bars ? (
                <Bars kind={kind} count={spans.length} bars={bars} />
              ) : (
                spans.map((span, i) => (
                  <Job
                    key={span.job}
                    run={run}
                    word={word}
                    span={span}
                    next={spans[i + 1]?.from ?? scale.now}
                    scale={scale}
                    trackWide={wide - NAMES_WIDE}
                  />
                ))
              )}
            </div>
          </div>
        ))}
      </div>
    </section>
  );
}

type Scale = { readonly from: number; readonly now: number; readonly wide: number };
type Look = {
  readonly openedAt: number;
  readonly now: number;
  readonly isLarge: boolean;
  readonly isNear: boolean;
};
type Drawing = {
  readonly scale: Scale;
  /** `bars`: of a lane with too many jobs for links. */
  readonly lanes: readonly (LaneView & { readonly bars?: BarPaths })[];
};
const NO_LANES: Drawing = { scale: { from: 0, now: 0, wide: 1 }, lanes: [] };
type BarPaths = { readonly good: string; readonly again: string; readonly bad: string };

function drawingOf(lanes: readonly LaneView[], { openedAt, now, isLarge, isNear }: Look): Drawing {
  const starts = isLarge && isNear ? lanes.flatMap(({ spans }) => spans.map(({ from }) => from)) : [];
  const from = starts.sort((a, b) => b - a)[MAX_LINKS - 1] ?? openedAt;
  const scale: Scale = { from, now, wide: Math.max(1, now - from) };
  return {
    scale,
    lanes: lanes.map((lane) =>
      isLarge && !isNear
        ? { ...lane, bars: barsOf(lane.spans, scale) }
        : { ...lane, spans: lane.spans.filter((span) => span.from >= from) },
    ),
  };
}

const share = ({ from, wide }: Scale, at: number): number => Math.min(1, Math.max(0, (at - from) / wide));
const percent = (part: number): string => `${(part * 100).toFixed(3)}%`;

function Ticks(scale: Scale) {
  const step = stepOf(scale.wide);
  const ticks = Array.from({ length: Math.floor(scale.wide / step) + 1 }, (_, i) => i * step);
  return (
    <div class="ticks" aria-hidden="true">
      {ticks.map((ms) => (
        <span style={{ left: percent(ms / scale.wide) }}>{duration(ms)}</span>
      ))}
    </div>
  );
}

type JobProps = {
  readonly run: string;
  readonly word: RunWord;
  readonly span: SpanView;
  /** When the next job of its lane begins: until then there is room for its name. */
  readonly next: number;
  readonly scale: Scale;
  /** In pixels. */
  readonly trackWide: number;
};

const endClass = ({ isFailed, isRetried }: SpanView): keyof BarPaths =>
  isRetried ? "again" : isFailed ? "bad" : "good";

function Job({ run, word, span, next, scale, trackWide }: JobProps) {
  const { kind, tasks, number, from, to } = span;
  const [first] = tasks;
  const left = share(scale, from);
  const wide = Math.max(0.0001, share(scale, to ?? scale.now) - left);
  const name = line(spanName(span), 60);
  const all = tasks.length > 1 ? ` (${tasks.map((task) => line(task.name, 60)).join(", ")})` : "";
  const text = `${JOB_NAMES[kind]}: ${name}${all}, ${kind === "work" ? "attempt" : "turn"} ${number}, ${duration((to ?? scale.now) - from)}, ${spanEnd(span, word)}`;
  return (
    <a
      class={`span ${kind} ${to === undefined ? "running" : endClass(span)}`}
      href={addressOf({ run, tab: first ? "timeline" : "landing", ...(first && { task: first.task }) })}
      style={{ left: percent(left), width: percent(wide) }}
      title={text}
      aria-label={text}
    >
      <Name name={name} bar={wide * trackWide} free={(share(scale, next) - left - wide) * trackWide} />
    </a>
  );
}

/** Inside its bar, or behind it, if there is room; else as much of it as is more than a few letters. */
function Name({ name, bar, free }: { readonly name: string; readonly bar: number; readonly free: number }) {
  const needed = name.length * LETTER_WIDE + 12;
  if (needed > bar && needed <= free) return <span class="behind">{name}</span>;
  return needed <= bar || bar > 5 * LETTER_WIDE ? <span class="within">{name}</span> : null;
}

const LETTER_WIDE = 7;
/** As in the style. */
const NAMES_WIDE = 112;

function useWide() {
  const box = useRef<HTMLElement>(null);
  const [wide, setWide] = useState(1_200);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWide(Math.max(592, element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { box, wide };
}

const BARS = 2_000;

function barsOf(spans: readonly SpanView[], scale: Scale): BarPaths {
  const paths = { good: "", again: "", bad: "" };
  for (const span of spans) {
    const left = Math.round(share(scale, span.from) * BARS);
    const wide = Math.max(1, Math.round(share(scale, span.to ?? scale.now) * BARS) - left);
    paths[endClass(span)] += `M${left},0h${wide}v10H${left}z`;
  }
  return paths;
}

type BarsProps = { readonly kind: string; readonly count: number; readonly bars: BarPaths };

const Bars = ({ kind, count, bars: { good, again, bad } }: BarsProps) => (
  <svg
    class="bars"
    viewBox={`0 0 ${BARS} 10`}
    preserveAspectRatio="none"
    role="img"
    aria-label={plural(count, "job")}
  >
    <path class={kind} d={good} />
    <path class="again" d={again} />
    <path class="bad" d={bad} />
  </svg>
);

const DAY_MS = 86_400_000;

/** About six ticks, at round times. */
function stepOf(ms: number): number {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600].map(
    (s) => s * 1_000,
  );
  return steps.find((step) => ms / step <= 8) ?? Math.ceil(ms / 8 / DAY_MS) * DAY_MS;
}
