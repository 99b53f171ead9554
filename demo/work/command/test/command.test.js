import assert from "node:assert/strict";
import { test } from "node:test";
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const almanac = fileURLToPath(new URL("../bin/almanac.js", import.meta.url));
const run = (...args) => spawnSync(process.execPath, [almanac, ...args], { encoding: "utf8" });

test("prints the page of a day", () => {
  const { status, stdout } = run("2026-11-13");
  assert.equal(status, 0);
  assert.match(stdout, /^Friday, 13th of November MMXXVI\n/);
});

test("refuses a day that does not exist, in words", () => {
  const { status, stderr } = run("2026-02-30");
  assert.equal(status, 2);
  assert.equal(stderr, "almanac: there is no such day: 2026-02-30\n");
});

// Outside of the project, where there is one: what this test finds depends on who was there before.
const cache = process.env.ALMANAC_CACHE;

test("starts from a warm cache", () => {
  const isWarm = cache === undefined || existsSync(join(cache, "started"));
  if (cache !== undefined) writeFileSync(join(cache, "started"), "");
  assert.ok(isWarm, "nobody has started it here before");
});
