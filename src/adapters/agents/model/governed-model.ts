/** How is a model called so that quota, money and faults are looked after? Admitted, written down, tried again, settled. */
import { type Failure, failure } from "../../../core/failure.ts";
import type { JobId } from "../../../core/job.ts";
import type { TaskId } from "../../../core/task.ts";
import type { Admitted, Governor } from "../../../ports/governor.ts";
import type { CallableModel, Model } from "../../models/providers.ts";
import type { CallOptions, Generated } from "./answer-parts.ts";
import { type CallEnd, callOnce, type Watched } from "./call-once.ts";
import type { Ledger, SetAside } from "./ledger.ts";

export type Governed = Watched & {
  readonly job: JobId;
  readonly task: TaskId;
  /** The model, then what may stand in for it. */
  readonly chain: readonly [Model, ...Model[]];
  readonly governor: Governor;
  readonly ledger: Ledger;
  /** Of tries in a row that failed for no reason of ours. */
  readonly maxTransient: number;
  /** Between them: the first wait, then twice as long each time, up to the last. */
  readonly backoff: Backoff;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Resolves early when the signal comes. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Around a wait that is not the agent's: for quota, or for other calls. */
  readonly onWait: (isWaiting: boolean) => void;
  /** Blots out secrets: what a provider says of an account goes into the log. */
  readonly redact: (text: string) => string;
  /** In words, for people. */
  readonly onTrouble: (words: string) => void;
};

export type Backoff = { readonly firstMs: number; readonly maxMs: number };

/** What the loop around the model catches: the library hands it on as it is. */
export class CallFailed extends Error {
  readonly why: Failure;
  readonly isTooLong: boolean;

  constructor(why: Failure, isTooLong = false) {
    super(why.message);
    this.why = why;
    this.isTooLong = isTooLong;
  }
}

/** Asked for whole answers; each is made of a stream, so that silence is seen, and what was cut off can be asked again. */
export function governed(parts: Governed): CallableModel {
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

async function answer(parts: Governed, options: CallOptions): Promise<Generated> {
  const signal = options.abortSignal ?? NEVER;
  for (let transient = 0, quotas = 0; ; ) {
    const call = await admitted(parts, options, signal);
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
    // No fallback: a person must hear of a wrong key at once. For a quota the governor finds one, or waits.
    if (problem.is === "authentication") throw new CallFailed(problem.failure);
    if (problem.is === "transient") {
      transient += 1;
      // Once is no news: the next try is only seconds away.
      if (transient === 2) parts.onSlow?.(parts.redact(problem.failure.message));
      if (transient > parts.maxTransient) throw new CallFailed(problem.failure);
      await parts.wait(backoffMs(parts.backoff, transient, parts.random()), signal);
      if (signal.aborted) throw new CallFailed(INTERRUPTED);
    }
  }
}

type OpenCall = { readonly model: Model; readonly admitted: Admitted; readonly line: number };

/** Admitted by the governor, and on the disk with what it may cost. */
async function admitted(parts: Governed, options: CallOptions, signal: AbortSignal): Promise<OpenCall> {
  const { chain, governor, job, task, ledger } = parts;
  const most = chain.map((model) => mostOf(model, options));
  const accounts = [...new Set(chain.map((model) => model.account))] as [string, ...string[]];
  const found = await waiting(parts, () =>
    governor.admit({ job, task, accounts, most: highest(most) }, signal),
  );
  if ("failure" in found) throw new CallFailed(found.failure);
  const place = chain.findIndex((model) => model.account === found.account);
  try {
    if (place < 0) throw new Error(`nobody asked for the account ${found.account}`);
    return { model: chain[place]!, admitted: found, line: await ledger.opened(most[place]!) };
  } catch (error) {
    governor.settle(found, NOTHING); // A call that is not on the disk is not made.
    throw new CallFailed(unwritten(error));
  }
}

async function waiting<T>({ onWait, onSign }: Governed, wait: () => Promise<T>): Promise<T> {
  // Whoever waits for a quota is alive, and that may take hours.
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

/** What is known of the cost: exactly, nothing at all, or unknown, and then what was set aside stays charged. */
async function settle({ governor, ledger }: Governed, call: OpenCall, end: CallEnd): Promise<void> {
  const cost = end.is === "answered" ? costOf(call.model, end.answer) : undefined;
  try {
    if (cost) await ledger.ended(call.line, cost);
    else if (end.is === "problem" && !end.problem.mayHaveCost) await ledger.refused(call.line);
    else await ledger.unknown(call.line);
  } catch (error) {
    governor.settle(call.admitted, "unknown");
    throw new CallFailed(unwritten(error));
  }
  if (cost)
    governor.settle(call.admitted, { tokens: cost.input + cost.output, ...dollars(cost.microdollars) });
  else governor.settle(call.admitted, end.is === "problem" && !end.problem.mayHaveCost ? NOTHING : "unknown");
}

/** Undefined if the provider did not say, or what cannot be: no prompt has no tokens. */
function costOf(model: Model, { usage, content, finishReason }: Generated) {
  const cacheRead = usage.inputTokens.cacheRead ?? 0;
  const cacheWrite = usage.inputTokens.cacheWrite ?? 0;
  const total = usage.inputTokens.total ?? 0;
  // Some leave it out of the sum; a part that is more than the whole would cost less than nothing.
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
 * Plain text and code come to three bytes a token or more, Chinese to two and a half; emoji alone take more tokens than
 * this, and no prompt is made of them. So it is safe, and not so high that a budget is full of what is set aside.
 */
const BYTES_PER_TOKEN = 2;

function mostOf(model: Model, { prompt, tools }: CallOptions): SetAside {
  const input = Math.ceil(Buffer.byteLength(JSON.stringify([prompt, tools])) / BYTES_PER_TOKEN);
  const output = model.maxOutputTokens;
  const plain = model.cost({ input, output, cacheRead: 0, cacheWrite: 0 });
  const cached = model.cost({ input, output, cacheRead: 0, cacheWrite: input }); // To write to a cache costs more.
  const microdollars = plain === undefined || cached === undefined ? undefined : Math.max(plain, cached);
  return { model: model.id, tokens: input + output, ...dollars(microdollars) };
}

/** Whoever is called in the end. */
function highest(all: readonly SetAside[]): { readonly tokens: number; readonly microdollars?: number } {
  const prices = all.flatMap(({ microdollars }) => (microdollars === undefined ? [] : [microdollars]));
  return {
    tokens: Math.max(...all.map((one) => one.tokens)),
    ...dollars(prices.length === all.length ? Math.max(...prices) : undefined),
  };
}

const dollars = (microdollars: number | undefined) => (microdollars === undefined ? {} : { microdollars });

/** Of one call: the governor waits between them, and whoever is refused so often is better ended than waited for. */
const MAX_QUOTAS = 50;

const NOTHING = { tokens: 0, microdollars: 0 };
const NEVER = new AbortController().signal;
const INTERRUPTED = failure("interrupted", "the agent was told to stop");

const unwritten = (error: unknown): Failure =>
  failure(
    "interrupted",
    `what the call may cost could not be written down: ${error instanceof Error ? error.message : String(error)}`,
    "see whether the disk is full or read-only",
  );

/** At least half of it, so that many do not come back at once. */
const backoffMs = ({ firstMs, maxMs }: Backoff, tries: number, random: number): number =>
  Math.min(maxMs, firstMs * 2 ** (tries - 1)) * (0.5 + random / 2);
