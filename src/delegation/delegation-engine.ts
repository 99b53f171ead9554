/** Gives each task to a specialist, retries it on failure, and shares its output with the tasks that depend on it. */
import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../core/failure.ts";
import type { PlannedTask, TaskResult } from "../graph/planned-task.ts";
import { type AggregatedResults, aggregateResults, type DelegatedResult } from "./aggregate.ts";
import {
  type AttemptExecutor,
  cancelledBecause,
  type FailedAttempt,
  runAttempt,
  type Timing,
} from "./attempt.ts";
import { DEFAULT_SUBAGENT, HEURISTICS, type Heuristic } from "./heuristics.ts";
import { type Mention, mentionOf, read, type TaskType } from "./keywords.ts";
import { delayBefore, type RetryPolicy, retryPolicy } from "./retry-policy.ts";
import { type Counted, counted, mostMentioned, type Entry as RosterEntry } from "./roster.ts";
import { type HandedContext, handedContext, MIN_CONTEXT_CHARS } from "./shared-context.ts";

export type DelegationOptions = Partial<RetryPolicy> & {
  /** Replaces the published table; empty for none. */
  readonly heuristics?: readonly Heuristic[];
  /**
   * Comes between mappings and heuristics: the entry with most keywords in the description, at least two; of equal ones
   * the first.
   */
  readonly roster?: readonly RosterEntry[];
  /** The largest length of `contextFor`'s text. */
  readonly maxContextChars?: number;
  /** A random number for the jitter: 0 ≤ x < 1. */
  readonly random?: () => number;
  readonly timing?: Timing;
};

export type Mapping = {
  /** A keyword, a phrase or a pattern that is searched for in the description. */
  readonly taskType: TaskType;
  readonly subagent: string;
  /** Higher wins; 0 unless given. */
  readonly priority?: number;
};

/** The result of a task, with its failed attempts. */
export type RetriedResult = DelegatedResult & { readonly failedAttempts: readonly FailedAttempt[] };

/**
 * ```ts
 * const delegation = new DelegationEngine({ maxRetries: 2 });
 * delegation.addMapping({ taskType: "migration", subagent: "database-expert", priority: 10 });
 * await graph.execute(async (task, { signal }) => {
 *   const { result } = await delegation.executeWithRetry(task, (attempt) => ask(task, attempt), { signal });
 *   return result;
 * });
 * ```
 */
export class DelegationEngine {
  readonly #policy: RetryPolicy;
  readonly #maxContextChars: number;
  readonly #random: () => number;
  readonly #timing: Timing;
  readonly #heuristics: readonly { readonly subagent: string; readonly mention: Mention }[];
  readonly #roster: readonly Counted[];
  /** Highest priority first, equal ones as they came. */
  readonly #mappings: { subagent: string; priority: number; mention: Mention }[] = [];
  readonly #sharedContext = new Map<string, unknown>();

  constructor(options: DelegationOptions = {}) {
    const {
      heuristics = HEURISTICS,
      roster = [],
      maxContextChars = 20_000,
      random = Math.random,
      timing = REAL_TIME,
    } = options;
    this.#policy = retryPolicy(options);
    if (typeof maxContextChars !== "number" || !(maxContextChars >= MIN_CONTEXT_CHARS))
      throw new RangeError(
        `maxContextChars must be a number from ${MIN_CONTEXT_CHARS}; got ${kindOf(maxContextChars)}`,
      );
    if (!Array.isArray(heuristics))
      throw new TypeError(`heuristics must be a list of {subagent, keywords}; got ${kindOf(heuristics)}`);
    this.#roster = roster.map(counted);
    this.#maxContextChars = maxContextChars;
    this.#random = random;
    this.#timing = timing;
    this.#heuristics = heuristics.map(({ subagent, keywords }) => ({
      subagent,
      mention: mentionOf(keywords),
    }));
  }

  /**
   * Mappings come before the heuristics. Of several that match, the highest priority wins, then the one added first.
   */
  addMapping({ taskType, subagent, priority = 0 }: Mapping): void {
    if (typeof subagent !== "string" || subagent.trim() === "")
      throw new Error(`the mapping of ${String(taskType)} needs the name of a subagent`);
    if (!Number.isFinite(priority))
      throw new RangeError(
        `the priority of the mapping of ${String(taskType)} must be a number; got ${priority}`,
      );
    const mapping = { subagent, priority, mention: mentionOf([taskType]) };
    const at = this.#mappings.findIndex((other) => other.priority < priority);
    this.#mappings.splice(at === -1 ? this.#mappings.length : at, 0, mapping);
  }

  /**
   * The subagent that the task names, else the first matching mapping, else the roster, else the heuristics, else
   * `main`.
   */
  matchSubagent(task: Pick<PlannedTask, "description" | "delegateTo">): string {
    const { delegateTo, description } = task;
    // Null counts as missing, because tasks are often read from JSON.
    if (typeof (delegateTo ?? "") !== "string")
      throw new TypeError(`a task's delegateTo must be the name of a subagent; got ${kindOf(delegateTo)}`);
    const named = delegateTo?.trim();
    if (named) return named;
    if (typeof description !== "string")
      throw new TypeError(`a task's description must be text; got ${kindOf(description)}`);
    const reading = read(description);
    const mapping = this.#mappings.find(({ mention }) => mention(reading) !== -1);
    if (mapping) return mapping.subagent;
    const chosen = mostMentioned(this.#roster, reading);
    if (chosen) return chosen.subagent;
    let best = { subagent: DEFAULT_SUBAGENT, at: Number.POSITIVE_INFINITY };
    for (const { subagent, mention } of this.#heuristics) {
      const at = mention(reading);
      if (at !== -1 && at < best.at) best = { subagent, at };
    }
    return best.subagent;
  }

  /**
   * Attempts a task until it succeeds, fails permanently, has no retries left or is aborted. Never rejects for an error
   * of the executor. The output of a success goes into the shared context.
   */
  async executeWithRetry(
    task: Pick<PlannedTask, "id" | "description" | "delegateTo">,
    executor: AttemptExecutor,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<RetriedResult> {
    const subagent = this.matchSubagent(task);
    const limits = { timeoutMs: this.#policy.attemptTimeoutMs, timing: this.#timing, signal };
    const failed: FailedAttempt[] = [];
    const ended = (result: TaskResult, retries: number) => ({
      taskId: task.id,
      subagent,
      result: result.success ? result : { ...result, output: lastOutput(result, failed) },
      retries,
      failedAttempts: failed,
    });

    for (let retries = 0; ; retries += 1) {
      if (signal?.aborted) return ended(cancelled(signal), Math.max(0, retries - 1));
      const about = { attempt: retries + 1, subagent, earlier: failed.slice() };
      const { result, mayRetry } = await runAttempt(executor, about, limits);
      if (result.success) {
        this.#sharedContext.set(task.id, result.output);
        return ended(result, retries);
      }
      const { error = "", output, duration } = result;
      failed.push({ attempt: retries + 1, error, output, duration });
      if (!mayRetry || retries === this.#policy.maxRetries) return ended(result, retries);
      await this.#pause(delayBefore(retries + 1, this.#policy, this.#random), signal);
    }
  }

  aggregateResults(results: readonly DelegatedResult[]): AggregatedResults {
    return aggregateResults(results);
  }

  /** A live map: entries set here are available to every task; a successful task's output is stored under its id. */
  getSharedContext(): Map<string, unknown> {
    return this.#sharedContext;
  }

  /** The outputs of a task's dependencies as one text of bounded length, for its prompt. */
  contextFor(task: Pick<PlannedTask, "dependencies">): HandedContext {
    return handedContext(task.dependencies, this.#sharedContext, this.#maxContextChars);
  }

  /** Returns early when aborted, even if the given `sleep` ignores its signal. */
  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) return; // An aborted signal does not fire again.
    const over = new AbortController();
    const aborted = new Promise<void>((resolve) => {
      signal?.addEventListener("abort", () => resolve(over.abort()), { signal: over.signal });
    });
    const slept = this.#timing.sleep(ms, over.signal).catch((error: unknown) => {
      if (!over.signal.aborted) throw error;
    });
    await Promise.race([slept, aborted]);
    over.abort();
  }
}

/** Describes an invalid value in an error message: 5 and "5" look different. */
const kindOf = (value: unknown) =>
  typeof value === "number" || value === null ? `${value}` : `${typeof value} ${messageOf(value)}`;

/** An attempt without output does not replace the output of an earlier one. */
const lastOutput = (result: TaskResult, failed: readonly FailedAttempt[]) =>
  result.output || (failed.findLast(({ output }) => output !== "")?.output ?? "");

const cancelled = (signal: AbortSignal): TaskResult => ({
  success: false,
  output: "",
  duration: 0,
  error: cancelledBecause(signal.reason),
});

const REAL_TIME: Timing = {
  now: () => performance.now(),
  sleep: (ms, signal) => wait(ms, undefined, { signal }),
};
