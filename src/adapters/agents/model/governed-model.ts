/** Calls a model under quota, budget and faults: each call is admitted, recorded, retried and settled. */
import { type Failure, failure, messageOf } from "../../../core/failure.ts";
import type { JobId } from "../../../core/job.ts";
import type { TaskId } from "../../../core/task.ts";
import type { Admitted, Governor } from "../../../ports/governor.ts";
import type { CallableModel, Model } from "../../models/providers.ts";
import type { CallOptions, Generated } from "./answer-parts.ts";
import { type CallEnd, callOnce, type Watched } from "./call-once.ts";
import type { Ledger, SetAside } from "./ledger.ts";

type GovernedCalls = Watched & {
  readonly job: JobId;
  readonly task: TaskId;
  readonly chain: readonly [Model, ...Model[]];
  readonly governor: Governor;
  readonly ledger: Ledger;
  readonly maxTransient: number;
  readonly backoff: RetryWaits;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called before and after waits for quota or for other calls, which do not count as the agent's working time. */
  readonly onWait: (isWaiting: boolean) => void;
  /** Removes secrets, because a provider's words about an account go into the log. */
  readonly redact: (text: string) => string;
  readonly onTrouble: (words: string) => void;
};

/** The first wait before a retry; each further one is twice as long, up to `maxMs`. */
export type RetryWaits = { readonly firstMs: number; readonly maxMs: number };

/** Thrown through the SDK to the loop around the model. */
export class CallFailed extends Error {
  readonly why: Failure;
  readonly isTooLong: boolean;

  constructor(why: Failure, isTooLong = false) {
    super(why.message);
    this.why = why;
    this.isTooLong = isTooLong;
  }
}

/**
 * Gives whole answers. Each is read as a stream, so that silence is noticed and a cut answer can be asked for
 * again.
 */
export function governed(parts: GovernedCalls): CallableModel {
  const [first] = parts.chain;
  return {
    specificationVersion: "v4",
    provider: first.spec.provider,
    modelId: first.spec.model,
    supportedUrls: {},
    doGenerate: (options) => answer(parts, options),
    doStream: () => Promise.reject(new Error("a governed model gives whole answers only")),
  };
}

async function answer(parts: GovernedCalls, options: CallOptions): Promise<Generated> {
  const signal = options.abortSignal ?? NEVER;
  for (let transient = 0, quotas = 0; ; ) {
    const call = await openCall(parts, options, signal);
    const end = await callOnce(call.model, options, parts, signal);
    await settle(parts, call, end);
    if (end.is === "answered") {
      parts.onSlow?.(undefined);
      return end.answer;
    }
    if (signal.aborted) throw new CallFailed(INTERRUPTED);
    const { problem } = end;
    if (problem.is === "too-long") throw new CallFailed(problem.failure, true);
    if (problem.is === "failed") throw new CallFailed(problem.failure);
    parts.onTrouble(problem.failure.message);
    if (problem.is === "quota" || problem.is === "authentication")
      parts.governor.refuse(call.model.account, {
        ...problem.failure,
        message: parts.redact(problem.failure.message),
      });
    if (problem.is === "quota" && ++quotas > MAX_QUOTAS) throw new CallFailed(problem.failure);
    // A wrong key gets no fallback: a person must learn of it at once. For a quota, the governor finds a fallback
    // or waits.
    if (problem.is === "authentication") throw new CallFailed(problem.failure);
    if (problem.is === "transient") {
      transient += 1;
      // The first retry is not reported, because it is only seconds away.
      if (transient === 2) parts.onSlow?.(parts.redact(problem.failure.message));
      if (transient > parts.maxTransient) throw new CallFailed(problem.failure);
      await parts.wait(backoffMs(parts.backoff, transient, parts.random()), signal);
      if (signal.aborted) throw new CallFailed(INTERRUPTED);
    }
  }
}

type OpenCall = { readonly model: Model; readonly admitted: Admitted; readonly line: number };

/** Opens a call: the governor admits it, and the ledger on disk has its highest cost before the call is made. */
async function openCall(parts: GovernedCalls, options: CallOptions, signal: AbortSignal): Promise<OpenCall> {
  const { chain, governor, job, task, ledger } = parts;
  const most = chain.map((model) => mostOf(model, options));
  const accounts = [...new Set(chain.map((model) => model.account))] as [string, ...string[]];
  const found = await waiting(parts, () =>
    governor.admit({ job, task, accounts, most: highest(most) }, signal),
  );
  if ("failure" in found) throw new CallFailed(found.failure);
  const place = chain.findIndex((model) => model.account === found.account);
  try {
    if (place < 0) throw new Error(`the account ${found.account} was not asked for`);
    return { model: chain[place]!, admitted: found, line: await ledger.opened(most[place]!) };
  } catch (error) {
    governor.settle(found, NOTHING); // A call that could not be written to disk is not made.
    throw new CallFailed(unwritten(error));
  }
}

async function waiting<T>({ onWait, onSign }: GovernedCalls, wait: () => Promise<T>): Promise<T> {
  // Waiting for a quota may take hours, and the job must not be taken for hung meanwhile.
  const signs = setInterval(onSign, SIGN_MS);
  onWait(true);
  try {
    return await wait();
  } finally {
    clearInterval(signs);
    onWait(false);
  }
}
const SIGN_MS = 30_000;

/** Settles a call. If its cost is unknown, what was set aside stays charged. */
async function settle({ governor, ledger }: GovernedCalls, call: OpenCall, end: CallEnd): Promise<void> {
  const cost = end.is === "answered" ? costOf(call.model, end.answer) : undefined;
  const isFree = end.is === "problem" && !end.problem.mayHaveCost;
  try {
    if (cost) await ledger.ended(call.line, cost);
    else if (isFree) await ledger.refused(call.line);
    else await ledger.unknown(call.line);
  } catch (error) {
    governor.settle(call.admitted, "unknown");
    throw new CallFailed(unwritten(error));
  }
  if (cost)
    governor.settle(call.admitted, { tokens: cost.input + cost.output, ...dollars(cost.microdollars) });
  else governor.settle(call.admitted, isFree ? NOTHING : "unknown");
}

/** The cost of an answer; undefined if the provider reported none, or impossible numbers. */
function costOf(model: Model, { usage, content, finishReason }: Generated) {
  const cacheRead = usage.inputTokens.cacheRead ?? 0;
  const cacheWrite = usage.inputTokens.cacheWrite ?? 0;
  const total = usage.inputTokens.total ?? 0;
  // Some providers leave the cache out of the total.
  const isBeside = cacheRead + cacheWrite > total;
  const input = isBeside ? total + cacheRead + cacheWrite : total;
  const output = usage.outputTokens.total ?? -1;
  if (![input, output, cacheRead, cacheWrite].every(isCount) || input === 0) return undefined;
  const use = { input, output, cacheRead, cacheWrite };
  return {
    ...use,
    ...dollars(model.cost(use)),
    toolCalls: content.filter((part) => part.type === "tool-call").length,
    stop: finishReason.unified,
  };
}

const isCount = (tokens: number): boolean => Number.isSafeInteger(tokens) && tokens >= 0;

/**
 * Text and code have three bytes a token or more, Chinese two and a half. Two is safe, without setting so much
 * aside that it fills a budget.
 */
const BYTES_PER_TOKEN = 2;

function mostOf(model: Model, { prompt, tools }: CallOptions): SetAside {
  const input = Math.ceil(Buffer.byteLength(JSON.stringify([prompt, tools])) / BYTES_PER_TOKEN);
  const output = model.maxOutputTokens;
  const plain = model.cost({ input, output, cacheRead: 0, cacheWrite: 0 });
  const cached = model.cost({ input, output, cacheRead: 0, cacheWrite: input }); // Writing to a cache costs more.
  const microdollars = plain === undefined || cached === undefined ? undefined : Math.max(plain, cached);
  return { model: model.id, tokens: input + output, ...dollars(microdollars) };
}

/** The highest of all, because any model of the chain may be called in the end. */
function highest(all: readonly SetAside[]): { readonly tokens: number; readonly microdollars?: number } {
  const prices = all.flatMap(({ microdollars }) => (microdollars === undefined ? [] : [microdollars]));
  return {
    tokens: Math.max(...all.map((one) => one.tokens)),
    ...dollars(prices.length === all.length ? Math.max(...prices) : undefined),
  };
}

const dollars = (microdollars: number | undefined) => (microdollars === undefined ? {} : { microdollars });

/** How often the governor waits again after a quota refusal of the same call. */
const MAX_QUOTAS = 50;

const NOTHING = { tokens: 0, microdollars: 0 };
const NEVER = new AbortController().signal;
const INTERRUPTED = failure("interrupted", "the agent was stopped");

const unwritten = (error: unknown): Failure =>
  failure(
    "interrupted",
    `what the call may cost could not be recorded: ${messageOf(error)}`,
    "see whether the disk is full or read-only",
  );

/** The wait before a retry, with a random part, so that many jobs do not retry at once. */
const backoffMs = ({ firstMs, maxMs }: RetryWaits, tries: number, random: number): number =>
  Math.min(maxMs, firstMs * 2 ** (tries - 1)) * (0.5 + random / 2);
