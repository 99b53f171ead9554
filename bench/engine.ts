/** Measures how busy the engine keeps its workers, beside an ideal scheduler, and what it costs itself. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Event } from "../src/core/log/event.ts";
import type { Policy } from "../src/core/rules/policy.ts";
import { byLongestPath, byPriority, idealMakespanMs, lowerBoundMs } from "./engine-ideal.ts";
import type { ReplayFigures } from "./engine-replay.ts";
import { execute, randomGraph, verify, WORKLOADS, type Workload } from "./engine-workload.ts";
import {
  type Bench,
  type BenchForm,
  type BenchReport,
  cpuMs,
  inChild,
  type Limit,
  type Table,
  usedBytes,
} from "./measure.ts";

export const engineBench: Bench = { name: "engine", run };

async function run(form: BenchForm = "whole"): Promise<BenchReport> {
  const parts =
    form === "short"
      ? [await makespans([100]), await growth(SIZES.slice(0, 2)), await replays()]
      : [await makespans(WORKERS), await moreSeeds(), await growth(SIZES), await replays()];
  return {
    title: "engine: whole runs, from the plan's text to the last landing, in a virtual world",
    tables: parts.map(({ table }) => table),
    limits: parts.flatMap(({ limits }) => limits),
  };
}

type Part = { readonly table: Table; readonly limits: readonly Limit[] };
type Row = Table["rows"][number];

const TASKS = 10_000;
const SEED = 7;
const WORKERS = [1, 10, 100, 1_000];
const MAX_OF_IDEAL = 1.01;

/** Makespans when only work takes virtual time. */
async function makespans(counts: readonly number[]): Promise<Part> {
  const rows: Row[] = [];
  const worst = { priority: 0, "longest-path": 0 };
  for (const [name, make] of Object.entries(WORKLOADS)) {
    const workload = make(TASKS, SEED);
    const hasOrder = workload.some(({ after }) => after.length > 0);
    for (const workers of counts) {
      const plain = await makespan(workload, workers, "priority");
      const longest = hasOrder ? await makespan(workload, workers, "longest-path") : plain; // No path is longer.
      worst.priority = Math.max(worst.priority, plain.ofIdeal);
      worst["longest-path"] = Math.max(worst["longest-path"], longest.ofIdeal);
      rows.push({
        workload: name,
        workers: count(workers),
        "of ideal": plain.ofIdeal.toFixed(4),
        "of bound": plain.ofBound.toFixed(3),
        "longest path first: of ideal": longest.ofIdeal.toFixed(4),
        "its of bound": longest.ofBound.toFixed(3),
      });
    }
  }
  return {
    table: {
      title:
        `makespan of ${count(TASKS)} uneven tasks; ideal: a list scheduler with the same order; ` +
        "bound: the longest chain, or all work shared out evenly",
      rows,
    },
    limits: Object.entries(worst).map(([order, measured]) => ({
      claim: `makespan of the ideal scheduler's, order "${order}", worst row`,
      measured,
      max: MAX_OF_IDEAL,
    })),
  };
}

async function makespan(workload: Workload, workers: number, order: Policy["order"]) {
  const run = await execute(workload, workers, order);
  verify(run, workload, workers);
  const places = order === "priority" ? byPriority(workload) : byLongestPath(workload);
  return {
    ofIdeal: run.now / idealMakespanMs(workload, workers, places),
    ofIdealAfter: run.now / idealMakespanMs(workload, workers, places, "after"),
    ofBound: run.now / lowerBoundMs(workload, workers),
  };
}

const MORE_SEEDS = [1, 2, 3, 4, 5];

/**
 * A worker takes its next task before its last change has landed, so it cannot take a task that becomes ready only
 * then. Where one long task decides, that moves the end of a single run by a percent or two, up or down; not on
 * average.
 */
async function moreSeeds(): Promise<Part> {
  const rows: Row[] = [];
  const limits: Limit[] = [];
  for (const order of ["priority", "longest-path"] as const) {
    const runs = [];
    for (const seed of MORE_SEEDS) runs.push(await makespan(randomGraph(TASKS, seed), 100, order));
    const ratios = runs.map((run) => run.ofIdeal);
    const mean = meanOf(ratios);
    rows.push({
      order,
      "of ideal, mean": mean.toFixed(4),
      least: Math.min(...ratios).toFixed(4),
      most: Math.max(...ratios).toFixed(4),
      "of an ideal that also goes on first, mean": meanOf(runs.map((run) => run.ofIdealAfter)).toFixed(4),
    });
    limits.push({
      claim: `the same, random graph, 100 workers, "${order}", mean of ${MORE_SEEDS.length} more seeds`,
      measured: mean,
      max: MAX_OF_IDEAL,
    });
  }
  return { table: { title: `random graph, 100 workers, ${MORE_SEEDS.length} more seeds`, rows }, limits };
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

const SIZES = [1_000, 10_000, 100_000];
const ROUNDS = 2;
const MAX_CPU_GROWTH = 1.5;
const MAX_MEMORY_GROWTH = 1.2;

/** The lowest value of a few rounds, in a process that the makespans have warmed up. */
async function growth(sizes: readonly number[]): Promise<Part> {
  const kept = await execute(randomGraph(100, SEED), 100); // Keeps the hidden classes that compiled code relies on.
  const workloads = sizes.map((size) => randomGraph(size, SEED));
  const measured = workloads.map(() => ({ cpuUs: Number.POSITIVE_INFINITY, bytes: 0 }));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [i, workload] of workloads.entries()) {
      const { cpuUs, bytes } = await costPerTask(workload);
      measured[i] = { cpuUs: Math.min(cpuUs, measured[i]!.cpuUs), bytes };
    }
  }
  if (kept.events.length === 0) throw new Error("an empty run");
  return {
    table: {
      title:
        "cost per task, 100 workers, random graph; processor time of all threads, with the virtual world, " +
        "the reading of the plan and the collecting of garbage; bytes of the final state and the whole log",
      rows: sizes.map((size, i) => ({
        tasks: count(size),
        "µs a task": Math.round(measured[i]!.cpuUs),
        "bytes a task": Math.round(measured[i]!.bytes),
      })),
    },
    limits: sizes.slice(1).flatMap((size, i) => growthLimits(size, measured[i]!, measured[i + 1]!)),
  };
}

type Cost = { readonly cpuUs: number; readonly bytes: number };

const growthLimits = (size: number, smaller: Cost, larger: Cost): readonly Limit[] => [
  {
    claim: `processor time a task, ${count(size)} tasks of ${count(size / 10)}`,
    measured: larger.cpuUs / smaller.cpuUs,
    max: MAX_CPU_GROWTH,
  },
  {
    claim: `memory a task, ${count(size)} tasks of ${count(size / 10)}`,
    measured: larger.bytes / smaller.bytes,
    max: MAX_MEMORY_GROWTH,
  },
];

async function costPerTask(workload: Workload) {
  const held: unknown[] = [];
  const before = usedBytes();
  const ms = await cpuMs(async () => {
    const { state, events } = await execute(workload, 100);
    held.push(state, events);
  });
  const bytes = usedBytes() - before;
  held.length = 0;
  return { cpuUs: (ms * 1_000) / workload.length, bytes: bytes / workload.length };
}

const REPLAY = new URL("./engine-replay.ts", import.meta.url);
const REPLAY_MAX_MS = 120_000;
const MAX_OF_PARSING = 3;
const SUMMARY_CHARS = 200;
const DIFF_CHARS = 1_000;

async function replays(): Promise<Part> {
  const { events } = await execute(randomGraph(TASKS, SEED), 100);
  const logs = {
    [`summaries of ${SUMMARY_CHARS}, diffs of ${count(DIFF_CHARS)} characters`]: events.map(withTexts),
    "next to no texts": events,
  };
  const rows: Row[] = [];
  const limits: Limit[] = [];
  for (const [name, log] of Object.entries(logs)) {
    const lines = log.map((event) => JSON.stringify(event));
    const figures = await replayInChildren(lines);
    rows.push(replayRow(name, lines, figures));
    limits.push({
      claim: `replaying of parsing, ${name}`,
      measured: figures.bothRatio,
      max: MAX_OF_PARSING,
    });
  }
  return { table: { title: `replaying the log of ${count(TASKS)} tasks`, rows }, limits };
}

/** Makes handoffs as long as real ones, so that the time to parse them is included. */
function withTexts(event: Event): Event {
  if (event.type !== "task.handed-off") return event;
  const { handoff } = event;
  const filled = (text: string, chars: number) => text.padEnd(chars, " and what else there is to say");
  return {
    ...event,
    handoff: {
      ...handoff,
      summary: filled(handoff.summary, SUMMARY_CHARS),
      diff: filled(`+++ b/${handoff.filesChanged[0]}`, DIFF_CHARS),
    },
  };
}

/** The better of two processes: other load slows replaying, which is limited by memory, more than parsing. */
async function replayInChildren(lines: readonly string[]): Promise<ReplayFigures> {
  const folder = await mkdtemp(join(tmpdir(), "skein-bench-"));
  try {
    const file = join(folder, "log.ndjson");
    await writeFile(file, lines.join("\n"));
    const [one, other] = [await replayInChild(file), await replayInChild(file)];
    return one.bothRatio < other.bothRatio ? one : other;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function replayInChild(file: string): Promise<ReplayFigures> {
  const answer = await inChild(REPLAY, [file], REPLAY_MAX_MS);
  if (answer.is === "failure") throw new Error(answer.why);
  return answer.value as ReplayFigures;
}

const replayRow = (name: string, lines: readonly string[], figures: ReplayFigures): Row => ({
  log: name,
  MB: (lines.reduce((sum, line) => sum + line.length + 1, 0) / 1e6).toFixed(1),
  events: count(lines.length),
  "parse, ms": figures.parseMs,
  "evolve, ms": figures.evolveMs,
  "both, ms": figures.bothMs,
  "evolve of parse": figures.evolveRatio,
  "both of parse": figures.bothRatio,
  "first time": figures.coldRatio,
  "bytes of state a task": Math.round(figures.stateBytes / TASKS),
});

const count = (n: number) => n.toLocaleString("en-US");
