/** Tests forecasts of plans: durations, file conflicts, failures, costs and the useful number of workers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cpuMs } from "../../test/support/cpu.ts";
import { defaultPolicy, type Policy } from "../core/rules/policy.ts";
import type { ExecutionPlan, PlanTask } from "../planning/plan.ts";
import { type Assumed, assume, NOTHING_LEARNT } from "./assumed.ts";
import { type Forecast, forecast } from "./forecast.ts";
import { speedUp } from "./speed-up.ts";

const MINUTE = 60_000;

type Wish = Partial<Pick<PlanTask, "blockedBy" | "scope" | "estimate" | "delivers">> & {
  readonly agent?: string;
};

const taskOf = (id: string, { agent = "general-purpose", ...wish }: Wish): PlanTask => ({
  id,
  subject: `Make ${id}`,
  description: `Make ${id}`,
  activeForm: `Making ${id}`,
  blockedBy: [],
  scope: [`src/${id}.ts`],
  reads: [],
  delivers: "change",
  requirements: [],
  metadata: { wave: 0, phase_id: id, agent, parallel: true, depth: 1 },
  ...wish,
});

const planOf = (wishes: Readonly<Record<string, Wish>>): ExecutionPlan => ({
  skein_plan: 1,
  goal: "Build it",
  planner: "rules",
  max_concurrent: 8,
  success_criteria: [],
  assumptions: [],
  questions: [],
  context: { files: [], patterns: [], tests: [] },
  risks: [],
  tasks: Object.entries(wishes).map(([id, wish]) => taskOf(id, wish)),
});

/** The defaults: ten minutes of work, one minute of gate. */
const ASSUMED: Assumed = assume(NOTHING_LEARNT);

async function foreseen(
  plan: ExecutionPlan,
  workers: number,
  more: { readonly policy?: Policy; readonly assumed?: Assumed; readonly seed?: number } = {},
): Promise<Forecast> {
  const result = await forecast({ plan, workers, assumed: ASSUMED, policy: defaultPolicy, ...more });
  if ("failure" in result) throw new Error(result.failure.message);
  return result;
}

const minutes = ({ makespanMs }: Forecast) => makespanMs / MINUTE;

test("a chain takes its tasks and their landings one after the other, and a last look at the target", async () => {
  const chain = planOf({ a: {}, b: { blockedBy: ["a"] } });
  for (const workers of [1, 2]) assert.equal(minutes(await foreseen(chain, workers)), 10 + 1 + 10 + 1 + 1);
  const { order, tasks, end } = await foreseen(chain, 2);
  assert.deepEqual(order, ["a", "b", "t"]);
  assert.equal(end, "done");
  const b = tasks.find(({ name }) => name === "b")!;
  assert.deepEqual(
    [b.startMs, b.endMs, b.doneMs].map((ms) => ms! / MINUTE),
    [11, 21, 22],
  );
});

test("a fork of four goes in two rounds with two workers, and in one with four", async () => {
  const fork = planOf({ a: {}, b: {}, c: {}, d: {} });
  assert.equal(minutes(await foreseen(fork, 1)), 4 * 10 + 1 + 1);
  const two = await foreseen(fork, 2);
  assert.equal(minutes(two), 2 * 10 + 1 + 1);
  assert.deepEqual(new Set(two.bars.map(({ lane }) => lane)), new Set([0, 1]));
  const four = await foreseen(fork, 4);
  assert.equal(minutes(four), 10 + 1 + 1);
  assert.deepEqual(new Set(four.bars.map(({ lane }) => lane)), new Set([0, 1, 2, 3]));
  assert.equal(four.landings.length, 1);
  assert.equal(four.busyShare, 40 / (4 * 12));
});

test("two tasks on one file work one after the other, and the file is named with the wait", async () => {
  const plan = planOf({ a: { scope: ["src/x.ts"] }, b: { scope: ["src/x.ts"] }, c: {} });
  const { hotFiles, conflicts, ...result } = await foreseen(plan, 3);
  assert.equal(result.makespanMs / MINUTE, 11 + 10 + 1 + 1);
  assert.deepEqual(hotFiles, [{ path: "src/x.ts", tasks: ["a", "b"], waitedMs: 11 * MINUTE }]);
  assert.equal(conflicts, 0);
});

test("of a folder and a file in it, the file is named with both tasks", async () => {
  const plan = planOf({ a: { scope: ["src/"] }, b: { scope: ["src/x.ts"] } });
  const { hotFiles } = await foreseen(plan, 2);
  assert.deepEqual(hotFiles, [
    { path: "src/x.ts", tasks: ["b", "a"], waitedMs: 11 * MINUTE },
    { path: "src/", tasks: ["a", "b"], waitedMs: 0 },
  ]);
});

test("many tasks with many files in common take their length", async () => {
  const scope = Array.from({ length: 600 }, (_, i) => `src/${i}.ts`);
  const names = Array.from({ length: 100 }, (_, i) => `t${i}`);
  const plan = planOf(Object.fromEntries(names.map((name) => [name, { scope }])));
  const before = cpuMs();
  const { hotFiles } = await foreseen(plan, 4);
  assert.equal(hotFiles.length, 600);
  assert.ok(cpuMs() - before < 5_000, "each pair of paths was compared");
});

test("where overlap is allowed, they meet when they land, and one is made again", async () => {
  const plan = planOf({ a: { scope: ["src/x.ts"] }, b: { scope: ["src/x.ts"] } });
  const result = await foreseen(plan, 2, { policy: { ...defaultPolicy, overlap: "allow" } });
  assert.equal(result.conflicts, 1);
  const b = result.tasks.find(({ name }) => name === "b")!;
  assert.deepEqual([b.startMs, b.attempts, b.workMs], [0, 2, 20 * MINUTE]);
  assert.deepEqual(
    result.bars.map(({ task, isLost }) => [task, isLost]),
    [
      ["a", false],
      ["b", true],
      ["b", false],
    ],
  );
});

test("what the plan says of a task counts first, then its agent's median, then that of all", async () => {
  const plan = planOf({
    said: { estimate: { minutes: 3, tokens: 7, dollars: 0.5 } },
    agent: { agent: "workflow-orchestrator:reviewer" },
    other: {},
  });
  const learnt = { ...ASSUMED, workMs: 5 * MINUTE, workMsByAgent: new Map([["reviewer", 2 * MINUTE]]) };
  const { tasks, used } = await foreseen(plan, 3, { assumed: { ...learnt, workTokens: 100 } });
  const took = Object.fromEntries(tasks.map(({ name, workMs }) => [name, workMs / MINUTE]));
  assert.deepEqual(took, { t: 0, said: 3, agent: 2, other: 5 });
  assert.equal(used.tokens, 7 + 100 + 100);
  assert.deepEqual([used.microdollars, used.unpriced], [500_000, 2]);
});

test("a report lands nothing, and a task without files waits for nobody", async () => {
  const plan = planOf({ read: { delivers: "report", scope: [] }, loose: { scope: [] }, also: { scope: [] } });
  const { order, fileWaits, makespanMs } = await foreseen(plan, 3);
  assert.deepEqual(order, ["read", "loose", "also", "t"]);
  assert.deepEqual(fileWaits, []);
  assert.equal(makespanMs / MINUTE, 12);
});

test("the same seed tells the same story, and another one another", async () => {
  const plan = planOf(Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`t${i}`, {}])));
  const assumed = { ...ASSUMED, failShare: 0.3, refusedShare: 0.1 };
  const [one, again, other] = await Promise.all(
    [1, 1, 2].map((seed) => foreseen(plan, 4, { assumed, seed })),
  );
  assert.deepEqual(one, again);
  assert.notDeepEqual(one!.bars, other!.bars);
  assert.ok(one!.failed > 0);
});

test("a plan whose tasks fail too often says what would be left", async () => {
  const result = await foreseen(planOf({ a: {}, b: { blockedBy: ["a"] } }), 1, {
    assumed: { ...ASSUMED, failShare: 1 },
  });
  assert.notEqual(result.end, "done");
  assert.match(result.left.join("\n"), /^a failed: .*\nb was skipped, because a did not land$/m);
});

test("an answer that comes late counts, as in a run, and its bar goes on until then", async () => {
  const estimate = { minutes: 65, tokens: 7, dollars: 1 };
  const { end, bars, tasks, makespanMs, used } = await foreseen(planOf({ a: { estimate } }), 1);
  assert.deepEqual([end, used.tokens, used.unpriced], ["done", 7, 0]);
  assert.deepEqual(
    bars.map(({ toMs, isLost }) => [toMs / MINUTE, isLost]),
    [[65, false]],
  );
  assert.deepEqual([tasks[1]!.workMs / MINUTE, makespanMs / MINUTE], [65, 67]);
});

test("attempts that are out of time cost what nobody knows, not nothing", async () => {
  const { end, used, tasks } = await foreseen(planOf({ a: { estimate: { minutes: 100_000 } } }), 1);
  assert.notEqual(end, "done");
  assert.ok(tasks[1]!.attempts > 0);
  assert.deepEqual([used.tokens, used.unpriced], [0, tasks[1]!.attempts]);
});

test("the useful number of workers is the smallest that is within 5 % of the best", async () => {
  const plan = planOf({
    long: { estimate: { minutes: 40 } },
    ...Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`t${i}`, { estimate: { minutes: 10 } }])),
  });
  const found = await speedUp({ plan, assumed: ASSUMED, policy: defaultPolicy });
  if ("failure" in found) throw new Error(found.failure.message);
  assert.deepEqual(
    found.rows.map(({ workers }) => workers),
    [1, 2, 3, 4, 8, 9],
  );
  // One worker does the long task while two share eighty minutes of short ones: a fourth worker saves no time.
  assert.equal(found.useful, 3);
  assert.equal(found.forecast.workers, 3);
  assert.deepEqual(found.critical, { tasks: ["long"], ms: 41 * MINUTE });
  assert.equal(found.rows[0]!.speedUp, 1);
  assert.equal(found.rows[0]!.p90Ms, undefined);
});

test("among many workers, the useful number is found to a 16th", async () => {
  const layers = Array.from({ length: 4 }, (_, layer) =>
    Array.from({ length: 37 }, (_, i) => {
      const blockedBy = layer === 0 ? [] : [`t${layer - 1}-${i}`];
      return [`t${layer}-${i}`, { blockedBy }] as const;
    }),
  );
  const plan = planOf(Object.fromEntries(layers.flat()));
  const found = await speedUp({ plan, assumed: ASSUMED, policy: defaultPolicy });
  if ("failure" in found) throw new Error(found.failure.message);
  assert.ok(found.useful >= 37 && found.useful <= 39, `${found.useful}`);
  const tried = found.rows.map(({ workers }) => workers);
  assert.deepEqual(tried, [1, 2, 4, 8, 16, 32, found.useful, 64, 128, 148]);
});

test("with failures several stories are told: the one in the middle, and nine in ten", async () => {
  const plan = planOf(Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`t${i}`, {}])));
  const assumed = { ...ASSUMED, failShare: 0.3 };
  const found = await speedUp({ plan, assumed, policy: defaultPolicy, maxWorkers: 2, stories: 10 });
  if ("failure" in found) throw new Error(found.failure.message);
  for (const row of found.rows) assert.ok(row.p90Ms! >= row.makespanMs && row.doneShare > 0);
});

test("the numbers of workers that are tried double, up to the tasks or the limit", async () => {
  const tried = async (tasks: number, maxWorkers?: number) => {
    const plan = planOf(Object.fromEntries(Array.from({ length: tasks }, (_, i) => [`t${i}`, {}])));
    const limit = maxWorkers === undefined ? {} : { maxWorkers };
    const found = await speedUp({ plan, assumed: ASSUMED, policy: defaultPolicy, ...limit });
    if ("failure" in found) throw new Error(found.failure.message);
    return found.rows.map(({ workers }) => workers);
  };
  assert.deepEqual(await tried(1), [1]);
  assert.deepEqual(
    (await tried(6)).filter((n) => [1, 2, 4, 6].includes(n)),
    [1, 2, 4, 6],
  );
  assert.deepEqual((await tried(20, 8)).at(-1), 8);
});

test("no number of workers beats the critical path, whatever the plan", async () => {
  const edges = fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { maxLength: 12 });
  const times = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 10, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(edges, times, fc.integer({ min: 1, max: 10 }), async (links, each, maxWorkers) => {
      const wishes = Object.fromEntries(
        each.map((time, i) => {
          const blockedBy = links.flatMap(([a, b]) =>
            Math.max(a, b) === i && a !== b ? [`t${Math.min(a, b)}`] : [],
          );
          return [`t${i}`, { estimate: { minutes: time }, blockedBy: [...new Set(blockedBy)] }];
        }),
      );
      const found = await speedUp({
        plan: planOf(wishes),
        assumed: ASSUMED,
        policy: defaultPolicy,
        maxWorkers,
      });
      assert.ok(!("failure" in found));
      for (const { makespanMs } of found.rows) assert.ok(makespanMs >= found.critical.ms);
    }),
    { numRuns: 25 },
  );
});
