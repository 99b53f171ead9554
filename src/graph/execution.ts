/** Executes a task graph: starts each task when it is ready, reads its result, and ends when none is left. */
import { CycleError } from "./dag.ts";
import type { ExecutionSummary } from "./graph-events.ts";
import type { PlannedTask, TaskResult } from "./planned-task.ts";
import { isSettled, messageOf, type TaskNode, type TaskRun, type TaskTable, taskOf } from "./task-table.ts";
import { openCycleOf } from "./topological-order.ts";

/** What an executor returns; `duration` is measured if it is missing. */
export interface ExecutorResult {
  readonly success: boolean;
  readonly output?: string;
  readonly duration?: number;
  readonly error?: string;
}

export interface TaskContext {
  /** Aborted when the execution is aborted, or when the task was settled from outside. */
  readonly signal: AbortSignal;
}

export type TaskExecutor = (
  task: PlannedTask,
  context: TaskContext,
) => ExecutorResult | PromiseLike<ExecutorResult>;

export interface ExecuteOptions {
  /** The maximum number of executors that run at the same time: a whole number from 1, or Infinity; 8 unless given. */
  readonly maxParallel?: number;
  /** Aborting it starts no more tasks; running executors are told through their own signal. */
  readonly signal?: AbortSignal;
  /** How long an abort waits for running executors to return; 5,000 unless given, Infinity for as long as it takes. */
  readonly abortGraceMs?: number;
  /** A clock in milliseconds, for durations. */
  readonly now?: () => number;
}

type CheckedOptions = Required<Omit<ExecuteOptions, "signal">> & Pick<ExecuteOptions, "signal">;

/**
 * One execution. It starts ready tasks while fewer than `maxParallel` run, and is woken by each executor that returns
 * and by each change from outside. It has no timer except the one after an abort.
 */
export class Execution {
  readonly #table: TaskTable;
  readonly #executor: TaskExecutor;
  readonly #options: CheckedOptions;
  readonly #finished = Promise.withResolvers<ExecutionSummary>();
  /** In the order in which the tasks ended. */
  readonly #results = new Map<string, TaskResult>();
  readonly #beganAt: number;
  /** Executors that have not returned. */
  #active = 0;
  #isBusy = false;
  #isOver = false;
  #runningAtAbort: readonly string[] | undefined;
  #grace: NodeJS.Timeout | undefined;

  constructor(table: TaskTable, executor: TaskExecutor, options: ExecuteOptions) {
    this.#table = table;
    this.#executor = executor;
    this.#options = checkedOptions(options);
    this.#beganAt = this.#options.now();
  }

  run(): Promise<ExecutionSummary> {
    const { signal } = this.#options;
    if (signal?.aborted) this.#runningAtAbort = [];
    else signal?.addEventListener("abort", this.#abort, { once: true });
    this.wake();
    return this.#finished.promise;
  }

  /** Starts what can be started; if nothing runs after that, the execution is over. */
  wake(): void {
    if (this.#isBusy || this.#isOver) return;
    this.#isBusy = true;
    try {
      while (this.#active < this.#options.maxParallel && this.#runningAtAbort === undefined) {
        const task = this.#table.dag.peek();
        if (task === undefined) break;
        this.#start(task);
      }
    } finally {
      this.#isBusy = false;
    }
    if (this.#active === 0) this.#end();
    else if (this.#runningAtAbort !== undefined) this.#limitGrace();
  }

  #start(task: TaskNode): void {
    const run = new Run(task);
    if (!this.#table.start(task, run)) return;
    this.#active++;
    run.calledAt = this.#options.now();
    const returned = this.#call(run);
    if (!(returned instanceof Promise)) {
      this.#settle(run, returned);
    } else {
      returned.then(
        (value) => this.#settleLater(run, value),
        (error: unknown) => this.#settleLater(run, new Thrown(error)),
      );
    }
  }

  #call(run: Run): Returned | Promise<ExecutorResult> {
    // A listener to the start may have aborted everything.
    if (this.#runningAtAbort !== undefined) return new Thrown(this.#options.signal?.reason);
    try {
      const returned = this.#executor(taskOf(run.task), run);
      if (returned instanceof Promise && returned.then === Promise.prototype.then) return returned;
      // A user's own `then` may throw or call back twice; a promise around it does not.
      return isPromise(returned) ? new Promise((resolve) => resolve(returned)) : returned;
    } catch (error) {
      return new Thrown(error);
    }
  }

  #settleLater(run: Run, returned: Returned): void {
    this.#isBusy = true;
    try {
      this.#settle(run, returned);
    } finally {
      this.#isBusy = false;
    }
    this.wake();
  }

  #settle(run: Run, returned: Returned): void {
    this.#active--;
    const { task } = run;
    const result = resultOf(returned, this.#options.now() - run.calledAt);
    // The task was settled or given back while the executor ran, or while a getter of its answer ran: the answer comes
    // too late.
    if (task.run !== run) return;
    task.run = undefined;
    if (result.success) this.#table.complete(task, result);
    // The abort stopped the task, so it did not fail: it can run again.
    else if (this.#runningAtAbort !== undefined) this.#table.interrupt(task);
    else this.#table.fail(task, result.error!, result);
    // A task that was given back has no result, even if a listener settled it meanwhile.
    if (task.result !== undefined) this.#results.set(task.id, task.result);
  }

  readonly #abort = (): void => {
    const runs = this.#runs();
    this.#runningAtAbort = runs.map((run) => run.task.id);
    for (const run of runs) run.stop(this.#options.signal?.reason);
    this.wake();
  };

  #limitGrace(): void {
    const { abortGraceMs } = this.#options;
    if (abortGraceMs === 0) this.#end();
    else if (abortGraceMs <= MAX_TIMER_MS) this.#grace ??= setTimeout(() => this.#end(), abortGraceMs);
  }

  #runs(): Run[] {
    return this.#table.runs().filter((run) => run instanceof Run);
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#grace);
    this.#options.signal?.removeEventListener("abort", this.#abort);
    if (this.#active > 0) {
      for (const run of this.#runs()) {
        const { task } = run;
        // A listener of an earlier event may have settled the task or given it back.
        if (task.run !== run) continue;
        task.run = undefined;
        this.#table.interrupt(task);
      }
    }
    this.#finished.resolve(this.#summary());
  }

  #summary(): ExecutionSummary {
    const progress = this.#table.progress();
    const open = progress.pending + progress.running;
    const unfinished = open === 0 ? [] : this.#table.tasks().filter((task) => !isSettled(task.status));
    const aborted = this.#runningAtAbort !== undefined;
    const blocked = aborted || unfinished.length === 0 ? undefined : blockedBy(this.#table);
    return {
      success: progress.completed === progress.total,
      aborted,
      results: this.#results,
      runningAtAbort: this.#runningAtAbort ?? [],
      unfinished: unfinished.map((task) => task.id),
      ...(blocked !== undefined && { blocked }),
      listenerErrors: this.#table.events.takeErrors(),
      progress,
      totalCount: progress.total,
      completedCount: progress.completed,
      failedCount: progress.failed,
      skippedCount: progress.skipped,
      cancelledCount: progress.cancelled,
      durationMs: this.#options.now() - this.#beganAt,
    };
  }
}

/** Why some task can never start: a dependency that is not in the graph, or a cycle. Undefined if all can start. */
export function obstacleIn(table: TaskTable): Error | undefined {
  const missing = table.dag.missing().filter(({ neededBy }) => !isSettled(neededBy.status));
  if (missing.length === 0) {
    const cycle = openCycleOf(table.dag);
    return cycle && new CycleError(cycle.map(({ id }) => id));
  }
  const named = missing.slice(0, MAX_NAMED).map(({ id, neededBy }) => `"${id}" (needed by "${neededBy.id}")`);
  const more = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : "";
  return new Error(`not in the graph: ${named.join(", ")}${more}; add the task or drop the dependency`);
}

const MAX_NAMED = 10;

/** Timers count in 31 bits, 24 days; a longer time means for ever. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function blockedBy(table: TaskTable): string {
  const obstacle = obstacleIn(table);
  if (obstacle !== undefined) return obstacle.message;
  const open = table.tasks().filter((task) => !isSettled(task.status));
  const running = open.find((task) => task.status === "running");
  if (running === undefined) return `"${open[0]?.id}" waits for a change that is still under way`;
  return `"${running.id}" was marked as running by someone else and has not ended`;
}

/**
 * An executor that runs on one task, and the context it gets. The abort controller is created when the signal is first
 * read.
 */
class Run implements TaskRun, TaskContext {
  readonly task: TaskNode;
  /** When its executor was called. */
  calledAt = 0;
  #controller: AbortController | undefined;
  #stopped: { readonly reason: unknown } | undefined;

  constructor(task: TaskNode) {
    this.task = task;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#stopped !== undefined) this.#controller.abort(this.#stopped.reason);
    }
    return this.#controller.signal;
  }

  stop(reason: unknown): void {
    this.#stopped ??= { reason };
    this.#controller?.abort(reason);
  }
}

/** An error that an executor threw, or that its promise was rejected with. */
class Thrown {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** Users supply the executors, so at run time they may return anything. */
type Returned = ExecutorResult | Thrown | undefined;

function resultOf(returned: Returned, measuredMs: number): TaskResult {
  try {
    return returned instanceof Thrown
      ? failure(messageOf(returned.error), measuredMs)
      : readResult(returned, measuredMs);
  } catch (error) {
    return failure(`the result of the executor cannot be read: ${messageOf(error)}`, measuredMs);
  }
}

function readResult(returned: ExecutorResult | undefined, measuredMs: number): TaskResult {
  if (returned === undefined || returned === null) return failure(NO_RESULT, measuredMs);
  const { success, output = "", duration: given, error } = returned;
  if (typeof success !== "boolean") return failure(NO_RESULT, measuredMs);
  const duration = isDuration(given) ? given : measuredMs;
  const hasError = error !== undefined && error !== null;
  if (success && !hasError) return Object.freeze({ success, output, duration });
  return Object.freeze({ success, output, duration, error: hasError ? messageOf(error) : NO_REASON });
}

function failure(error: string, duration: number): TaskResult {
  return Object.freeze({ success: false, output: "", duration, error });
}

function isDuration(given: unknown): given is number {
  return typeof given === "number" && given >= 0 && given < Infinity;
}

const NO_REASON = "the executor reported a failure and gave no reason";
const NO_RESULT = "the executor returned no result: expected { success, output }";

function isPromise(
  returned: ExecutorResult | PromiseLike<ExecutorResult>,
): returned is PromiseLike<ExecutorResult> {
  return typeof returned === "object" && returned !== null && "then" in returned;
}

const clock = performance.now.bind(performance);

function checkedOptions(options: ExecuteOptions): CheckedOptions {
  const { maxParallel = 8, abortGraceMs = 5_000, now = clock, signal } = options;
  if (maxParallel !== Infinity && !(Number.isSafeInteger(maxParallel) && maxParallel > 0)) {
    throw new Error(`maxParallel must be a whole number from 1, or Infinity; got ${maxParallel}`);
  }
  if (!(abortGraceMs >= 0)) throw new Error(`abortGraceMs must be a number from 0; got ${abortGraceMs}`);
  return { maxParallel, abortGraceMs, now, ...(signal !== undefined && { signal }) };
}
