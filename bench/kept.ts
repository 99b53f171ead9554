/** Keeps the best ratios that the benches have shown, and names those of a new run that have slipped. */
import { readFileSync, writeFileSync } from "node:fs";
import { type BenchReport, holds, type Limit, rounded } from "./measure.ts";

/** By bench and claim. A better value replaces the kept one; a worse one is written by hand, its reason in the commit. */
export type Kept = Readonly<
  Record<string, Readonly<Record<string, { readonly best: number; readonly on: string }>>>
>;

/** What a value may be of the best one: machines differ, and short forms measure less often. */
const MAX_SLIP = 1.4;
const FILE = new URL("./results.json", import.meta.url);

export const readKept = (): Kept => JSON.parse(readFileSync(FILE, "utf8")) as Kept;

export function writeKept(kept: Kept): void {
  writeFileSync(FILE, `${JSON.stringify(kept, undefined, 2)}\n`);
}

/** In words: each limit that does not hold, and each value that is too far from the best that is kept. */
export function slipsOf(name: string, { limits }: BenchReport, kept: Kept): readonly string[] {
  return limits.flatMap((limit) => {
    const { claim, measured } = limit;
    const of = kept[name];
    const best = of?.[claim]?.best;
    if (measured === undefined) return [`${name}: ${claim}: could not be measured`];
    if (!holds(limit)) return [`${name}: ${claim}: ${rounded(measured)}, the limit is ${limit.max}`];
    if (best === undefined)
      // Under a new name a claim would have lost its memory unseen.
      return of === undefined ? [] : [`${name}: ${claim}: no value is kept, npm run bench -- --keep ${name}`];
    if (measured <= best * MAX_SLIP) return [];
    return [`${name}: ${claim}: ${rounded(measured)}, more than ${MAX_SLIP} × the best, ${rounded(best)}`];
  });
}

/** Other load only adds to a ratio, so the lower value of two measurements counts. */
export function lower(one: BenchReport, other: BenchReport): BenchReport {
  const least = ({ claim, measured, max }: Limit): Limit => {
    const again = other.limits.find((limit) => limit.claim === claim)?.measured;
    const both = [measured, again].filter((value) => value !== undefined);
    return { claim, measured: both.length === 0 ? undefined : Math.min(...both), max };
  };
  return { ...one, limits: one.limits.map(least) };
}

/** With what is better than before, and its date. */
export function withBetter(
  kept: Kept,
  reports: Readonly<Record<string, BenchReport>>,
  on: string,
): { readonly kept: Kept; readonly better: number } {
  const now: Record<string, Record<string, { best: number; on: string }>> = structuredClone(kept);
  let better = 0;
  for (const [name, { limits }] of Object.entries(reports)) {
    now[name] ??= {};
    for (const { claim, measured } of limits) {
      const before = now[name][claim]?.best ?? Number.POSITIVE_INFINITY;
      if (measured === undefined || measured >= before) continue;
      now[name][claim] = { best: Number(measured.toPrecision(3)), on };
      better += 1;
    }
  }
  return { kept: now, better };
}
