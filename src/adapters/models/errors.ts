/** Decides what a failed call of a model means, from the provider's answer or the network's error. */
import { type Failure, failure, messageOf } from "../../core/failure.ts";
import { Unusable } from "./fetch.ts";
import { anyOf, durationMs, quotaUntil, readQuotaText, readReset } from "./quota-text.ts";

/**
 * Transient calls are retried, a quota is waited for, a conversation that is too long is cut; the rest ends the
 * turn.
 */
export type CallProblem = {
  readonly is: "transient" | "quota" | "authentication" | "too-long" | "failed";
  readonly failure: Failure;
  /** False if the provider did nothing, so that the call cost nothing. */
  readonly mayHaveCost: boolean;
};

type CalledModel = { readonly account: string; readonly model: string; readonly now: number };

export function problemOf(caught: unknown, called: CalledModel): CallProblem {
  const thrown = unusableIn(caught) ?? caught;
  const refusal = refusalOf(thrown);
  const is = kindOf(refusal, thrown);
  return { is, mayHaveCost: mayHaveCost(thrown, refusal), failure: failureOf(is, refusal, called) };
}

function failureOf(is: CallProblem["is"], refusal: Refusal, { account, model, now }: CalledModel): Failure {
  const said = refusal.words === "" ? "" : `: ${refusal.words}`;
  const status = refusal.status === undefined ? "" : ` (HTTP ${refusal.status})`;
  switch (is) {
    case "authentication": {
      // The provider's own words may hold a part of the key, so they are left out.
      const next = "see whether the key is right and may use this model, then resume the run";
      return { ...failure(is, `${account} refused the key${status}`, next), account };
    }
    case "quota": {
      const reset = (at: number) =>
        isOutOfMoney(refusal) ? readReset(refusal.text, at) : resetOf(refusal, at);
      return { ...failure(is, `${account} is rate limited${said}`), account, ...quotaUntil(reset, now) };
    }
    case "too-long":
      return failure("agent-failed", `the conversation is too long for ${model}${said}`, "split the task");
    case "transient": {
      const why = `${model} could not be reached${status}${said}`;
      return failure("agent-unreachable", why, "see whether the model's provider answers");
    }
    case "failed": {
      const next = refusal.status === 404 ? "see whether the model's name is right" : undefined;
      return failure("agent-failed", `${model} refused the call${status}${said}`, next);
    }
  }
}

/** The fields of a thrown value, which may be anything. */
const fieldsOf = (value: unknown): Readonly<Partial<Record<string, unknown>>> => Object(value);

/** The SDK wraps errors that were thrown while it read. */
function unusableIn(thrown: unknown): Unusable | undefined {
  if (thrown instanceof Unusable) return thrown;
  const { cause } = fieldsOf(thrown);
  return cause instanceof Unusable ? cause : undefined;
}

function mayHaveCost(thrown: unknown, { status }: Refusal): boolean {
  if (thrown instanceof Unusable) return thrown.mayHaveCost;
  return status === undefined ? !isUnconnected(thrown) : GATEWAY_TIMEOUTS.has(status);
}

/** A gateway gave up; the provider behind it may have gone on and billed the call. */
const GATEWAY_TIMEOUTS: ReadonlySet<number> = new Set([408, 504, 524]);

/** What is known of a refusal, whether it came as an answer with a status or in the middle of a stream. */
type Refusal = {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly words: string;
};

function refusalOf(thrown: unknown): Refusal {
  const { statusCode, responseHeaders, responseBody, status, code } = fieldsOf(thrown);
  const number = [statusCode, status, code].find((is) => typeof is === "number" && is >= 400 && is < 600);
  const body = typeof responseBody === "string" ? responseBody : asJson(thrown);
  const all = isGarbled(thrown) ? errorIn(thrown) : `${messageOf(thrown)}\n${body}`.slice(0, MAX_READ_CHARS);
  return {
    status: number as number | undefined,
    headers: headersOf(responseHeaders),
    text: all.replace(MODEL_OUTPUT, ""),
    words: wordsOf(thrown),
  };
}

/** The message of a parse error quotes the received text, which may be the model's own words about keys and limits. */
function errorIn(garbled: unknown): string {
  const { error } = fieldsOf(fieldsOf(garbled)["value"]);
  return error === undefined ? "" : asJson(error).slice(0, MAX_READ_CHARS);
}

/** Groq quotes what the model had written; the end of a long quote is cut off. */
const MODEL_OUTPUT = /"failed_generation"\s*:\s*"(?:[^"\\]|\\.)*/g;

const MAX_READ_CHARS = 20_000;
const MAX_WORDS_CHARS = 400;

function asJson(thrown: unknown): string {
  try {
    return thrown instanceof Error ? "" : (JSON.stringify(thrown) ?? "");
  } catch {
    return ""; // It cannot be written as JSON.
  }
}

/** A part of a stream may be an object whose message is nested. */
function wordsOf(thrown: unknown): string {
  const { message, error } = fieldsOf(thrown);
  if (typeof message === "string" && CUT_OFF.test(message))
    return "the connection was lost in the middle of the answer";
  const said = messageOf(typeof message !== "string" && error ? error : thrown);
  const text = said === "[object Object]" ? asJson(thrown) : said;
  return text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, MAX_WORDS_CHARS);
}

/** The libraries' words for a lost connection, which do not say what happened. */
const CUT_OFF = /^(?:Failed to process successful response|terminated)$/;

function headersOf(headers: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(fieldsOf(headers));
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function kindOf(refusal: Refusal, thrown: unknown): CallProblem["is"] {
  const { status, text } = refusal;
  if (thrown instanceof Unusable) return thrown.is;
  if (isOutOfMoney(refusal)) return "quota";
  if (status === 401 || WRONG_KEY.test(text)) return "authentication";
  if (TOO_LONG.test(text) || status === 413) return "too-long";
  if (OVERLOADED.test(text) || UNREADABLE_CALL.test(text)) return "transient";
  if (status === 429 || RATE.test(text)) return "quota";
  if (status === 403 && FLAGGED.test(text)) return "failed";
  if (status === 403) return readQuotaText(text, 0) ? "quota" : "authentication";
  if (status === 408 || status === 409 || status === 425 || status === 498) return "transient";
  if (status !== undefined) return status >= 500 ? "transient" : "failed";
  return isOfNetwork(thrown) || isGarbled(thrown) || SERVER_ERROR.test(text) || !(thrown instanceof Error)
    ? "transient"
    : "failed";
}

/** Waiting a minute does not help: a person has to pay, or a month has to pass. */
const isOutOfMoney = ({ status, text }: Refusal): boolean => status === 402 || NO_MONEY.test(text);

const NO_MONEY = anyOf(
  /insufficient[_ ](?:quota|balance|credits|funds)|credit balance is too low|billing_hard_limit/,
  /exceeded your current quota, please check your plan|API usage limits\. You will regain access/,
);

const WRONG_KEY = anyOf(
  /authentication_error|invalid_api_key|API_KEY_INVALID|API key not valid|incorrect api key/,
  /invalid x-api-key|invalid authentication|UNAUTHENTICATED/,
);

const TOO_LONG = anyOf(
  /context_length_exceeded|prompt is too long|maximum context length|input token count.{0,40}exceeds/,
  /exceed(?:s|_)?.{0,40}context[ _](?:limit|size|length|window)|context window (?:is )?exceeded/,
  /request_too_large|request too large for|reduce the length of the messages/,
  /tokens must be reduced|with context length of only/,
);

/** This request is not allowed; other requests of the account are. */
const FLAGGED = /\bflagged\b|requires moderation|violates? .{0,40}(?:guidelines|polic)|content.?policy/i;

/** Groq refuses a malformed tool call of the model; a retry gets another answer. */
const UNREADABLE_CALL = /tool_use_failed/;
const OVERLOADED = /overloaded_error|\boverloaded\b|server_overloaded|slow_down/i;
const RATE = /rate_limit_error|rate_limit_exceeded|RESOURCE_EXHAUSTED|too many requests/i;
const SERVER_ERROR = /server_error|api_error|internal_error|UNAVAILABLE|INTERNAL|timeout/i;

/** The socket never opened, so the provider did not get the call. */
const isUnconnected = (thrown: unknown): boolean =>
  codesOf(thrown).some((code) =>
    ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"].includes(code),
  );

const isOfNetwork = (thrown: unknown): boolean =>
  codesOf(thrown).length > 0 ||
  /terminated|fetch failed|socket|network|connect|stream/i.test(messageOf(thrown));

/** The answer does not follow the provider's protocol: a proxy, a bug, half of a message. */
const isGarbled = (thrown: unknown): boolean =>
  /^AI_(?:JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody|NoContentGenerated)Error$/.test(
    String(fieldsOf(thrown)["name"]),
  );

/** The codes of all causes: the SDK wraps what fetch threw, and fetch wraps what the socket threw. */
function codesOf(thrown: unknown): readonly string[] {
  const codes: string[] = [];
  let at = thrown;
  for (let depth = 0; depth < 6; depth += 1) {
    const { code, cause, errors } = fieldsOf(at);
    if (typeof code === "string" && /^(?:E[A-Z]+|UND_ERR\w*|ERR_\w+)$/.test(code)) codes.push(code);
    at = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return codes;
}

/** When the limit ends, by the most exact statement: how long to wait, then when each count resets, then the words. */
function resetOf({ headers, text }: Refusal, now: number): number | undefined {
  return (
    retryAfter(headers, now) ?? countsReset(headers, now) ?? bodyReset(text, now) ?? readReset(text, now)
  );
}

function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const ms = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(ms)) return now + Math.ceil(ms);
  const after = headers["retry-after"]?.trim();
  if (after === undefined || after === "") return undefined;
  const seconds = Number(after);
  const at = Number.isFinite(seconds) ? now + Math.ceil(seconds * 1_000) : Date.parse(after);
  return Number.isNaN(at) ? undefined : at;
}

/** The latest reset of the counts that are used up; if none is known to be used up, the latest of all. */
function countsReset(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const counts = Object.entries(headers).flatMap(([name, value]) => {
    const isReset = /^(?:anthropic-ratelimit|x-ratelimit|ratelimit)-(?:.+-)?reset(?:-.+)?$/.test(name);
    const at = isReset ? momentOf(value, now) : undefined;
    return at === undefined ? [] : [{ at, isUsedUp: headers[name.replace("reset", "remaining")] === "0" }];
  });
  const used = counts.filter((count) => count.isUsedUp);
  const relevant = used.length > 0 ? used : counts;
  return relevant.length === 0 ? undefined : Math.max(...relevant.map((count) => count.at));
}

/** Reads "6m0s", a time in RFC 3339, or a number: milliseconds or seconds since 1970, or seconds from now. */
function momentOf(value: string, now: number): number | undefined {
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return Date.parse(value) || undefined;
  const number = Number(value);
  if (!Number.isFinite(number)) {
    const ms = durationMs(value);
    return ms === undefined ? undefined : now + ms;
  }
  if (number > 1e12) return number;
  return number > 1e9 ? number * 1_000 : now + Math.ceil(number * 1_000);
}

/** Reads Google's RetryInfo, the headers of another provider that OpenRouter passes on, and OpenAI's plans. */
function bodyReset(text: string, now: number): number | undefined {
  const delay = /"retryDelay"\s*:\s*"(\d{1,9}(?:\.\d{1,9})?)s"/.exec(text)?.[1];
  if (delay !== undefined) return now + Math.ceil(Number(delay) * 1_000);
  const reset = /"(?:X-RateLimit-Reset|resets_at)"\s*:\s*"?(\d{10,13})"?/i.exec(text)?.[1];
  return reset === undefined ? undefined : momentOf(reset, now);
}
