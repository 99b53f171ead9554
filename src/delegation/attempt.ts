/** Runs one attempt at a task, with a time limit. Every kind of failure becomes a value. */
import { messageOf } from "../core/failure.ts";
import { unreachable } from "../core/unreachable.ts";
import type { ExecutorResult } from "../graph/execution.ts";
import type { TaskResult } from "../graph/planned-task.ts";
import { amountOf, fieldOf, reasonOf, shown } from "./foreign.ts";

/** What an executor gets. */
export type Attempt = {
  /** 1 is the first, 2 the first retry. */
  readonly attempt: number;
  readonly subagent: string;
  /** Aborted when the time is up or the caller stopped the task: stop then, because the answer is no longer used. */
  readonly signal: AbortSignal;
  /** The failed attempts before this one, oldest first. */
  readonly earlier: readonly FailedAttempt[];
  /** Stores partial output, in place of what was stored before: it is kept after a timeout. */
  readonly keep: (partialOutput: string) => void;
};

/** `permanent` on a failed result says that retrying is pointless; so does `permanent` on a thrown error. */
export type AttemptResult = ExecutorResult & { readonly permanent?: boolean };
export type AttemptExecutor = (attempt: Attempt) => AttemptResult | PromiseLike<AttemptResult>;

export type FailedAttempt = {
  readonly attempt: number;
  readonly error: string;
  /** The partial output when it failed; empty if nothing was stored. */
  readonly output: string;
  readonly duration: number;
};

type AttemptEnd = { readonly result: TaskResult; readonly mayRetry: boolean };

/** The clock, as an argument: `sleep` ends early, resolved or rejected, when its signal is aborted. */
export type Timing = {
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

type AttemptLimits = {
  readonly timeoutMs: number;
  readonly timing: Timing;
  readonly signal: AbortSignal | undefined;
};

export async function runAttempt(
  executor: AttemptExecutor,
  about: Pick<Attempt, "attempt" | "subagent" | "earlier">,
  { timeoutMs, timing, signal }: AttemptLimits,
): Promise<AttemptEnd> {
  const startedAt = timing.now();
  let partial = "";
  const keep = (output: unknown) => {
    partial = shown(output);
  };
  const executing = new AbortController();
  const answer = answerOf(executor, { ...about, signal: executing.signal, keep });
  const ending = await firstOf(answer, { timeoutMs, timing, signal });
  if (ending.is === "late") executing.abort(new Error(`no answer within ${timeoutMs} ms`));
  if (ending.is === "aborted") executing.abort(signal?.reason);
  return judge(ending, { partial, duration: timing.now() - startedAt, timeoutMs, reason: signal?.reason });
}

/** The error text of a task that was cancelled from outside. */
export const cancelledBecause = (reason: unknown) => `cancelled: ${messageOf(reason)}`;

type Answer =
  | { readonly is: "answered"; readonly value: unknown }
  | { readonly is: "threw"; readonly error: unknown };
type Ending = Answer | { readonly is: "late" } | { readonly is: "aborted" };

/** Never rejects, so that an answer that is no longer awaited cannot crash the process. */
async function answerOf(executor: AttemptExecutor, attempt: Attempt): Promise<Answer> {
  try {
    return { is: "answered", value: await executor(attempt) };
  } catch (error) {
    return { is: "threw", error };
  }
}

async function firstOf(answer: Promise<Answer>, limits: AttemptLimits): Promise<Ending> {
  const { timeoutMs, timing, signal } = limits;
  const waiting = new AbortController();
  const aborted = new Promise<Ending>((resolve) => {
    if (signal?.aborted) resolve({ is: "aborted" });
    signal?.addEventListener("abort", () => resolve({ is: "aborted" }), { signal: waiting.signal });
  });
  const endings = [answer, aborted];
  if (timeoutMs !== Infinity) endings.push(lateAfter(timeoutMs, timing, waiting.signal));
  try {
    return await Promise.race(endings);
  } finally {
    waiting.abort(); // Removes the timer and the listener on the caller's signal.
  }
}

async function lateAfter(timeoutMs: number, timing: Timing, signal: AbortSignal): Promise<Ending> {
  try {
    await timing.sleep(timeoutMs, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return { is: "late" };
}

type Circumstances = {
  readonly partial: string;
  readonly duration: number;
  readonly timeoutMs: number;
  readonly reason: unknown;
};

function judge(ending: Ending, { partial, duration, timeoutMs, reason }: Circumstances): AttemptEnd {
  const failed = (error: string, output = partial) => ({ success: false, output, duration, error });
  switch (ending.is) {
    case "late":
      return { result: failed(`no answer within ${timeoutMs} ms`), mayRetry: true };
    case "aborted":
      return { result: failed(cancelledBecause(reason)), mayRetry: false };
    case "threw":
      return {
        result: failed(messageOf(ending.error), textOf(fieldOf(ending.error, "output")) ?? partial),
        mayRetry: fieldOf(ending.error, "permanent") !== true,
      };
    case "answered":
      return accept(ending.value, partial, duration);
    default:
      return unreachable(ending);
  }
}

/** Reads each field once, separately, because an executor may not keep to its types. */
function accept(answer: unknown, partial: string, measured: number): AttemptEnd {
  const success = fieldOf(answer, "success");
  if (typeof success !== "boolean") {
    const error = `the executor must answer {success, output}; got ${messageOf(answer)}`;
    return { result: { success: false, output: partial, duration: measured, error }, mayRetry: true };
  }
  const output = shown(fieldOf(answer, "output") ?? partial);
  const duration = amountOf(fieldOf(answer, "duration")) ?? measured;
  if (success) return { result: { success, output, duration }, mayRetry: false };
  const error = reasonOf(fieldOf(answer, "error")) || "failed without a reason";
  const result = { success, output: output || partial, duration, error };
  return { result, mayRetry: !fieldOf(answer, "permanent") };
}

const textOf = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
