/** Who worked when? Lanes of planners, workers, gates and checks over time. */
import { useState } from "preact/hooks";
import type { JobKind } from "../../core/rules/policy.ts";
import { endOf } from "../../core/view/elapsed.ts";
import { openJobLabel, type RunWord } from "../../core/view/labels.ts";
import { type LaneView, type SpanView, timelineOf } from "../../core/view/timeline.ts";
import { duration, line, plural, time } from "./format.ts";
import { addressOf, type PageParts } from "./parts.ts";

const NAMES: Readonly<Record<JobKind, string>> = {
  plan: "planner",
  work: "worker",
  land: "landing",
  check: "check",
};
/** More jobs are drawn as bars alone: so many links cannot be drawn without a halt, and none could be hit. */
const MAX_LINKS = 400;

export function Timeline({ run, seen, view, word, live }: PageParts) {
  const [isNear, setNear] = useState(false);
  const lanes = timelineOf(seen);
  const starts = seen.story.spans.length;
  const isLarge = starts > MAX_LINKS;
  const now = endOf(view, live.look);
  const all = lanes.flatMap(({ spans }) => spans.map(({ from }) => from));
  const from = isLarge && isNear ? all.sort((a, b) => b - a)[MAX_LINKS - 1]! : view.times.openedAt;
  const scale: Scale = { from, now, wide: Math.max(1, now - from) };
  const number = numbered(lanes);
  return (
    <section aria-label="Timeline">
      <p class="quiet">
        {time(from)} to {time(now)}, {duration(scale.wide)}, {plural(starts, "job")}; red: failed
      </p>
      {isLarge && (
        <button type="button" aria-pressed={isNear} onClick={() => setNear(!isNear)}>
          The newest {MAX_LINKS} jobs alone, with names
        </button>
      )}
      <div class="timeline" tabIndex={0} role="group" aria-label="Lanes over time, scrolls sideways">
        <Ticks {...scale} />
        {lanes.map(({ kind, spans }, i) => (
          <div class="lane" key={`${kind} ${number[i]}`}>
            <span class="lane-name">
              {NAMES[kind]} {number[i]}
            </span>
            <div class="track">
              {isLarge && !isNear ? (
                <Bars kind={kind} spans={spans} scale={scale} />
              ) : (
                spans
                  .filter((span) => span.from >= from)
                  .map((span) => <Job key={span.job} run={run} word={word} span={span} scale={scale} />)
              )}
            </div>
          </div>
        ))}
      </div>
    </section>
  );
}

type Scale = { readonly from: number; readonly now: number; readonly wide: number };
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
  readonly scale: Scale;
};

function Job({ run, word, span, scale }: JobProps) {
  const { kind, tasks, from, to, isFailed } = span;
  const [first] = tasks;
  const text = spanText(span, scale.now, word);
  const left = share(scale, from);
  return (
    <a
      class={`span ${kind} ${to === undefined ? "running" : ""} ${isFailed ? "bad" : ""}`}
      href={addressOf({ run, tab: first ? "timeline" : "landing", ...(first && { task: first.task }) })}
      style={{ left: percent(left), width: percent(share(scale, to ?? scale.now) - left) }}
      title={text}
      aria-label={text}
    >
      {first ? line(tasks.map(({ name }) => name).join(", "), 60) : NAMES[kind]}
    </a>
  );
}

const BARS = 2_000;

function Bars({ kind, spans, scale }: Pick<LaneView, "kind" | "spans"> & { readonly scale: Scale }) {
  const path = (isFailed: boolean) =>
    spans
      .filter((span) => (span.isFailed === true) === isFailed)
      .map(({ from, to = scale.now }) => {
        const left = Math.round(share(scale, from) * BARS);
        return `M${left},0h${Math.max(1, Math.round(share(scale, to) * BARS) - left)}v10H${left}z`;
      })
      .join("");
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${BARS} 10`}
      preserveAspectRatio="none"
      role="img"
      aria-label={plural(spans.length, "job")}
    >
      <path class={kind} d={path(false)} />
      <path class="bad" d={path(true)} />
    </svg>
  );
}

const spanText = (
  { kind, tasks, number, from, to, how, isFailed }: SpanView,
  now: number,
  run: RunWord,
): string =>
  `${NAMES[kind]}: ${tasks.map(({ name }) => line(name, 60)).join(", ") || "the target"}, ` +
  `${kind === "work" ? "attempt" : "turn"} ${number}, ${duration((to ?? now) - from)}, ` +
  (isFailed && how === "answered" ? "failed" : (how ?? openJobLabel(run)));

const numbered = (lanes: readonly LaneView[]): readonly number[] => {
  const seen = new Map<JobKind, number>();
  return lanes.map(({ kind }) => {
    const next = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, next);
    return next;
  });
};

const DAY_MS = 86_400_000;

/** About six ticks, at round times. */
function stepOf(ms: number): number {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600].map(
    (s) => s * 1_000,
  );
  return steps.find((step) => ms / step <= 8) ?? Math.ceil(ms / 8 / DAY_MS) * DAY_MS;
}
