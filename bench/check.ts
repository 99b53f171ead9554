/** Runs the short forms of benches, prints each ratio with its limit and its best, and reports those that are worse. */
import { type Kept, lower, slipsOf } from "./kept.ts";
import { type Bench, type Limit, rounded } from "./measure.ts";

/** What fails is measured again: other load only adds to a ratio. */
const MAX_ROUNDS = 3;

/** Returns false if a ratio was worse in each round. `onlySlips`: limits are printed and need not hold. */
export async function checkBenches(
  benches: readonly Bench[],
  { kept, onlySlips = false }: { readonly kept: Kept; readonly onlySlips?: boolean },
  print: (line: string) => void,
): Promise<boolean> {
  let holdsAll = true;
  for (const bench of benches) {
    let report = await bench.run("short");
    const slipsNow = () => slipsOf(bench.name, report, { kept, onlySlips });
    for (let round = 1; round < MAX_ROUNDS && slipsNow().length > 0; round += 1)
      report = lower(report, await bench.run("short"));
    const slips = slipsNow();
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
  const above = measured !== undefined && measured > max ? ", above its limit" : "";
  const value = measured === undefined ? "n/a" : rounded(measured);
  return `         ${name}: ${claim}: ${value}${above} (≤ ${max}${before})`;
}
