/** Tests that a slower bench fails the check, and that the check is part of what must pass before a change lands. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { ROOT } from "../tools/source-files.ts";
import { checkBenches } from "./check.ts";
import { type Kept, withBetter } from "./kept.ts";
import type { Bench, BenchReport, Limit } from "./measure.ts";

const CLAIM = "of the bare loop";
const KEPT: Kept = { graph: { [CLAIM]: { best: 2, on: "2026-11-19" } } };

const reportOf = (limits: readonly Limit[]): BenchReport => ({ title: "", tables: [], limits });
const limit = (measured: number | undefined, claim = CLAIM): Limit => ({ claim, measured, max: 4 });

/** Checks a bench that measures the next value in each round, and the last one in all further rounds. */
async function checked(
  rounds: readonly (number | undefined)[],
  { kept = KEPT, claim = CLAIM, onlySlips = false } = {},
) {
  const forms: unknown[] = [];
  const bench: Bench = {
    name: "graph",
    run: async (form) => {
      forms.push(form);
      return reportOf([limit(rounds[Math.min(forms.length, rounds.length) - 1], claim)]);
    },
  };
  const lines: string[] = [];
  const holds = await checkBenches([bench], { kept, onlySlips }, (line) => lines.push(line));
  return { holds, said: lines.join("\n"), forms };
}

describe("the check of benches", () => {
  it("prints each ratio with its limit and the best of before", async () => {
    const { holds, said, forms } = await checked([2.8]);
    assert.deepEqual([holds, forms], [true, ["short"]]);
    assert.match(said, /graph: of the bare loop: 2\.80 \(≤ 4; best 2\.00 on 2026-11-19\)/);
    assert.match(said, /^no bench has slipped$/m);
  });

  it("fails beyond a limit, beyond 1.4 × the best, and where nothing could be measured", async () => {
    for (const [kept, measured, why] of [
      [{}, 4.1, /slipped {2}graph: of the bare loop: 4\.10, the limit is 4/],
      [KEPT, 2.9, /slipped {2}graph: of the bare loop: 2\.90, more than 1\.4 × the best, 2\.00/],
      [KEPT, undefined, /slipped {2}graph: of the bare loop: could not be measured/],
    ] as const) {
      const { holds, said, forms } = await checked([measured], { kept });
      assert.deepEqual([holds, forms.length], [false, 3]);
      assert.match(said, why);
    }
  });

  it("fails only beyond 1.4 × the best where limits are not to be judged, and says what is above its limit", async () => {
    const kept: Kept = { graph: { [CLAIM]: { best: 4.2, on: "2026-11-19" } } };
    const open = await checked([4.5], { kept, onlySlips: true });
    assert.equal(open.holds, true);
    assert.match(open.said, /of the bare loop: 4\.50, above its limit \(≤ 4; best 4\.20/);
    assert.equal((await checked([6], { kept, onlySlips: true })).holds, false);
  });

  it("measures twice more what has slipped, and takes the lowest value", async () => {
    assert.equal((await checked([3.5, 2.5])).holds, true);
    assert.equal((await checked([3.5, 3.4, 2.5])).holds, true);
    assert.equal((await checked([undefined, 2.5])).holds, true);
    assert.equal((await checked([3.5, 3.4])).holds, false);
  });

  it("says where only limits count, and fails for a claim that has lost its memory", async () => {
    const fresh = await checked([2.8], { kept: {} });
    assert.equal(fresh.holds, true);
    assert.match(fresh.said, /graph: no best values are kept, only limits count/);
    const renamed = await checked([2.8], { claim: "beside the bare loop" });
    assert.equal(renamed.holds, false);
    assert.match(renamed.said, /beside the bare loop: no value is kept, npm run bench -- --keep graph/);
  });

  it("is a part of what must pass before a change lands, for what is measured in processor time", () => {
    const { scripts } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));
    assert.match(scripts.speed, /^node bench\/main\.ts --slips graph subtasks engine$/);
    for (const whole of ["verify", "verify:rest"]) assert.match(scripts[whole], /&& npm run speed$/);
    assert.match(readFileSync(path.join(ROOT, ".ci/run"), "utf8"), /^npm run verify:rest$/m);
  });
});

it("keeps what is better than before with its date, and nothing that is worse", () => {
  const reports = { graph: reportOf([limit(1.23456), limit(3, "of p-graph"), limit(undefined, "n/a")]) };
  const { kept, better } = withBetter(KEPT, reports, "2026-12-01");
  const now = { [CLAIM]: { best: 1.23, on: "2026-12-01" }, "of p-graph": { best: 3, on: "2026-12-01" } };
  assert.deepEqual([kept, better], [{ graph: now }, 2]);
  const worse = withBetter(kept, { graph: reportOf([limit(1.5)]) }, "2026-12-02");
  assert.deepEqual([worse.kept, worse.better], [kept, 0]);
  assert.equal(KEPT["graph"]?.[CLAIM]?.best, 2, "what was given is not changed");
});
