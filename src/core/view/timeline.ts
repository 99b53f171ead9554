/** When did each job run, and who ran beside whom? Spans in lanes: planners, workers, gates. */
import { type RunState, wallTime } from "../log/state.ts";
import type { JobKind } from "../rules/policy.ts";
import type { JobSpan } from "./story.ts";
import type { Seen } from "./view.ts";
import { type Named, named } from "./view-reasons.ts";

/** By the machine's clock; of a worker the number is the attempt, of everything else the turn. */
export type SpanView = Omit<JobSpan, "tasks"> & { readonly tasks: readonly Named[] };
export type LaneView = { readonly kind: JobKind; readonly spans: readonly SpanView[] };

const KINDS: readonly JobKind[] = ["plan", "work", "land", "check"];

/** As few lanes as there were jobs of a kind at once. */
export function timelineOf({ state, story }: Seen): readonly LaneView[] {
  const byKind = Map.groupBy(story.spans, ({ kind }) => kind);
  return KINDS.flatMap((kind) => {
    const lanes: { end: number; spans: SpanView[] }[] = [];
    for (const span of byKind.get(kind) ?? []) {
      const free = lanes.find(({ end }) => end <= span.from);
      const lane = free ?? { end: 0, spans: [] };
      if (!free) lanes.push(lane);
      lane.end = span.to ?? Number.POSITIVE_INFINITY;
      lane.spans.push(spanView(state, span));
    }
    return lanes.map(({ spans }) => ({ kind, spans }));
  });
}

const spanView = (state: RunState, { from, to, tasks, ...span }: JobSpan): SpanView => ({
  ...span,
  tasks: tasks.map((task) => named(state, task)),
  from: wallTime(state, from),
  ...(to !== undefined && { to: wallTime(state, to) }),
});
