/** Plays a sample of landing histories in real git, with faults and other people, and checks every promise. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bisectProblem, mostRuns, WarmRun } from "./culprits.ts";
import { tellAll } from "./history.ts";
import { KINDS, Tally } from "./tally.ts";

/** `npm run histories -- --seeds 200` plays more seeds. */
const FIRST_SEEDS = 18;
/**
 * Seed 24 has a failure that no fix mends. Seed 33 showed a defect: a red from before the target was moved was counted.
 */
const KEPT_SEEDS = [24, 33];
const SEEDS = [...Array.from({ length: FIRST_SEEDS }, (_, i) => i + 1), ...KEPT_SEEDS];

describe("histories of landing", () => {
  it(`break no rule in ${SEEDS.length} seeds, in which every strategy and every kind of trouble is met`, async () => {
    const tally = new Tally();
    const violations: string[] = [];
    await tellAll(SEEDS, 3, (told) => {
      tally.addAll(told.tally);
      violations.push(...told.violations.map((what) => `seed ${told.seed}: ${what}`));
    });
    assert.deepEqual(violations, []);
    assert.deepEqual(
      KINDS.filter((kind) => tally.of(kind) === 0),
      [],
    );
  });
});

describe("the one culprit of a batch", () => {
  it("is found in ceil(log2 n) + 4 gate runs at most, and nobody else is refused", async () => {
    await using warm = await WarmRun.start();
    const cases = [
      [2, 0],
      [2, 1],
      [3, 2],
      [6, 3],
      [17, 0],
      [50, 48],
    ] as const;
    const sizes: number[] = [];
    for (const [n, at] of cases) {
      const found = await warm.bisect(n, at);
      assert.equal(bisectProblem(found, at), undefined, `${n} tasks, the culprit at ${at}`);
      sizes.push(found.size);
    }
    assert.deepEqual(
      sizes,
      cases.map(([n]) => n),
    );
  });

  it("may take 10 gate runs in a batch of 50, and no fewer than 5 in any", () => {
    assert.equal(mostRuns(50), 10);
    assert.equal(mostRuns(2), 5);
  });
});
