/** Tests when a machine without a heartbeat counts as dead: never because of an outage. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Hearing } from "./hearing.ts";

const seconds = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => (from + i) * 1_000);

test("machines are judged once Postgres has been there for three of their heartbeats", () => {
  const hearing = new Hearing();
  const sure = seconds(0, 10).filter((now) => hearing.isSureAt(now, true));
  assert.deepEqual(sure, seconds(6, 10));
});

test("after an outage every machine can speak first", () => {
  const hearing = new Hearing();
  for (const now of seconds(0, 10)) hearing.isSureAt(now, true);
  for (const now of seconds(10, 40)) assert.equal(hearing.isSureAt(now, false), false);
  const sure = seconds(40, 50).filter((now) => hearing.isSureAt(now, true));
  assert.deepEqual(sure, seconds(46, 50));
});

test("one look that failed is no outage", () => {
  const hearing = new Hearing();
  for (const now of seconds(0, 10)) hearing.isSureAt(now, true);
  assert.equal(hearing.isSureAt(10_000, false), false);
  assert.equal(hearing.isSureAt(11_000, true), true);
});

test("a coordinator that was stopped for a while listens first", () => {
  const hearing = new Hearing();
  for (const now of seconds(0, 10)) hearing.isSureAt(now, true);
  assert.equal(hearing.isSureAt(60_000, true), false);
  assert.equal(hearing.isSureAt(66_000, true), false, "it was not heard of in between");
});
