/** Shows lanes of planners, workers, gates and checks over time. It zooms, and leaves out waits. */
import { useRef, useState } from "preact/hooks";
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
import { type TimeScale, ticksOf, timeScale, waitsOf } from "../../core/view/timeline-scale.ts";
import { WORDS } from "../../core/view/words.ts";
import { useSize } from "./camera.ts";
import { duration, line, plural, time } from "./format.ts";
import { STEP, useGestures } from "./gestures.ts";
import { useLater } from "./later.ts";
import { addressOf, type PageParts } from "./parts.ts";
import { ZoomBar } from "./tools.tsx";

/** More jobs are drawn as bars without links: so many links would block the page, and be too small to hit. */
const MAX_LINKS = 400;
/** No job is shorter. */
const MIN_LOOK_MS = 200;

/** The visible time range, by the machine's clock; undefined: all of it. */
type Look = { readonly from: number; readonly to: number } | undefined;

export function Timeline({ run, seen, view, word, live }: PageParts) {
  const [look, setLook] = useState<Look>();
  const [isShort, setShort] = useState(true);
  const starts = seen.story.spans.all.length;
  const now = endOf(view, live.look);
  const { openedAt } = view.times;
  const lanes = useLater(() => timelineOf(seen), [seen, view.events], undefined);
  const drawn = useLater(
    () => (lanes ? drawingOf(seen, lanes, { all: { from: openedAt, to: now }, look, isShort }) : undefined),
    [lanes, now, look, isShort],
    undefined,
  );
  const tracks = useRef<HTMLDivElement>(null);
  const { width: wide } = useSize(tracks);
  const names = wide < 500 ? NARROW_NAMES : NAMES;
  const trackWide = wide - names;

  /** As positions on the scale. */
  const lookAt = (from: number, to: number) => {
    if (!drawn) return;
    const { scale } = drawn;
    const length = Math.min(scale.wide, Math.max(MIN_LOOK_MS, to - from));
    const start = Math.max(0, Math.min(scale.wide - length, from));
    setLook(
      length >= scale.wide ? undefined : { from: scale.timeAt(start), to: scale.timeAt(start + length) },
    );
  };
  const moves = {
    pan: (dx: number) => {
      if (!drawn) return;
      const by = (-dx / trackWide) * (drawn.to - drawn.from);
      lookAt(drawn.from + by, drawn.to + by);
    },
    zoom: (factor: number, atX: number) => {
      if (!drawn) return;
      const at = drawn.from + (Math.max(0, atX - names) / trackWide) * (drawn.to - drawn.from);
      lookAt(at - (at - drawn.from) / factor, at + (drawn.to - at) / factor);
    },
    fit: () => setLook(undefined),
  };
  useGestures(tracks, moves, "scrolls");
  const step = (factor: number) => moves.zoom(factor, names + trackWide / 2);
  const hasWaits = drawn !== undefined && (drawn.scale.waits.length > 0 || !isShort);
  return (
    <section aria-label="Timeline">
      <ZoomBar out={() => step(1 / STEP)} in={() => step(STEP)} fit={moves.fit}>
        <p class="quiet grow" hidden={!drawn}>
          {drawn && (
            <>
              {time(drawn.scale.timeAt(drawn.from))} to {time(drawn.scale.timeAt(drawn.to))},{" "}
              {duration(drawn.scale.timeAt(drawn.to) - drawn.scale.timeAt(drawn.from))},{" "}
              {plural(drawn.jobs, "step")} of planners, workers, landings and checks
            </>
          )}
        </p>
        {hasWaits && (
          <button type="button" aria-pressed={isShort} onClick={() => setShort(!isShort)}>
            Skip waits
          </button>
        )}
      </ZoomBar>
      <p class="quiet legend">
        {Object.entries({ ...JOB_NAMES, ...LEGEND }).map(([kind, text]) => (
          <span key={kind}>
            <i class={`span ${kind}`} /> {text}
          </span>
        ))}
      </p>
      {starts > MAX_LINKS && drawn?.isFar && (
        <p class="quiet">Zoom in to see the names of single jobs, and to open them.</p>
      )}
      <div
        class="timeline"
        ref={tracks}
        tabIndex={0}
        role="group"
        aria-label="Lanes over time: drag or press the arrows to move, + and − to zoom, 0 to see all"
      >
        {drawn && <Ticks {...drawn} openedAt={openedAt} trackWide={trackWide} />}
        {drawn?.lanes.map(({ kind, number, spans, bars }) => (
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
                    next={spans[i + 1]?.from ?? now}
                    now={now}
                    drawn={drawn}
                    trackWide={trackWide}
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

type Drawing = {
  readonly scale: TimeScale;
  /** Positions on the scale at the left and the right end. */
  readonly from: number;
  readonly to: number;
  /** The number of jobs in sight. */
  readonly jobs: number;
  /** There are too many jobs for links. */
  readonly isFar: boolean;
  readonly lanes: readonly (LaneView & { readonly bars?: BarPaths })[];
};
type BarPaths = { readonly good: string; readonly again: string; readonly bad: string };
type How = {
  readonly all: { readonly from: number; readonly to: number };
  readonly look: Look;
  readonly isShort: boolean;
};

function drawingOf(
  seen: PageParts["seen"],
  lanes: readonly LaneView[],
  { all, look, isShort }: How,
): Drawing {
  const scale = timeScale(all, isShort ? waitsOf(seen, lanes, all) : []);
  const [from, to] = look ? [scale.placeOf(look.from), scale.placeOf(look.to)] : [0, scale.wide];
  const window = { scale, from, to: Math.max(to, from + 1) };
  const [start, end] = look ? [look.from, look.to] : [all.from, all.to];
  const inSight = lanes.map((lane) => ({
    ...lane,
    spans: lane.spans.filter((span) => span.from <= end && (span.to ?? all.to) >= start),
  }));
  const jobs = inSight.reduce((sum, { spans }) => sum + spans.length, 0);
  const isFar = jobs > MAX_LINKS;
  return {
    ...window,
    jobs,
    isFar,
    lanes: inSight.map((lane) =>
      isFar ? { ...lane, bars: barsOf(lane.spans, (at) => shareOf(window, at), all.to) } : lane,
    ),
  };
}

/** From 0 at the left end to 1 at the right end. */
const shareOf = ({ scale, from, to }: Pick<Drawing, "scale" | "from" | "to">, at: number): number =>
  Math.min(1, Math.max(0, (scale.placeOf(at) - from) / (to - from)));
const percent = (part: number): string => `${(part * 100).toFixed(3)}%`;

const MAX_LABELS = 8;
/** The width of "12 min 30 s", in px. */
const LABEL_WIDE = 84;

type TicksProps = Drawing & { readonly openedAt: number; readonly trackWide: number };

function Ticks({ openedAt, trackWide, ...drawn }: TicksProps) {
  const { scale, from, to } = drawn;
  const most = Math.max(1, Math.min(MAX_LABELS, Math.floor(trackWide / LABEL_WIDE)));
  const label = ((to - from) * LABEL_WIDE) / trackWide;
  const ticks = ticksOf(scale, { from, to, zero: openedAt, most, label });
  return (
    <div class="ticks" aria-hidden="true">
      {ticks.map((ms) => (
        <span style={{ left: percent(shareOf(drawn, openedAt + ms)) }}>{duration(ms)}</span>
      ))}
      {scale.waits
        .filter((wait) => wait.at < to && wait.at + wait.wide > from)
        .map((wait) => (
          <i
            class="wait"
            title={`${duration(wait.to - wait.from)} in which nothing was under way are left out`}
            style={{
              left: percent(shareOf(drawn, wait.from)),
              width: percent(shareOf(drawn, wait.to) - shareOf(drawn, wait.from)),
            }}
          />
        ))}
    </div>
  );
}

type JobProps = {
  readonly run: string;
  readonly word: RunWord;
  readonly span: SpanView;
  /** When the next job of its lane begins: the name may use the room until then. */
  readonly next: number;
  readonly now: number;
  readonly drawn: Drawing;
  /** In px. */
  readonly trackWide: number;
};

const endClass = ({ isFailed, isRetried }: SpanView): keyof BarPaths =>
  isRetried ? "again" : isFailed ? "bad" : "good";

function Job({ run, word, span, next, now, drawn, trackWide }: JobProps) {
  const { kind, tasks, number, from, to } = span;
  const [first] = tasks;
  const left = shareOf(drawn, from);
  const wide = Math.max(0.0001, shareOf(drawn, to ?? now) - left);
  const name = line(spanName(span), 60);
  const all = tasks.length > 1 ? ` (${tasks.map((task) => line(task.name, 60)).join(", ")})` : "";
  const text = `${JOB_NAMES[kind]}: ${name}${all}, ${kind === "work" ? "attempt" : "turn"} ${number}, ${duration((to ?? now) - from)}, ${spanEnd(span, word)}`;
  return (
    <a
      class={`span ${kind} ${to === undefined ? "running" : endClass(span)}`}
      href={addressOf({ run, tab: first ? "timeline" : "landing", ...(first && { task: first.task }) })}
      style={{ left: percent(left), width: percent(wide) }}
      title={text}
      aria-label={text}
    >
      <Name name={name} bar={wide * trackWide} free={(shareOf(drawn, next) - left - wide) * trackWide} />
    </a>
  );
}

/** Inside its bar, or after it if there is room; else inside if more than a few letters fit. */
function Name({ name, bar, free }: { readonly name: string; readonly bar: number; readonly free: number }) {
  const needed = name.length * LETTER_WIDE + 12;
  if (needed > bar && needed <= free) return <span class="behind">{name}</span>;
  return needed <= bar || bar > 5 * LETTER_WIDE ? <span class="within">{name}</span> : null;
}

const LETTER_WIDE = 7;
/** As in the stylesheet. */
const NAMES = 112;
const NARROW_NAMES = 80;

const BARS = 2_000;

function barsOf(spans: readonly SpanView[], share: (at: number) => number, now: number): BarPaths {
  const paths = { good: "", again: "", bad: "" };
  for (const span of spans) {
    const left = Math.round(share(span.from) * BARS);
    const wide = Math.max(1, Math.round(share(span.to ?? now) * BARS) - left);
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
