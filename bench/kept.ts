/** Keeps the best ratios that the benches have shown, and names those of a new run that have slipped. */
import { readFileSync, writeFileSync } from "node:fs";
import { type BenchReport, holds, type Limit, rounded } from "./measure.ts";

/** By bench and claim. A better value replaces the kept one; a worse one is written by hand, its reason in the commit. */
type Kept = Readonly<
  Record<string, Readonly<Record<string, { readonly best: number; readonly on: string }>>>
>;

/** What a value may be of the best one: machines differ, and short forms measure less often. */
const MAX_SLIP = 1.4;
const FILE = new URL("./results.json", import.meta.url);

/** In words: each limit that does not hold, and each value that is too far from the best that is kept. */
export function slipsOf(name: string, { limits }: BenchReport, kept = read()): readonly string[] {
  return limits.flatMap((limit) => {
    const best = kept[name]?.[limit.claim]?.best;
    if (limit.measured === undefined) return [`${name}: ${limit.claim}: could not be measured`];
    if (!holds(limit))
      return [`${name}: ${limit.claim}: ${rounded(limit.measured)}, the limit is ${limit.max}`];
    if (best === undefined || limit.measured <= best * MAX_SLIP) return [];
    return [`${name}: ${limit.claim}: ${rounded(limit.measured)}, ${rounded(best)} before`];
  });
}

/** Other load only adds to a ratio, so the lower value of two measurements counts. */
export function lower(one: BenchReport, other: BenchReport): BenchReport {
  const least = ({ claim, measured = Number.POSITIVE_INFINITY, max }: Limit): Limit => {
    const again = other.limits.find((limit) => limit.claim === claim)?.measured ?? Number.POSITIVE_INFINITY;
    return { claim, measured: Math.min(measured, again), max };
  };
  return { ...one, limits: one.limits.map(least) };
}

/** Writes what is better than before, with its date; returns how many values that were. */
export function keep(reports: Readonly<Record<string, BenchReport>>, on: string): number {
  const kept: Record<string, Record<string, { best: number; on: string }>> = structuredClone(read());
  let better = 0;
  for (const [name, { limits }] of Object.entries(reports)) {
    kept[name] ??= {};
    for (const { claim, measured } of limits) {
      const before = kept[name][claim]?.best ?? Number.POSITIVE_INFINITY;
      if (measured === undefined || measured >= before) continue;
      kept[name][claim] = { best: Number(measured.toPrecision(3)), on };
      better += 1;
    }
  }
  writeFileSync(FILE, `${JSON.stringify(kept, undefined, 2)}\n`);
  return better;
}

function read(): Kept {
  return JSON.parse(readFileSync(FILE, "utf8")) as Kept;
}
