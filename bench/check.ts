/** Runs the short forms of benches, prints each ratio with its limit and its best, and reports those that are worse. */
import { type Kept, lower, slipsOf } from "./kept.ts";
import { type Bench, type Limit, rounded } from "./measure.ts";

/** Returns false if a ratio was worse twice in a row. */
export async function checkBenches(
  benches: readonly Bench[],
  kept: Kept,
  print: (line: string) => void,
): Promise<boolean> {
  let holdsAll = true;
  for (const bench of benches) {
    let report = await bench.run("short");
    if (slipsOf(bench.name, report, kept).length > 0) report = lower(report, await bench.run("short"));
    const slips = slipsOf(bench.name, report, kept);
    if (slips.length > 0) holdsAll = false;
    for (const limit of report.limits) print(lineOf(bench.name, limit, kept));
    if (kept[bench.name] === undefined) print(`${bench.name}: no best values are kept, only limits count`);
    for (const slip of slips) print(`slipped  ${slip}`);
  }
  print(holdsAll ? "no bench has slipped" : "slipped: `npm run bench -- <name>` measures it whole");
  return holdsAll;
}

function lineOf(name: string, { claim, measured, max }: Limit, kept: Kept): string {
  const best = kept[name]?.[claim];
  const before = best === undefined ? "" : `; best ${rounded(best.best)} on ${best.on}`;
  return `         ${name}: ${claim}: ${measured === undefined ? "n/a" : rounded(measured)} (≤ ${max}${before})`;
}
