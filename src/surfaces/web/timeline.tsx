/** Who worked when? Lanes of planners, workers, gates and checks over time. */
import type { JobKind } from "../../core/rules/policy.ts";
import { type LaneView, type SpanView, timelineOf } from "../../core/view/timeline.ts";
import { duration, line, time } from "./format.ts";
import { addressOf, type PageParts } from "./parts.ts";

const NAMES: Readonly<Record<JobKind, string>> = {
  plan: "planner",
  work: "worker",
  land: "landing",
  check: "check",
};
/** Thinner spans than this many parts of the whole are not drawn apart. */
const MAX_SPANS = 2_000;

export function Timeline({ run, seen, view, live }: PageParts) {
  const lanes = timelineOf(seen);
  const from = view.times.openedAt;
  const now = view.times.closedAt ?? (live.isLive && live.isDriven ? Date.now() : view.times.lastAt);
  const wide = Math.max(1, now - from);
  const share = (ms: number) => `${(Math.min(1, Math.max(0, ms / wide)) * 100).toFixed(3)}%`;
  const step = stepOf(wide);
  const ticks = Array.from({ length: Math.floor(wide / step) + 1 }, (_, i) => i * step);
  const number = numbered(lanes);
  return (
    <section aria-label="Timeline">
      <p class="quiet">
        {time(from)} to {time(now)}, {duration(wide)}
      </p>
      <div class="timeline">
        <div class="ticks" aria-hidden="true">
          {ticks.map((at) => (
            <span style={{ left: share(at) }}>{duration(at)}</span>
          ))}
        </div>
        {lanes.map(({ kind, spans }, i) => (
          <div class="lane">
            <span class="lane-name">
              {NAMES[kind]} {number[i]}
            </span>
            <div class="track">
              {spans.slice(-MAX_SPANS).map((span) => (
                <a
                  key={span.job}
                  class={`span ${kind} ${span.how === undefined ? "running" : ""} ${isBad(span) ? "bad" : ""}`}
                  href={addressOf({
                    run,
                    tab: span.tasks[0] ? "timeline" : "landing",
                    ...(span.tasks[0] && { task: span.tasks[0].task }),
                  })}
                  style={{ left: share(span.from - from), width: share((span.to ?? now) - span.from) }}
                  title={spanText(span, now)}
                  aria-label={spanText(span, now)}
                >
                  {span.tasks.length > 0
                    ? line(span.tasks.map(({ name }) => name).join(", "), 60)
                    : NAMES[kind]}
                </a>
              ))}
            </div>
          </div>
        ))}
      </div>
    </section>
  );
}

const isBad = ({ how }: SpanView) => how === "expired" || how === "dropped" || how === "aborted";

const spanText = ({ kind, tasks, number, from, to, how }: SpanView, now: number): string =>
  `${NAMES[kind]}: ${tasks.map(({ name }) => line(name, 60)).join(", ") || "the target"}, ` +
  `${kind === "work" ? "attempt" : "turn"} ${number}, ${duration((to ?? now) - from)}, ${how ?? "running"}`;

const numbered = (lanes: readonly LaneView[]): readonly number[] => {
  const seen = new Map<JobKind, number>();
  return lanes.map(({ kind }) => {
    const next = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, next);
    return next;
  });
};

/** About six ticks, at round times. */
function stepOf(ms: number): number {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600].map(
    (s) => s * 1_000,
  );
  return steps.find((step) => ms / step <= 8) ?? 86_400_000;
}
