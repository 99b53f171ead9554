/** Measures the gate runs per landed task, by the size of a batch and the share of bad tasks. */
import { randomFrom } from "../src/simulation/random.ts";
import { CoreRun, task } from "../test/support/core-run.ts";
import type { Limit, Table } from "./measure.ts";

const SIZES = [1, 5, 20, 50];
const SHARES = [0, 0.02, 0.1];
const TASKS = 400;
const SEEDS = [1, 2, 3, 4, 5];
/** The policy must first learn how many tasks are bad, which costs gate runs. */
const MAX_OF_BEST = 1.25;

/** Uses the engine's decisions without git: the gate is red if the candidate contains a bad task. */
export function batchesTable(): { readonly table: Table; readonly limits: readonly Limit[] } {
  const columns = SHARES.map((share) => {
    const fixed = SIZES.map((size) => ({ size, runs: meanRuns(share, size, true) }));
    const best = fixed.reduce((one, other) => (other.runs < one.runs ? other : one));
    return { share, fixed, best, chosen: meanRuns(share, Math.max(...SIZES), false) };
  });
  const nameOf = (share: number) => `${share * 100} % bad`;
  const rowOf = (name: string, of: (column: (typeof columns)[number]) => string | number) => ({
    "tasks in a batch": name,
    ...Object.fromEntries(columns.map((column) => [nameOf(column.share), of(column)])),
  });
  const rows = [
    ...SIZES.map((size, i) => rowOf(String(size), ({ fixed }) => fixed[i]!.runs)),
    rowOf(`chosen, at most ${Math.max(...SIZES)}`, ({ chosen }) => chosen),
    rowOf("best of the sizes", ({ best }) => String(best.size)),
  ];
  const limits = columns.map(({ share, best, chosen }) => ({
    claim: `gate runs a task where the policy chooses, of the best size's (${best.size}), ${nameOf(share)}`,
    measured: chosen / best.runs,
    max: MAX_OF_BEST,
  }));
  const title = `gate runs for each landed task, ${TASKS} tasks that wait to land, mean of ${SEEDS.length} seeds; a bad one is made right when it was refused`;
  return { table: { title, rows }, limits };
}

const meanRuns = (share: number, size: number, isFixed: boolean): number =>
  SEEDS.reduce((sum, seed) => sum + gateRuns({ share, size, isFixed, seed }), 0) / SEEDS.length / TASKS;

type Story = {
  readonly share: number;
  readonly size: number;
  readonly isFixed: boolean;
  readonly seed: number;
};

function gateRuns({ share, size, isFixed, seed }: Story): number {
  const random = randomFrom(seed);
  const names = Array.from({ length: TASKS }, (_, i) => `task${i}`);
  const run = CoreRun.planned(
    names.map((name) => task(name)),
    { capacity: { work: TASKS }, landing: { maxBatch: size }, root: { replanAfter: TASKS } },
  );
  if (isFixed) pinOdds(run);
  const ids = names.map((_, i) => `t.${i + 1}`);
  const bad = new Set(ids.filter(() => random.chance(share)));
  for (const id of ids) run.work(id);
  let runs = 0;
  while (!ids.every((id) => run.is(id) === "done")) {
    runs += 1;
    const red = run.candidate().filter((id) => bad.has(id) && run.task(id).tries.attempts === 1);
    if (run.running("check").length > 0) run.check();
    else if (red.length > 0) run.landRed(red.map((id) => `test: ${id} works`));
    else run.land();
    for (const id of ids) if (run.running("work").includes(`work:${id}#2`)) run.work(id);
  }
  return runs;
}

/** Pretends that no task was ever bad, so that a batch is always as large as allowed. */
function pinOdds({ state }: CoreRun): void {
  Object.defineProperty(state, "odds", { get: () => ({ good: 1e9, bad: 0 }), set: () => {} });
}
