/** Loaded before a program: its clock shows as much more, or less, as a file says. Steady clocks and timers go on. */
import { readFileSync } from "node:fs";

const file = process.env["SKEIN_CHAOS_CLOCK"] ?? "";
const real = Date.now;
/** It is asked for the time far more often than anybody sets it. */
const LOOK_MS = 5;
let lookedAt = Number.NEGATIVE_INFINITY;
let setMs = 0;

function now(): number {
  if (performance.now() - lookedAt > LOOK_MS) {
    lookedAt = performance.now();
    setMs = Number(readFileSync(file, "utf8")) || 0; // Empty while it is being written.
  }
  return real() + setMs;
}

globalThis.Date = new Proxy(Date, {
  construct: (target, given) => Reflect.construct(target, given.length === 0 ? [now()] : given),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
});
