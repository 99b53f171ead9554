/** Preloaded into a program: shifts its wall clock by as many ms as a file says. Steady clocks and timers go on. */
import { readFileSync } from "node:fs";

const file = process.env["SKEIN_CHAOS_CLOCK"] ?? "";
const real = Date.now;
/** The program asks for the time far more often than the file changes. */
const LOOK_MS = 5;
let lookedAt = Number.NEGATIVE_INFINITY;
let setMs = 0;

function now(): number {
  if (performance.now() - lookedAt > LOOK_MS) {
    lookedAt = performance.now();
    setMs = Number(readFileSync(file, "utf8")) || 0; // The file is empty while it is being written.
  }
  return real() + setMs;
}

globalThis.Date = new Proxy(Date, {
  construct: (target, given) => Reflect.construct(target, given.length === 0 ? [now()] : given),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
});
