/** Stores the best ratios of the benches, and reports the ratios of a new run that are worse. */
import { readFileSync, writeFileSync } from "node:fs";
import { type BenchReport, holds, type Limit, rounded } from "./measure.ts";

/**
 * By bench and claim. A better value replaces the stored one; a worse one is written by hand, with its reason in the
 * commit.
 */
export type Kept = Readonly<
  Record<string, Readonly<Record<string, { readonly best: number; readonly on: string }>>>
>;

/** The largest factor above the best value: machines differ, and short forms measure less often. */
const MAX_SLIP = 1.4;
const FILE = new URL("./results.json", import.meta.url);

export const readKept = (): Kept => JSON.parse(readFileSync(FILE, "utf8")) as Kept;

export function writeKept(kept: Kept): void {
  writeFileSync(FILE, `${JSON.stringify(kept, undefined, 2)}\n`);
}

/** Descriptions of values that are too far from the best one, and, unless `onlySlips`, of limits that do not hold. */
export function slipsOf(
  name: string,
  { limits }: BenchReport,
  { kept, onlySlips = false }: { readonly kept: Kept; readonly onlySlips?: boolean },
): readonly string[] {
  return limits.flatMap((limit) => {
    const { claim, measured } = limit;
    const of = kept[name];
    const best = of?.[claim]?.best;
    if (measured === undefined) return [`${name}: ${claim}: could not be measured`];
    if (!onlySlips && !holds(limit))
      return [`${name}: ${claim}: ${rounded(measured)}, the limit is ${limit.max}`];
    if (best === undefined)
      // A renamed claim would lose its stored best value unnoticed.
      return of === undefined ? [] : [`${name}: ${claim}: no value is kept, npm run bench -- --keep ${name}`];
    if (measured <= best * MAX_SLIP) return [];
    return [`${name}: ${claim}: ${rounded(measured)}, more than ${MAX_SLIP} × the best, ${rounded(best)}`];
  });
}

/** Other load only adds to a ratio, so the lowest of several measurements counts. */
export function lower(one: BenchReport, other: BenchReport): BenchReport {
  const least = ({ claim, measured, max }: Limit): Limit => {
    const again = other.limits.find((limit) => limit.claim === claim)?.measured;
    const both = [measured, again].filter((value) => value !== undefined);
    return { claim, measured: both.length === 0 ? undefined : Math.min(...both), max };
  };
  return { ...one, limits: one.limits.map(least) };
}

/** The stored values with the better ones of this run, and its date. */
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
