import assert from "node:assert/strict";
import { test } from "node:test";
import { zodiac } from "../src/zodiac.js";

test("changes within a month, and over the end of the year", () => {
  assert.equal(zodiac({ month: 11, day: 13 }), "Scorpio");
  assert.equal(zodiac({ month: 11, day: 22 }), "Sagittarius");
  assert.equal(zodiac({ month: 12, day: 31 }), "Capricorn");
  assert.equal(zodiac({ month: 1, day: 1 }), "Capricorn");
});
