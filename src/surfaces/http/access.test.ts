/** Tests which devices stay signed in when there are too many. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Device, Devices } from "../../ports/devices.ts";
import { Access } from "./access.ts";

const [FIREFOX, CHROME, CURL] = ["Firefox/130.0 (X11; Linux)", "Chrome/120 (Macintosh)", "curl/8"] as const;

/** A store of devices in memory. */
function makeStore(): Devices {
  let kept: readonly Device[] = [];
  const write = (devices: readonly Device[]) => {
    kept = devices;
  };
  return { read: () => kept, write };
}

it("replaces the oldest of the same kind once there are too many, and nobody else", () => {
  const store = makeStore();
  const access = new Access(store);
  let ended = 0;
  access.revocations.addEventListener("revoked", () => {
    ended += 1;
  });
  let now = 0;
  const admit = (name: string) => access.admit(access.link, name, ++now)!;
  const phone = admit(CHROME);
  const [first, second] = [admit(FIREFOX), admit(FIREFOX)];
  now += 1_000_000;
  access.use(access.deviceOf(first)!, now); // The older one of the two, but used more recently.
  const others = Array.from({ length: 47 }, () => admit(CURL));
  const isIn = (secret: string) => access.deviceOf(secret) !== undefined;
  assert.ok([phone, first, second, ...others].every(isIn));

  const third = admit(FIREFOX);
  assert.deepEqual([phone, first, second, third].map(isIn), [true, true, false, true]);
  for (let more = 0; more < 200; more += 1) admit(CURL);
  assert.deepEqual([phone, first, third].map(isIn), [true, true, true]);
  assert.deepEqual(others.filter(isIn), []);
  admit("Safari/605 (iPhone)"); // The first of its kind: a device of the most frequent kind makes room for it.
  assert.deepEqual([phone, first, third].map(isIn), [true, true, true]);
  assert.equal(store.read().length, 50);
  assert.ok(ended > 0, "streams of a device that went look again whether they may go on");
});

it("makes another link of each that was used, and takes none twice", () => {
  const store = makeStore();
  let used = 0;
  const access = new Access(store, () => {
    used += 1;
  });
  const { link } = access;
  assert.equal(access.admit("", "x", 0), undefined);
  assert.equal(access.admit(`${link}x`, "x", 0), undefined);
  const secret = access.admit(link, "x", 0)!;
  assert.equal(access.admit(link, "x", 0), undefined);
  assert.notEqual(access.link, link);
  assert.deepEqual([used, store.read().length], [1, 1]);
  assert.equal(access.deviceOf(link), undefined);
  assert.equal(access.deviceOf(access.link), undefined);
  assert.equal(access.deviceOf(secret)?.id, store.read()[0]!.id);
});
