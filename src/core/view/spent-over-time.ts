/** Adds up a run's tokens and money over time, with no more points than a chart needs. */
import type { Seen } from "./standing.ts";

/** What all jobs that ended within the first `ms` of the run had reported. */
type SpentPoint = { readonly ms: number; readonly tokens: number; readonly microdollars: number };

/** More points would not change how the line looks. */
const MAX_POINTS = 300;

export function spentOverTime({ state, story }: Seen): readonly SpentPoint[] {
  const ended = story.spans.all.filter(({ to }) => to !== undefined).sort((a, b) => a.to! - b.to!);
  const every = Math.ceil(ended.length / MAX_POINTS);
  const points: SpentPoint[] = [];
  let [tokens, microdollars] = [0, 0];
  for (const [i, span] of ended.entries()) {
    tokens += span.spent?.tokens ?? 0;
    microdollars += span.spent?.microdollars ?? 0;
    if (i % every === 0 || i === ended.length - 1)
      points.push({ ms: span.to! - state.openedAt, tokens, microdollars });
  }
  return points;
}
