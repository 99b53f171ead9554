/** Tests which seeds `npm run simulate` accepts. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));
const simulate = (...args: string[]) =>
  spawnSync(process.execPath, [MAIN, ...args], { encoding: "utf8", timeout: 60_000 });

test("refuses seeds that a number cannot count", () => {
  const { status, stderr, stdout } = simulate("--from", `${Number.MAX_SAFE_INTEGER}`, "--seeds", "2");
  assert.equal(status, 2);
  assert.match(stderr, /^the last seed, .* must be at most 9007199254740991/);
  assert.equal(stdout, "");
});

test("tells the story of the last seed that there is", () => {
  const { status, stdout } = simulate("--from", `${Number.MAX_SAFE_INTEGER}`, "--seeds", "1", "--json");
  assert.equal(status, 0);
  assert.equal(JSON.parse(stdout).seeds, 1);
});
