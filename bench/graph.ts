/** Measures TaskGraph beside a bare loop, and beside packages that do parts of its work. */
import {
  CONTENDERS,
  type MillionFigures,
  type RunFigures,
  type SortFigures,
  WORKLOADS,
} from "./graph-contenders.ts";
import {
  type Bench,
  type BenchForm,
  type BenchReport,
  type ChildAnswer,
  inChild,
  type Limit,
  type Table,
} from "./measure.ts";

export const graphBench: Bench = { name: "graph", run };

/** Each contender that executes gets this many processes per workload, in turns, so that a busy minute affects all. */
const TURNS = 5;
const MAX_MS = 60_000;
const MAX_OF_FLOOR = 4;
const MAX_OF_P_GRAPH = 0.5;
const FILE = new URL("./graph-contenders.ts", import.meta.url);

async function run(form: BenchForm = "whole"): Promise<BenchReport> {
  const tables: Table[] = [];
  const limits: Limit[] = [];
  for (const workload of Object.keys(WORKLOADS)) {
    const measured = form === "short" ? await measureShort(workload) : await measureAll(workload);
    tables.push({ title: `${workload}, processor time in ms`, rows: rowsFor(measured) });
    limits.push(...limitsFor(workload, measured));
  }
  if (form === "short") return { title: TITLE, tables, limits };
  const million = await inChild(FILE, ["million"], MAX_MS);
  tables.push({ title: "TaskGraph, a chain of 1,000,000, one cold run", rows: [millionRow(million)] });
  limits.push({
    claim: "a chain of 1,000,000 is sorted, executed, and failed at its head, within a minute (failures)",
    measured: million.is === "value" ? 0 : 1,
    max: 0,
  });
  return { title: TITLE, tables, limits };
}

const TITLE = "TaskGraph: build, sort and execute with a listener and results, executors resolving at once";

interface Figures extends Partial<SortFigures> {
  /** The least of all turns; undefined if the contender does not execute. */
  readonly runCpuMs?: number;
}

/** By contender: the figures, or why there are none. */
type Measured = ReadonlyMap<string, Figures | string>;

async function measureAll(workload: string): Promise<Measured> {
  const measured = new Map<string, Figures | string>();
  for (const name of Object.keys(CONTENDERS)) {
    const answer = await inChild(FILE, ["sort", name, workload], MAX_MS);
    measured.set(name, answer.is === "value" ? (answer.value as SortFigures) : answer.why);
  }
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [name, figures] of measured) {
      if (typeof figures === "string" || CONTENDERS[name]!.run === undefined) continue;
      const answer = await inChild(FILE, ["run", name, workload], MAX_MS);
      measured.set(name, answer.is === "value" ? withTurn(figures, answer.value as RunFigures) : answer.why);
    }
  }
  return measured;
}

/** Only contenders that execute; two turns each. */
async function measureShort(workload: string): Promise<Measured> {
  const measured = new Map<string, Figures | string>();
  for (let turn = 0; turn < 2; turn++) {
    for (const [name, { run: execute }] of Object.entries(CONTENDERS)) {
      if (execute === undefined) continue;
      const answer = await inChild(FILE, ["run", name, workload, "short"], MAX_MS);
      const before = measured.get(name);
      const figures = typeof before === "object" ? before : {};
      measured.set(name, answer.is === "value" ? withTurn(figures, answer.value as RunFigures) : answer.why);
    }
  }
  return measured;
}

function withTurn(figures: Figures, { cpuMs }: RunFigures): Figures {
  return { ...figures, runCpuMs: Math.min(figures.runCpuMs ?? Infinity, cpuMs) };
}

function rowsFor(measured: Measured): Table["rows"] {
  const floor = runOf(measured, "bare loop");
  return [...measured].map(([name, figures]) => {
    if (typeof figures === "string") return { contender: name, "build + sort": `n/a: ${figures}` };
    const { cpuMs, runCpuMs, bytesPerTask } = figures;
    return {
      contender: name,
      "build + sort": cpuMs ?? "",
      "build + sort + execute": runCpuMs ?? "n/a: does not execute",
      "of the bare loop":
        runCpuMs === undefined || floor === undefined ? "" : `${(runCpuMs / floor).toFixed(2)} ×`,
      "bytes a task": bytesPerTask === undefined ? "" : Math.round(bytesPerTask),
    };
  });
}

function limitsFor(workload: string, measured: Measured): Limit[] {
  const ours = runOf(measured, "TaskGraph");
  const ratio = (other: number | undefined) =>
    ours === undefined || other === undefined ? undefined : ours / other;
  const limits = [
    {
      claim: `${workload}: of the bare loop`,
      measured: ratio(runOf(measured, "bare loop")),
      max: MAX_OF_FLOOR,
    },
  ];
  const theirs = ratio(runOf(measured, "p-graph"));
  // Without a result of p-graph there is nothing to compare with.
  if (theirs !== undefined)
    limits.push({ claim: `${workload}: of p-graph`, measured: theirs, max: MAX_OF_P_GRAPH });
  return limits;
}

function runOf(measured: Measured, name: string): number | undefined {
  const figures = measured.get(name);
  return typeof figures === "object" ? figures.runCpuMs : undefined;
}

function millionRow(answer: ChildAnswer): Record<string, string | number> {
  if (answer.is === "failure") return { "": `n/a: ${answer.why}` };
  const { buildMs, sortMs, executeMs, failMs, bytesPerTask } = answer.value as MillionFigures;
  return {
    "build, ms": buildMs,
    "sort, ms": sortMs,
    "execute, ms": executeMs,
    "fail at the head, ms": failMs,
    "bytes a task": Math.round(bytesPerTask),
  };
}
