/** Tests that callers who look at a checkout at the same time share the next look. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Look } from "../ports/checkout.ts";
import { sharedLooks } from "./checkouts.ts";

const NEVER = new AbortController().signal;

test("those who ask while one looks share the next look, and nobody gets one that began before", async () => {
  const begun: ((look: Look) => void)[] = [];
  const checkout = sharedLooks({ look: () => new Promise((resolve) => begun.push(resolve)) });
  const first = checkout.look(NEVER);
  await new Promise(setImmediate);
  const others = [checkout.look(NEVER), checkout.look(NEVER), checkout.look(NEVER)];
  await new Promise(setImmediate);
  assert.equal(begun.length, 1);
  begun[0]!(new Map([["HEAD", "1"]]));
  assert.deepEqual(await first, new Map([["HEAD", "1"]]));
  await new Promise(setImmediate);
  assert.equal(begun.length, 2);
  const late = checkout.look(NEVER);
  begun[1]!(new Map([["HEAD", "2"]]));
  for (const look of others) assert.deepEqual(await look, new Map([["HEAD", "2"]]));
  await new Promise(setImmediate);
  begun[2]!(new Map([["HEAD", "3"]]));
  assert.deepEqual(await late, new Map([["HEAD", "3"]]));
});
