/** Checks numbers of a report against independent counts, and finds the numbers that no check has read. */
import assert from "node:assert/strict";
import type { RunReport } from "../../src/core/view/report.ts";
import type { RunView } from "../../src/core/view/view.ts";
import type { SeenCall } from "../support/model-server/model-server.ts";
import { jobOf, priceOf } from "./model-accounting.ts";

export type Told = RunView & { readonly report: RunReport };

/** Wraps a value so that each number that is read from it is noted by its path: "tally.gate.runs", "landings[].at". */
export function noting<T extends object>(value: T, read: Set<string>, path = ""): T {
  return new Proxy(value, {
    get(target, key) {
      const found = Reflect.get(target, key) as unknown;
      if (typeof key === "symbol") return found;
      const at = placeOf(target, key, path);
      if (typeof found === "number") read.add(at);
      return typeof found === "object" && found !== null ? noting(found, read, at) : found;
    },
  });
}

/** The paths of all numbers in a value. */
export function numbersIn(value: object, path = ""): ReadonlySet<string> {
  return new Set(
    Object.entries(value).flatMap(([key, found]) => {
      const at = placeOf(value, key, path);
      if (typeof found === "number") return [at];
      return typeof found === "object" && found !== null ? [...numbersIn(found, at)] : [];
    }),
  );
}

const placeOf = (owner: object, key: string, path: string): string =>
  Array.isArray(owner) ? `${path}[]` : path === "" ? key : `${path}.${key}`;

const taskIn = (job: string) => job.replace(/^\w+:|#\d+$/g, "");

/** Checks tasks, jobs and cost against the calls that the model's server saw. */
export function checkTasks(told: Told, all: readonly SeenCall[], subtask: string): void {
  const { counts, report, tally, times, spent } = told;
  const jobs = [...new Set(all.map(jobOf))];
  const tasks = new Set(jobs.map(taskIn).filter((task) => task !== "t" && task !== subtask));
  const { total, done, failed, skipped, cancelled, landing, running, waiting } = counts;
  assert.deepEqual([total, done], [tasks.size, tasks.size]);
  assert.deepEqual([failed, skipped, cancelled, landing, running, waiting], [0, 0, 0, 0, 0, 0]);
  const { figures } = report;
  assert.deepEqual([figures.tasks, figures.tasksDone], [tasks.size, tasks.size]);
  for (const kind of ["work", "plan"] as const) {
    const seen = jobs.filter((job) => job.startsWith(`${kind}:`));
    assert.equal(times.jobs[kind].count, seen.length, kind);
    assert.ok(times.jobs[kind].ms > 0);
  }
  const answered = all.filter(({ usage }) => usage !== undefined);
  const sum = (of: (usage: NonNullable<SeenCall["usage"]>) => number, some = answered) =>
    some.reduce((so, { usage }) => so + of(usage!), 0);
  const { calls } = tally;
  assert.equal(calls.calls, answered.length);
  assert.equal(calls.turns, jobs.length, "every turn has called the model");
  assert.deepEqual(
    [calls.inputTokens, calls.outputTokens],
    [sum((one) => one.input), sum((one) => one.output)],
  );
  const used = new Set(
    all.flatMap(({ messages }) => messages.flatMap((one) => one.toolCalls.map(({ id }) => id))),
  );
  assert.ok(
    calls.toolCalls >= used.size,
    `${calls.toolCalls} tool calls, and the server has seen ${used.size}`,
  );
  const byTask = Map.groupBy(answered, (call) => taskIn(jobOf(call)));
  assert.deepEqual(
    Object.fromEntries(tally.costs.map(({ task, tokens, microdollars }) => [task, [tokens, microdollars]])),
    Object.fromEntries(
      byTask
        .entries()
        .map(([task, some]) => [task, [sum((one) => one.input + one.output, some), sum(priceOf, some)]]),
    ),
  );
  // The provider refused some of them, which costs nothing; the others were cut off.
  const unanswered = all.length - answered.length;
  assert.deepEqual([spent.tokens, spent.microdollars], [figures.tokens, figures.microdollars]);
  assert.deepEqual([spent.unpriced, spent.unreported, figures.unreportedAttempts], [0, 0, 0]);
  for (const { unaccounted } of [spent, calls]) {
    assert.equal(unaccounted.calls, figures.unaccountedCalls);
    assert.equal(unaccounted.tokens > 0 && unaccounted.microdollars > 0, unaccounted.calls > 0);
  }
  assert.ok(figures.unaccountedCalls <= unanswered);
  for (const { unpriced, unaccounted } of tally.costs)
    assert.ok(unpriced === 0 && unaccounted.calls + unaccounted.tokens + unaccounted.microdollars >= 0);
  checkConcurrency(told, all);
}

/** At least as many agents worked at once as had calls before and after the same moment. */
function checkConcurrency({ report: { figures, lanes }, tally }: Told, all: readonly SeenCall[]): void {
  const spans = [...Map.groupBy(all, jobOf)].map(([job, some]) => ({
    job,
    from: some[0]!.at,
    to: some.at(-1)!.at,
  }));
  const most = Math.max(
    ...spans.map(({ from }) => spans.filter((one) => one.from <= from && one.to >= from).length),
  );
  assert.ok(figures.mostAgents >= most, `${figures.mostAgents} at once, and the server has seen ${most}`);
  assert.equal(tally.agents.mostAtOnce, figures.mostAgents);
  assert.deepEqual([tally.agents.workMs, tally.agents.wallMs], [figures.agentsMs, figures.wallMs]);
  const share = figures.agentsMs / (figures.wallMs * figures.mostAgents);
  assert.ok(Math.abs(tally.agents.share - share) <= 0.005);
  const jobs = lanes.flatMap(({ kind, number, spans: some }) => {
    assert.ok(number >= 1);
    return some.map((span) => ({ ...span, kind }));
  });
  for (const { job, from, to } of spans) {
    const shown = jobs.find((one) => one.job === job);
    assert.ok(
      shown && shown.from <= from && shown.to! >= to,
      `${job} is on the timeline while it made calls`,
    );
    const cost = all.filter((call) => call.usage && jobOf(call) === job).map(({ usage }) => usage!);
    assert.equal(
      shown.tokens,
      cost.reduce((so, { input, output }) => so + input + output, 0),
    );
    assert.equal(
      shown.microdollars,
      cost.reduce((so, usage) => so + priceOf(usage), 0),
    );
    assert.equal(shown.number, Number(/\d+$/.exec(job)));
  }
}

export type GateRun = { readonly from: number; readonly to: number };

/** Checks gate runs against what the gate itself has written down. */
export function checkGate(told: Told, runs: readonly GateRun[]): void {
  const { report, tally, times, landings } = told;
  const { figures, gates, hotFiles, flaky } = report;
  const { gate } = tally;
  const ms = runs.reduce((sum, { from, to }) => sum + to - from, 0);
  assert.deepEqual([figures.gateRuns, gate.runs], [runs.length, runs.length]);
  assert.ok(
    figures.gateMs >= ms && gate.ms === figures.gateMs,
    `${figures.gateMs} ms, and the gate says ${ms}`,
  );
  assert.deepEqual([gate.landings, gate.tasks], [figures.landings, figures.landedTasks]);
  assert.equal(gate.largestBatch, Math.max(...landings.map(({ members }) => members.length)));
  assert.ok(Math.abs(gate.perTask - runs.length / figures.landedTasks) <= 0.005);
  const { land, check } = times.jobs;
  assert.ok(land.count + check.count >= runs.length && land.ms + check.ms >= ms);
  for (const one of gates) assert.ok(one.ms > 0 && one.at >= times.openedAt && one.number >= 1);
  assert.ok(
    gates[0]!.ms >= Math.max(...runs.map(({ from, to }) => to - from)),
    "the slowest run is in the list",
  );
  const shown = report.lanes.flatMap(({ spans }) => spans.flatMap((span) => span.gates ?? []));
  assert.equal(shown.length, runs.length, "each run is on the timeline");
  assert.ok(shown.reduce((sum, one) => sum + one.ms, 0) >= ms);
  assert.deepEqual(
    flaky.map(({ times: often }) => often),
    [1],
  );
  assert.deepEqual(
    hotFiles.map(({ path, conflicts }) => [path, conflicts]),
    [["src/index.js", 1]],
  );
  assert.ok(hotFiles.every(({ waitedMs }) => waitedMs >= 0));
  checkRed(told, runs);
}

/** The base fails at first: the red time is from its first check to the landing of the fix. */
function checkRed({ tally, report: { figures }, times }: Told, runs: readonly GateRun[]): void {
  const [first] = runs;
  const [span] = tally.red.spans;
  assert.equal(tally.red.spans.length, 1);
  assert.ok(span!.from >= first!.to && span!.from <= times.closedAt!);
  assert.deepEqual([span!.ms, tally.red.ms], [figures.redMs, figures.redMs]);
  const end = span!.from + span!.ms;
  assert.ok(
    runs.some(({ to }) => to <= end && end - to < 5_000),
    "a run of the gate has ended it",
  );
}

/** Checks the failures that the script causes, and the times of everything that has one. */
export function checkLosses(told: Told, failing: readonly string[], within: GateRun): void {
  const { setbacks, report, tally, times, landings, split, events } = told;
  const { figures, chain, time, advice } = report;
  assert.deepEqual(
    setbacks
      .filter(({ of, attempt }) => of === "work" && attempt === 1)
      .map(({ name }) => name)
      .sort(),
    [...failing].sort(),
  );
  assert.equal(figures.failedAttempts, setbacks.filter(({ charge }) => charge !== "nothing").length);
  assert.equal(
    tally.losses.reduce((sum, { count }) => sum + count, 0),
    figures.failedAttempts,
  );
  for (const { workMs, gateRuns, gateMs, tokens, microdollars } of tally.losses)
    for (const [part, whole] of [
      [workMs, figures.agentsMs],
      [gateRuns, figures.gateRuns],
      [gateMs, figures.gateMs],
      [tokens, figures.tokens!],
      [microdollars, figures.microdollars!],
    ] as const)
      assert.ok(part >= 0 && part <= whole);
  assert.ok(tally.flaky.gateRuns >= 1 && tally.flaky.gateMs > 0);
  assert.equal(
    chain.reduce((sum, { ms }) => sum + ms, 0),
    figures.criticalMs,
  );
  assert.equal(split, 1, "calendar");
  for (const at of [...landings, ...setbacks]
    .map((one) => one.at)
    .concat(times.openedAt, times.lastAt, times.closedAt!))
    assert.ok(at >= within.from && at <= within.to);
  assert.equal(times.idleMs, 0);
  assert.equal(figures.wallMs, times.closedAt! - times.openedAt);
  assert.equal(time.totalMs, figures.wallMs);
  assert.ok(landings.every(({ members }) => members.every(({ attempt }) => attempt >= 1)));
  assert.ok(events > times.jobs.work.count * 2);
  const { workingMs, allBusyMs, mostWorkers, parts } = time;
  assert.equal(workingMs, parts.find(({ is }) => is === "work")!.ms);
  assert.ok(allBusyMs <= workingMs && mostWorkers >= 1 && mostWorkers <= figures.mostAgents);
  for (const one of advice)
    if (one.is === "hot-file")
      assert.deepEqual({ ...one.file }, { ...report.hotFiles.find(({ path }) => path === one.file.path) });
  // Each number of the advice lies between 0 and a bound that no figure of a run exceeds.
  for (const one of advice)
    for (const number of Object.values(one))
      if (typeof number === "number") assert.ok(number >= 0 && number <= 1e12);
}
