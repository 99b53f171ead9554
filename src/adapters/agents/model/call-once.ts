/** Makes one call of a model: ends with a whole answer or a problem, and cuts silent and endless streams. */
import { failure } from "../../../core/failure.ts";
import { type CallProblem, problemOf } from "../../models/errors.ts";
import type { CallableModel, Model } from "../../models/providers.ts";
import { orAbort } from "../../or-abort.ts";
import { AnswerParts, type CallOptions, type Generated, type StreamPart } from "./answer-parts.ts";

export type Watched = {
  /** A stream that is silent for longer is cut. */
  readonly maxSilenceMs: number;
  readonly now: () => number;
  /** Called at every part of an answer, and now and then during waits. */
  readonly onSign: () => void;
  readonly onPart: (part: StreamPart) => void;
  readonly onSlow?: (doing: string | undefined) => void;
};

export type CallEnd =
  | { readonly is: "answered"; readonly answer: Generated }
  | { readonly is: "problem"; readonly problem: CallProblem };

export async function callOnce(
  model: Model,
  options: CallOptions,
  parts: Watched,
  signal: AbortSignal,
): Promise<CallEnd> {
  const silence = new AbortController();
  const silent = new Error(`the connection was silent for ${Math.round(parts.maxSilenceMs / 1_000)} s`);
  const timer = setTimeout(() => silence.abort(silent), parts.maxSilenceMs);
  const stop = AbortSignal.any([signal, silence.signal]);
  const isSlow = dripOf(parts.now);
  let hasBegun = false;
  try {
    const callable = await model.open();
    return await read(callable, { ...prepared(options, model), abortSignal: stop }, model, (part) => {
      hasBegun ||= part.type !== "stream-start";
      timer.refresh();
      parts.onSign();
      if (isSlow(part)) parts.onSlow?.(`${model.id} answers very slowly`);
      parts.onPart(part);
    });
  } catch (thrown) {
    const why = silence.signal.aborted && !signal.aborted ? silent : thrown;
    const problem = problemOf(why, { account: model.account, model: model.id, now: parts.now() });
    // An error in the middle of an answer may have a status, too, but the part before it may have cost something.
    return { is: "problem", problem: hasBegun ? { ...problem, mayHaveCost: true } : problem };
  } finally {
    clearTimeout(timer);
  }
}

async function read(
  callable: CallableModel,
  options: CallOptions,
  model: Model,
  onPart: (part: StreamPart) => void,
): Promise<CallEnd> {
  const stop = options.abortSignal!;
  const { stream } = await orAbort(Promise.resolve(callable.doStream(options)), stop);
  const reader = stream.getReader();
  const answer = new AnswerParts();
  const maxChars = model.maxOutputTokens * MAX_CHARS_PER_TOKEN;
  try {
    for (;;) {
      const { done, value } = await orAbort(reader.read(), stop);
      if (done) break;
      if (value.type === "error") throw value.error;
      onPart(value);
      answer.add(value);
      if (answer.chars > maxChars) return endless(model, maxChars);
    }
  } finally {
    // Stops the provider from writing on. The stream may be closed already.
    reader.cancel().catch(() => {});
  }
  const whole = answer.answer();
  if (whole === undefined) throw new Error("the stream ended before the answer did");
  return { is: "answered", answer: whole };
}

const MAX_CHARS_PER_TOKEN = 32;

const endless = (model: Model, maxChars: number): CallEnd => ({
  is: "problem",
  problem: {
    is: "failed",
    mayHaveCost: true,
    failure: failure("agent-failed", `${model.id} wrote more than ${maxChars} characters and was cut off`),
  },
});

/** Marks the parts of the prompt that stay the same from call to call: reading them from the cache costs a tenth. */
function prepared(options: CallOptions, model: Model): CallOptions {
  const last = options.prompt.length - 1;
  const prompt = options.prompt.map((message, i) =>
    message.role === "system" || i === last
      ? { ...message, providerOptions: { ...message.providerOptions, ...CACHED } }
      : message,
  );
  return {
    ...options,
    prompt,
    maxOutputTokens: model.maxOutputTokens,
    providerOptions: { ...options.providerOptions, openai: { store: false } },
  };
}
const CACHED = { anthropic: { cacheControl: { type: "ephemeral" } } };

/** A token has about four characters, so this is one token in two seconds. */
const MIN_CHARS_PER_SECOND = 2;
const MIN_DRIP_MS = 60_000;

/** Returns a function that tells at each part whether the answer only trickles, as from an overloaded server. */
function dripOf(now: () => number): (part: StreamPart) => boolean {
  let begun: number | undefined;
  let chars = 0;
  return (part) => {
    begun ??= now();
    chars += "delta" in part ? part.delta.length : 0;
    const ms = now() - begun;
    return ms >= MIN_DRIP_MS && chars * 1_000 < MIN_CHARS_PER_SECOND * ms;
  };
}
