/** Builds, sorts and executes the same graphs with TaskGraph, with other packages and with a bare loop. */
import { DepGraph } from "dependency-graph";
import { DirectedGraph } from "graphology";
import { topologicalSort } from "graphology-dag";
import { PGraph, type PGraphNodeMap } from "p-graph";
import { TaskGraph } from "../src/graph/task-graph.ts";
import { median, steadyCpuMs, usedBytes } from "./measure.ts";

export interface BenchTask {
  readonly id: string;
  readonly description: string;
  readonly dependencies: readonly string[];
}

type Executor = (task: BenchTask) => Promise<{ readonly success: boolean; readonly output: string }>;

export interface Contender {
  /** Builds and sorts; returns the resulting structure, to measure its memory. */
  sort(tasks: readonly BenchTask[]): unknown;
  /** Builds, sorts and executes; returns the resulting structure. */
  run?(tasks: readonly BenchTask[], executor: Executor): Promise<unknown>;
}

export const CONTENDERS: Readonly<Record<string, Contender>> = {
  "bare loop": {
    sort: (tasks) => sortFloor(buildFloor(tasks)),
    run: (tasks, executor) => {
      const floor = buildFloor(tasks);
      sortFloor(floor);
      return executeFloor(floor, executor);
    },
  },
  TaskGraph: {
    sort: (tasks) => sortTaskGraph(new TaskGraph(tasks)),
    run: async (tasks, executor) => {
      const graph = new TaskGraph(tasks);
      sortTaskGraph(graph);
      let heard = 0;
      graph.on("task.completed", () => {
        heard++;
      });
      const summary = await graph.execute(executor, { maxParallel: Infinity });
      if (heard !== tasks.length || summary.results.size !== tasks.length)
        throw new Error("not all were heard of");
      return [graph, summary];
    },
  },
  "p-graph": {
    sort: (tasks) => buildPGraph(tasks, undefined),
    run: async (tasks, executor) => {
      const graph = buildPGraph(tasks, executor);
      await graph.run();
      return graph;
    },
  },
  "graphology + dag": {
    sort: (tasks) => {
      const graph = new DirectedGraph();
      for (const task of tasks) graph.addNode(task.id);
      for (const task of tasks) for (const other of task.dependencies) graph.addDirectedEdge(other, task.id);
      topologicalSort(graph);
      return graph;
    },
  },
  "dependency-graph": {
    sort: (tasks) => {
      const graph = new DepGraph<BenchTask>();
      for (const task of tasks) graph.addNode(task.id, task);
      for (const task of tasks) for (const other of task.dependencies) graph.addDependency(task.id, other);
      graph.overallOrder();
      return graph;
    },
  },
};

export const WORKLOADS: Readonly<Record<string, () => BenchTask[]>> = {
  "100,000 independent": () => Array.from({ length: 100_000 }, (_, at) => benchTask(at, [])),
  "1,000 layers of 100": () => Array.from({ length: 100_000 }, (_, at) => benchTask(at, threeAbove(at))),
  "chain of 100,000": () => chain(100_000),
  "chain of 100,000, last first": () => chain(100_000).reverse(),
};

/** What a child process measures, by name. */
export interface SortFigures {
  readonly cpuMs: number;
  /** Memory in use afterwards; after execution if the contender can execute. */
  readonly bytesPerTask: number;
}

export interface RunFigures {
  readonly cpuMs: number;
}

export interface MillionFigures {
  readonly buildMs: number;
  readonly sortMs: number;
  readonly executeMs: number;
  readonly failMs: number;
  readonly bytesPerTask: number;
}

/**
 * Compilers need some rounds; slow contenders get fewer. Limited in processor time, because by the clock a busy machine
 * would measure code that is not compiled yet.
 */
const LONG = { warmUp: { maxRounds: 6, maxCpuMs: 1_200 }, measured: { maxRounds: 9, maxCpuMs: 1_800 } };
const SHORT = { warmUp: { maxRounds: 4, maxCpuMs: 700 }, measured: { maxRounds: 5, maxCpuMs: 900 } };

if (import.meta.main) {
  const [what, name = "", workload = "", form] = process.argv.slice(2);
  if (what === "sort") print(await measureSort(CONTENDERS[name]!, WORKLOADS[workload]!()));
  else if (what === "run")
    print(await measureRun(CONTENDERS[name]!, WORKLOADS[workload]!(), form === "short" ? SHORT : LONG));
  else print(await measureMillion());
}

function print(figures: SortFigures | RunFigures | MillionFigures): void {
  console.log(JSON.stringify(figures));
}

async function measureSort({ sort, run }: Contender, tasks: readonly BenchTask[]): Promise<SortFigures> {
  const before = usedBytes();
  const held = [run === undefined ? sort(tasks) : await run(tasks, execute)];
  const bytesPerTask = (usedBytes() - before) / tasks.length;
  held.length = 0;
  await run?.(tasks, checkingExecutor(tasks));
  return { cpuMs: await warmCpuMs(() => sort(tasks)), bytesPerTask };
}

async function measureRun(
  { run }: Contender,
  tasks: readonly BenchTask[],
  limits: typeof LONG,
): Promise<RunFigures> {
  return { cpuMs: await warmCpuMs(() => run?.(tasks, execute), limits) };
}

/** The median of some rounds after a warm-up. */
async function warmCpuMs(work: () => unknown, { warmUp, measured } = LONG): Promise<number> {
  await rounds(work, warmUp);
  return median(await rounds(work, measured));
}

async function rounds(work: () => unknown, limits: typeof LONG.measured): Promise<number[]> {
  const taken: number[] = [];
  let spent = 0;
  while (taken.length < limits.maxRounds && spent < limits.maxCpuMs) {
    const ms = await steadyCpuMs(work);
    taken.push(ms);
    spent += ms;
  }
  return taken;
}

async function execute(): ReturnType<Executor> {
  return { success: true, output: "" };
}

/** Throws if a task is executed twice, or before its dependencies. */
function checkingExecutor(tasks: readonly BenchTask[]): Executor {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const done = new Set<string>();
  return async (given) => {
    const task = byId.get(given.id)!;
    if (done.has(task.id) || !task.dependencies.every((id) => done.has(id)))
      throw new Error(`wrong order: ${task.id}`);
    done.add(task.id);
    return { success: true, output: "" };
  };
}

/** Sorts and executes a chain of a million tasks, and fails another one at its head. */
async function measureMillion(): Promise<MillionFigures> {
  const tasks = chain(1_000_000);
  const before = usedBytes();
  let at = performance.now();
  const lap = () => {
    const from = at;
    at = performance.now();
    return at - from;
  };
  lap();
  const graph = new TaskGraph(tasks);
  const buildMs = lap();
  if (graph.topologicalSort().length !== tasks.length) throw new Error("not all were sorted");
  const sortMs = lap();
  const summary = await graph.execute(execute);
  const executeMs = lap();
  if (!summary.success) throw new Error("not all completed");
  const bytesPerTask = (usedBytes() - before) / tasks.length;
  const other = new TaskGraph(tasks);
  lap();
  other.markFailed("task-0", "the first one broke");
  const failMs = lap();
  if (other.getProgress().skipped !== tasks.length - 1) throw new Error("not all were skipped");
  return { buildMs, sortMs, executeMs, failMs, bytesPerTask };
}

function sortTaskGraph(graph: TaskGraph): TaskGraph {
  graph.topologicalSort();
  return graph;
}

function buildPGraph(tasks: readonly BenchTask[], executor: Executor | undefined): PGraph {
  const nodes: PGraphNodeMap = new Map();
  const dependencies: [string, string][] = [];
  for (const task of tasks) {
    nodes.set(task.id, executor === undefined ? {} : { run: () => executor(task) });
    for (const other of task.dependencies) dependencies.push([other, task.id]);
  }
  return new PGraph(nodes, dependencies);
}

interface Floor {
  readonly tasks: readonly BenchTask[];
  readonly inDegree: Int32Array;
  /** The dependents of task i are `dependents[first[i] .. first[i + 1]]`. */
  readonly first: Int32Array;
  readonly dependents: Int32Array;
}

/** The least work that any executor of such a list must do: numbers for ids, counters, and lists of dependents. */
function buildFloor(tasks: readonly BenchTask[]): Floor {
  const place = new Map<string, number>();
  for (let i = 0; i < tasks.length; i++) place.set(tasks[i]!.id, i);
  const inDegree = new Int32Array(tasks.length);
  const first = new Int32Array(tasks.length + 1);
  let edges = 0;
  for (let i = 0; i < tasks.length; i++) {
    const { dependencies } = tasks[i]!;
    inDegree[i] = dependencies.length;
    edges += dependencies.length;
    for (const id of dependencies) first[place.get(id)! + 1]!++;
  }
  for (let i = 0; i < tasks.length; i++) first[i + 1]! += first[i]!;
  const dependents = new Int32Array(edges);
  const fill = first.slice();
  for (let i = 0; i < tasks.length; i++) {
    for (const id of tasks[i]!.dependencies) dependents[fill[place.get(id)!]!++] = i;
  }
  return { tasks, inDegree, first, dependents };
}

function sortFloor({ tasks, inDegree, first, dependents }: Floor): readonly BenchTask[] {
  const left = inDegree.slice();
  const order: number[] = [];
  for (let i = 0; i < left.length; i++) if (left[i] === 0) order.push(i);
  for (const i of order) {
    for (let edge = first[i]!; edge < first[i + 1]!; edge++) {
      if (--left[dependents[edge]!]! === 0) order.push(dependents[edge]!);
    }
  }
  if (order.length !== tasks.length) throw new Error("there is a cycle");
  return order.map((i) => tasks[i]!);
}

function executeFloor(floor: Floor, executor: Executor): Promise<Floor> {
  const { tasks, inDegree, first, dependents } = floor;
  const left = inDegree.slice();
  let open = tasks.length;
  return new Promise((resolve, reject) => {
    const run = async (i: number): Promise<void> => {
      await executor(tasks[i]!);
      if (--open === 0) resolve(floor);
      for (let edge = first[i]!; edge < first[i + 1]!; edge++) {
        if (--left[dependents[edge]!]! === 0) run(dependents[edge]!).catch(reject);
      }
    };
    for (let i = 0; i < tasks.length; i++) if (inDegree[i] === 0) run(i).catch(reject);
  });
}

function chain(length: number): BenchTask[] {
  return Array.from({ length }, (_, at) => benchTask(at, at === 0 ? [] : [at - 1]));
}

/** Three tasks of the layer above, spread out and equal in every run. */
function threeAbove(at: number): number[] {
  if (at < 100) return [];
  const above = at - (at % 100) - 100;
  return [above + (at % 100), above + ((at * 7 + 13) % 100), above + ((at * 31 + 57) % 100)].filter(
    (other, place, all) => all.indexOf(other) === place,
  );
}

function benchTask(at: number, dependencies: readonly number[]): BenchTask {
  return {
    id: `task-${at}`,
    description: `Task ${at}`,
    dependencies: dependencies.map((other) => `task-${other}`),
  };
}
