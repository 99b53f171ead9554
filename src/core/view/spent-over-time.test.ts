/** Tests the points of the chart of a run's cost over time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyState } from "../log/state.ts";
import { type JobSpan, noSpans } from "./job-spans.ts";
import { spentOverTime } from "./spent-over-time.ts";
import { emptyStory } from "./story.ts";

const spans = (count: number): readonly JobSpan[] =>
  Array.from({ length: count }, (_, i) => ({
    job: `work:t.1#${i}` as JobSpan["job"],
    kind: "work",
    ...{ tasks: [], members: [], number: i, on: 0, from: 0, prepareMs: 0 },
    to: 1_000 - i, // The job that started last ends first.
    spent: { tokens: 2, microdollars: 3 },
  }));

const storyOf = (all: readonly JobSpan[]) => ({ ...emptyStory(), spans: { ...noSpans(), all } });

test("adds up what jobs reported in the order in which they ended, and leaves out those that run", () => {
  const running = { ...spans(1)[0]!, to: undefined } as unknown as JobSpan;
  const seen = { state: emptyState(), story: storyOf([...spans(2), running]) };
  assert.deepEqual(spentOverTime(seen), [
    { ms: 999, tokens: 2, microdollars: 3 },
    { ms: 1_000, tokens: 4, microdollars: 6 },
  ]);
});

test("has few points of many jobs, the last with all of it", () => {
  const points = spentOverTime({ state: emptyState(), story: storyOf(spans(1_000)) });
  assert.ok(points.length <= 301, `${points.length}`);
  assert.deepEqual(points.at(-1), { ms: 1_000, tokens: 2_000, microdollars: 3_000 });
});
