/** Is a TaskGraph cheap: how does it compare with a bare loop, and with packages that do parts of its work? */
import { CONTENDERS, type ContenderFigures, type MillionFigures, WORKLOADS } from "./graph-contenders.ts";
import {
  type Bench,
  type BenchReport,
  type ChildAnswer,
  inChild,
  type Limit,
  median,
  type Table,
} from "./measure.ts";

export const graphBench: Bench = { name: "graph", run };

/**
 * Each contender that executes gets this many processes per workload, taking turns: so a busy minute hits all of
 * them. The others are there for information and get one.
 */
const TURNS = 3;
const MAX_MS = 60_000;
const MAX_OF_FLOOR = 4;
const MAX_OF_P_GRAPH = 0.5;
const FILE = new URL("./graph-contenders.ts", import.meta.url);

async function run(): Promise<BenchReport> {
  const tables: Table[] = [];
  const limits: Limit[] = [];
  for (const workload of Object.keys(WORKLOADS)) {
    const measured = await measureAll(workload);
    tables.push({ title: `${workload}, processor time in ms`, rows: rowsFor(measured) });
    limits.push(...limitsFor(workload, measured));
  }
  const million = await inChild(FILE, ["million"], MAX_MS);
  tables.push({ title: "TaskGraph, a chain of 1,000,000, one cold run", rows: [millionRow(million)] });
  limits.push({
    claim: "a chain of 1,000,000 is sorted, executed, and failed at its head, within a minute (failures)",
    measured: million.is === "value" ? 0 : 1,
    max: 0,
  });
  return {
    title: "TaskGraph: build, sort and execute with a listener and results, executors resolving at once",
    tables,
    limits,
  };
}

type Measured = ReadonlyMap<string, ContenderFigures | string>;

/** The median over the turns of each contender, or why there is none. */
async function measureAll(workload: string): Promise<Measured> {
  const names = Object.keys(CONTENDERS);
  const answers = new Map<string, ChildAnswer[]>(names.map((name) => [name, []]));
  for (let turn = 0; turn < TURNS; turn++) {
    for (const name of names) {
      const earlier = answers.get(name)!;
      if (turn > 0 && CONTENDERS[name]!.run === undefined) continue;
      if (earlier.some((answer) => answer.is === "failure")) continue;
      earlier.push(await inChild(FILE, [name, workload], MAX_MS));
    }
  }
  return new Map(names.map((name) => [name, combined(answers.get(name)!)]));
}

function combined(answers: readonly ChildAnswer[]): ContenderFigures | string {
  const figures: ContenderFigures[] = [];
  for (const answer of answers) {
    if (answer.is === "failure") return answer.why;
    figures.push(answer.value as ContenderFigures);
  }
  const runs = figures.flatMap(({ runCpuMs }) => runCpuMs ?? []);
  return {
    sortCpuMs: median(figures.map(({ sortCpuMs }) => sortCpuMs)),
    ...(runs.length > 0 && { runCpuMs: median(runs) }),
    bytesPerTask: median(figures.map(({ bytesPerTask }) => bytesPerTask)),
  };
}

function rowsFor(measured: Measured): Table["rows"] {
  const floor = runOf(measured, "bare loop");
  return [...measured].map(([name, figures]) => {
    if (typeof figures === "string") return { contender: name, "build + sort": `n/a: ${figures}` };
    const { sortCpuMs, runCpuMs, bytesPerTask } = figures;
    return {
      contender: name,
      "build + sort": sortCpuMs,
      "build + sort + execute": runCpuMs ?? "n/a: does not execute",
      "of the bare loop":
        runCpuMs === undefined || floor === undefined ? "" : `${(runCpuMs / floor).toFixed(2)} ×`,
      "bytes a task": Math.round(bytesPerTask),
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
  // If p-graph cannot do it at all, there is nothing to be compared with.
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
