/** Tests which waits are left out of a timeline, and that times and places convert into each other. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { LaneView } from "./timeline.ts";
import { ticksOf, timeScale, waitsOf } from "./timeline-scale.ts";
import { nothingSeen } from "./view.ts";

const HOUR = 3_600_000;
const lane = (...spans: readonly (readonly [number, number])[]) =>
  ({ kind: "work", number: 1, spans: spans.map(([from, to]) => ({ from, to })) }) as unknown as LaneView;

test("a wait of hours between two jobs is left out, a short pause is not", () => {
  const seen = nothingSeen();
  const all = { from: 0, to: 6 * HOUR };
  const lanes = [lane([0, HOUR], [HOUR + 1_000, HOUR * 1.5]), lane([HOUR * 0.5, HOUR], [5 * HOUR, 6 * HOUR])];
  assert.deepEqual(waitsOf(seen, lanes, all), [{ from: HOUR * 1.5, to: 5 * HOUR }]);
});

test("a time in which no process drove the run is a wait, although a job that it interrupted was open", () => {
  const seen = nothingSeen();
  const story = { ...seen.story, stops: [{ from: HOUR, to: 4 * HOUR }] };
  const { kind, number, spans } = lane([0, 5 * HOUR]);
  const interrupted = {
    kind,
    number,
    spans: spans.map((span) => ({ ...span, how: "interrupted" as const })),
  };
  const all = { from: 0, to: 5 * HOUR };
  assert.deepEqual(waitsOf({ ...seen, story }, [interrupted], all), [{ from: HOUR, to: 4 * HOUR }]);
  assert.deepEqual(
    waitsOf({ ...seen, story }, [{ kind, number, spans }], all),
    [],
    "during a pause a job that had begun goes on",
  );
});

test("places grow with times, and lead back to them", () => {
  const scale = timeScale({ from: 1_000, to: 6 * HOUR }, [{ from: HOUR, to: 5 * HOUR }]);
  assert.ok(scale.wide < 2.2 * HOUR, String(scale.wide));
  let before = -1;
  for (const time of [1_000, 0.5 * HOUR, HOUR, 3 * HOUR, 5 * HOUR, 5.5 * HOUR, 6 * HOUR]) {
    const place = scale.placeOf(time);
    assert.ok(place > before, `${time}: ${place} after ${before}`);
    before = place;
    assert.ok(Math.abs(scale.timeAt(place) - time) < 1, `${time}: ${scale.timeAt(place)}`);
  }
  assert.equal(before, scale.wide);
});

test("ticks are round times, at most as many as have room, none in a wait, and none on another's label", () => {
  const all = { from: 1_000, to: 1_000 + 6 * HOUR };
  const wait = { from: 1_000 + 1.52 * HOUR, to: 1_000 + 4.98 * HOUR };
  for (const most of [1, 2, 4, 8]) {
    const scale = timeScale(all, [wait]);
    const ticks = ticksOf(scale, { from: 0, to: scale.wide, zero: all.from, most });
    assert.ok(ticks.length >= 1 && ticks.length <= most + 1, `${most}: ${ticks}`);
    assert.ok(ticks.every((ms) => ms % 60_000 === 0 && !(ms > 1.52 * HOUR && ms < 4.98 * HOUR)));
    const places = ticks.map((ms) => scale.placeOf(all.from + ms));
    for (const [i, place] of places.entries())
      assert.ok(i === 0 || place - places[i - 1]! >= scale.wide / most, `${most}: ${ticks}`);
  }
});
